"""Reference cases of greedy trees over rows (bhc_*.json)."""

import itertools
import math

from common import log_sum
from tree_tables import some_case, some_shape
from trees import Node, Table, Tie, conditionals, describe_division, divided, grown, merge_rows, omegas, values_of

FAMILIES = {
    "bernoulli": ["beta_bernoulli"] * 5,
    "binomial": ["beta_binomial"] * 3,
    "gauss": ["gaussian"] * 2,
    "categories": ["categorical"] * 4,
    "counts": ["gamma_poisson"] * 2,
    "mixed": ["gaussian", "beta_bernoulli", "categorical", "gamma_poisson", "beta_binomial"],
}


def randomized_rows(table, rules):
    view = range(table.width)
    h1 = table.h1_of_rows(view)

    def score(half, row):
        return log_sum(
            [
                math.log(p * len(node.items)) + table.log_row(view, node.items, table.cells[row])
                for p, cut in half.weighted_cuts()
                if p > 0
                for node in cut
            ]
        )

    def finish(what, items):
        if what == "merge":
            return table.row_tree(view, items)[0]
        if what == "block":
            return Node(items, h1, table.alpha)
        return Node(items[0].items + items[1].items, h1, table.alpha, *items)

    log = []
    tree = divided(
        list(range(table.rows)),
        0,
        rules | {"levels": rules.get("K")},
        lambda chosen: table.row_tree(view, chosen)[0],
        score,
        finish,
        log,
    )
    return describe_division(tree, log, "row")


def solve(case):
    table = Table(case)
    view = range(table.width)
    tree, merges = table.row_tree(view)
    listed, ids = merge_rows(merges, table.rows, "rows")
    log_h1 = table.h1_of_rows(view)
    for entry in listed:
        entry["log_h1"] = log_h1(tuple(entry["rows"]))
    result = {
        "n_rows": table.rows,
        "n_cols": table.width,
        "alpha": table.alpha,
        "leaf_log_h1": [log_h1((row,)) for row in range(table.rows)],
        "merges": listed,
        "topology": tree.text(),
        "log_p_D_given_T": tree.log_g - tree.log_d,
        "log_lower_bound": tree.bound(),
        "cut_0.5": sorted(tree.cut()),
        "map_tree_partition": sorted(tree.best()[1]),
        "log_dpm_exact": table.log_dpm(view),
        "omega": omegas(tree, ids),
        "tree_row_coassign": [[tree.together(i, k) for k in range(table.rows)] for i in range(table.rows)],
    }
    result["missing"] = [
        {"row": i, "col": j} | values_of(table.columns[j], lambda x, i=i, j=j: table.log_cell(tree, i, j, x))
        for i in range(table.rows)
        for j in view
        if table.cells[i][j] is None
    ]
    exact = result["log_dpm_exact"]
    result["new_rows"] = [
        {"x": x, "log_p": table.log_new_row(tree, view, x), "exact_dpm_log_p": table.longer(x).log_dpm(view) - exact}
        for x in case["new_rows"]
    ]
    result["conditional"] = conditionals(table, case["new_rows"], lambda x: table.log_new_row(tree, view, x))
    result["new_columns"] = [
        new | {"log_p": table.log_new_column(tree, new["column"], new["y"])} for new in case["new_columns"]
    ]
    fixed = grown(case["topology"], log_h1, table.alpha)
    result["fixed_topology"] = {"log_g": fixed.log_g, "logit_r_root": fixed.logit, "log_lower_bound": fixed.bound()}
    bounds = [result["log_lower_bound"], fixed.bound()]
    if "rbhc" in case:
        result["rbhc"] = randomized_rows(table, case["rbhc"])
        bounds.append(result["rbhc"]["log_lower_bound"])
    for bound in bounds:
        assert bound <= exact + 1e-9
    return result


def cases():
    for name, families in FAMILIES.items():
        for missing, rows, B, m, K in ((0.0, 7, 3, 3, None), (0.2, 8, 2, 2, 1), (0.2, 7, 4, 2, 2)):
            for attempt in itertools.count():
                case, rng = some_case(f"{name}/{rows}/{B}/{attempt}", rows, families, missing, False)
                items = list(range(rows))
                rng.shuffle(items)
                case["topology"] = some_shape(rng, items, True)
                case["rbhc"] = {"prio": rng.sample(range(rows), rows), "B": B, "m": m, "K": K}
                try:
                    result = solve(case)
                    break
                except Tie:
                    continue
            yield f"bhc_{name}_{'complete' if missing == 0 else 'missing'}_{rows}_{B}", {"case": case, "result": result}
