"""Reference cases of trees of views (bhcc_*.json), with the exact law of cross-clustering beside them."""

import itertools
import math

from common import log_crp, log_sum, set_partitions
from tree_tables import some_case, some_shape
from trees import (
    Node,
    Table,
    Tie,
    conditionals,
    describe_division,
    divided,
    greedy,
    grown,
    merge_rows,
    omegas,
    values_of,
)

CROSS = {
    "bernoulli": ["beta_bernoulli"] * 5,
    "binomial": ["beta_binomial"] * 5,
    "gauss": ["gaussian"] * 4,
    "categories": ["categorical"] * 5,
    "counts": ["gamma_poisson"] * 4,
    "mixed": ["gaussian", "beta_bernoulli", "gaussian", "categorical", "gamma_poisson", "beta_binomial"],
    "spread": ["beta_bernoulli", "gaussian", "categorical", "gaussian", "beta_bernoulli"],
}


def column_tree(table, columns):
    leaves = [Node([j], table.log_view, table.alpha_columns) for j in columns]
    return greedy(leaves, table.log_view, table.alpha_columns)


def randomized_columns(table, rules):
    def score(half, column):
        y = [row[column] for row in table.cells]
        published = rules.get("filter") == "published"
        log_pi = half.log_prior - half.log_d if published else 0.0
        return log_pi + log_sum(
            [
                math.log(p * (1 if published else len(node.items)))
                + table.log_new_column(table.row_tree(node.items)[0], table.columns[column], y)
                for p, cut in half.weighted_cuts()
                if p > 0
                for node in cut
            ]
        )

    def finish(what, items):
        if what == "merge":
            return column_tree(table, items)[0]
        if what == "block":
            return Node(items, table.log_view, table.alpha_columns)
        return Node(items[0].items + items[1].items, table.log_view, table.alpha_columns, *items)

    log = []
    tree = divided(
        list(range(table.width)),
        0,
        rules | {"levels": rules.get("L")},
        lambda chosen: column_tree(table, chosen)[0],
        score,
        finish,
        log,
    )
    answer = describe_division(tree, log, "col")
    views = tree.cut()
    if len(views) > 1:
        merged, _ = greedy(
            [Node(view, table.log_view, table.alpha_columns) for view in views], table.log_view, table.alpha_columns
        )
        kept = merged if merged.bound() > tree.bound() else tree
        answer["consolidated"] = {"topology": kept.text(), "log_lower_bound": kept.bound(), "views": sorted(kept.cut())}
    else:
        answer["consolidated"] = {"topology": tree.text(), "log_lower_bound": tree.bound(), "views": views}
    return answer


def exact_cross(table, new_rows):
    """Everything by the sum over all partitions of columns, and of rows in each view."""
    row_partitions = list(set_partitions(list(range(table.rows))))
    evidence, together = {}, {}
    for size in range(1, table.width + 1):
        for view in itertools.combinations(range(table.width), size):
            logs = [
                log_crp(table.alpha, partition, table.rows)
                + sum(table.marginal(j, tuple(sorted(block))) for block in partition for j in view)
                for partition in row_partitions
            ]
            total = log_sum(logs)
            evidence[view] = total
            together[view] = [
                [
                    sum(
                        math.exp(log - total)
                        for log, partition in zip(logs, row_partitions)
                        if any(i in block and k in block for block in partition)
                    )
                    for k in range(table.rows)
                ]
                for i in range(table.rows)
            ]
    partitions = [[tuple(sorted(view)) for view in partition] for partition in set_partitions(list(range(table.width)))]
    logs = [
        log_crp(table.alpha_columns, partition, table.width) + sum(evidence[view] for view in partition)
        for partition in partitions
    ]
    total = log_sum(logs)
    weights = [math.exp(log - total) for log in logs]

    def average(value):
        return sum(weight * value(partition) for weight, partition in zip(weights, partitions))

    def home(partition, j):
        return next(view for view in partition if j in view)

    answer = {
        "log_ml": total,
        "col_coassign": [
            [average(lambda p, a=a, b=b: b in home(p, a)) for b in range(table.width)] for a in range(table.width)
        ],
        "row_coassign_by_column": [
            [
                [average(lambda p, j=j, i=i, k=k: together[home(p, j)][i][k]) for k in range(table.rows)]
                for i in range(table.rows)
            ]
            for j in range(table.width)
        ],
        "mean_views": average(len),
    }
    logs_of_rows = []
    for x in new_rows:
        longer = table.longer(x)
        known = {view: longer.log_dpm(view) - evidence[view] for view in evidence}
        logs_of_rows.append(
            log_sum(
                [
                    math.log(weight) + sum(known[view] for view in partition)
                    for weight, partition in zip(weights, partitions)
                    if weight > 0
                ]
            )
        )
    return answer, logs_of_rows


def solve(case):
    table = Table(case)
    tree, merges = column_tree(table, range(table.width))
    listed, ids = merge_rows(merges, table.width, "cols")
    for entry in listed:
        rows, _ = table.row_tree(tuple(entry["cols"]))
        entry |= {"log_view": rows.bound(), "row_topology": rows.text(), "row_cut_0.5": sorted(rows.cut())}
    singles = [table.row_tree((j,))[0] for j in range(table.width)]
    exact, exact_rows = exact_cross(table, case["new_rows"])
    result = {
        "I": table.rows,
        "J": table.width,
        "alpha": table.alpha,
        "alpha_cols": table.alpha_columns,
        "leaf_log_view": [one.bound() for one in singles],
        "leaf_row_topology": [one.text() for one in singles],
        "merges": listed,
        "topology": tree.text(),
        "views_cut_0.5": sorted(tree.cut()),
        "views_map": sorted(tree.best()[1]),
        "log_lower_bound": tree.bound(),
        "exact_cdpm": exact,
        "omega": omegas(tree, ids),
        "tree_col_coassign": [[tree.together(a, b) for b in range(table.width)] for a in range(table.width)],
    }

    def log_row(x):
        return log_sum(
            [
                math.log(p) + sum(table.log_new_row(table.row_tree(node.items)[0], node.items, x) for node in cut)
                for p, cut in tree.weighted_cuts()
                if p > 0
            ]
        )

    def log_cell(i, j, x):
        return log_sum(
            [
                math.log(p)
                + table.log_cell(table.row_tree(next(node.items for node in cut if j in node.items))[0], i, j, x)
                for p, cut in tree.weighted_cuts()
                if p > 0
            ]
        )

    def log_column(column, y, literal):
        alone = Table(case | {"columns": [column], "X": [[cell] for cell in y]})
        terms = [
            math.log(p * (1 if literal else len(node.items)))
            + table.log_new_column(table.row_tree(node.items)[0], column, y)
            for p, cut in tree.weighted_cuts()
            if p > 0
            for node in cut
        ]
        if literal:
            return log_sum(terms)
        terms.append(math.log(table.alpha_columns) + alone.log_view((0,)))
        return log_sum(terms) - math.log(table.width + table.alpha_columns)

    result["missing"] = [
        {"row": i, "col": j} | values_of(table.columns[j], lambda x, i=i, j=j: log_cell(i, j, x))
        for i in range(table.rows)
        for j in range(table.width)
        if table.cells[i][j] is None
    ]
    result["new_rows"] = [
        {"x": x, "log_p": log_row(x), "exact_cdpm_log_p": log} for x, log in zip(case["new_rows"], exact_rows)
    ]
    result["conditional"] = conditionals(table, case["new_rows"], log_row)
    result["new_columns"] = [
        new
        | {
            "log_p": log_column(new["column"], new["y"], False),
            "log_p_literal": log_column(new["column"], new["y"], True),
        }
        for new in case["new_columns"]
    ]
    bounds = [result["log_lower_bound"]]
    if "tree" in case:
        fixed = grown(case["tree"], table.log_view, table.alpha_columns)
        result["fixed_tree"] = {"log_g": fixed.log_g, "logit_r_root": fixed.logit, "log_lower_bound": fixed.bound()}
        bounds.append(fixed.bound())
    if "rbhcc" in case:
        result["rbhcc"] = randomized_columns(table, case["rbhcc"])
        bounds += [result["rbhcc"]["log_lower_bound"], result["rbhcc"]["consolidated"]["log_lower_bound"]]
    for bound in bounds:
        assert bound <= exact["log_ml"] + 1e-9
    return result


def cases():
    variants = itertools.cycle(
        [
            (2, 2, 1, "size"),
            (3, 2, 2, "published"),
            (2, 2, None, "size"),
            (3, 3, None, "published"),
            (2, 2, 1, "published"),
            (3, 2, 1, "size"),
        ]
    )
    for name, families in CROSS.items():
        for missing in (0.0, 0.2):
            B, m, L, rule = next(variants)
            for attempt in itertools.count():
                case, rng = some_case(f"cross/{name}/{missing}/{attempt}", 5, families, missing, True)
                case["alpha_cols"] = round(rng.uniform(0.4, 1.6), 2)
                columns = list(range(len(families)))
                rng.shuffle(columns)
                case["tree"] = some_shape(rng, columns, True)
                case["rbhcc"] = {
                    "prio": rng.sample(range(len(families)), len(families)),
                    "B": B,
                    "m": m,
                    "L": L,
                    "filter": rule,
                }
                try:
                    result = solve(case)
                    break
                except Tie:
                    continue
            yield f"bhcc_{name}_{'complete' if missing == 0 else 'missing'}", {"case": case, "result": result}
