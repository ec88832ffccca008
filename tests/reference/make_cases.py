#!/usr/bin/env python3
"""Reference cases of greedy trees (bhc_*.json) and of trees of views (bhcc_*.json), by brute force.

Written from the definitions alone and sharing nothing with the library: marginals come from lists of cells, trees are
merged by scoring all pairs anew, everything a tree predicts is a sum over the partitions that cutting it can give, and
exact numbers are sums over all partitions. `make_cases.py FOLDER` writes the cases; the tests read those beside this file.
"""
import itertools
import json
import math
import pathlib
import random
import sys

lgamma = math.lgamma


def log_sum(terms):
    top = max(terms)
    return top if top == -math.inf else top + math.log(sum(math.exp(term - top) for term in terms))


def log_beta(p, q):
    return lgamma(p) + lgamma(q) - lgamma(p + q)


def log_marginal(column, cells):
    """log p of the cells that are there."""
    cells = [x for x in cells if x is not None]
    n = len(cells)
    family = column["family"]
    if n == 0:
        return 0.0
    if family in ("beta_binomial", "beta_bernoulli"):
        trials = column.get("trials", 1)
        s, t = sum(cells), trials * n
        choose = sum(math.log(math.comb(trials, x)) for x in cells)
        return choose + log_beta(column["a"] + s, column["b"] + t - s) - log_beta(column["a"], column["b"])
    if family == "categorical":
        conc = column["conc"]
        counts = [cells.count(level) for level in range(len(conc))]
        return lgamma(sum(conc)) - lgamma(sum(conc) + n) + sum(lgamma(c + k) - lgamma(c) for c, k in zip(conc, counts))
    if family == "gamma_poisson":
        a, b = column["a"], column["b"]
        return (lgamma(a + sum(cells)) - lgamma(a) + a * math.log(b) - (a + sum(cells)) * math.log(b + n)
                - sum(lgamma(x + 1) for x in cells))
    m0, k0, a0, b0 = (column[name] for name in ("m0", "k0", "a0", "b0"))
    mean = sum(cells) / n
    kn, an = k0 + n, a0 + n / 2
    bn = b0 + sum((x - mean) ** 2 for x in cells) / 2 + k0 * n * (mean - m0) ** 2 / (2 * kn)
    return (lgamma(an) - lgamma(a0) + a0 * math.log(b0) - an * math.log(bn) + 0.5 * math.log(k0 / kn)
            - n / 2 * math.log(2 * math.pi))


def log_predictive(column, cells, x):
    return 0.0 if x is None else log_marginal(column, list(cells) + [x]) - log_marginal(column, cells)


def support(column):
    """All values of a finite column, a few of the others."""
    return {"beta_binomial": list(range(column.get("trials", 1) + 1)), "beta_bernoulli": [0, 1],
            "categorical": list(range(len(column.get("conc", [])))), "gamma_poisson": [0, 1, 2, 7],
            "gaussian": [-2.0, 0.0, 0.5, 3.0]}[column["family"]]


def is_finite(column):
    return column["family"] in ("beta_binomial", "beta_bernoulli", "categorical")


def log_crp(alpha, partition, n):
    return lgamma(alpha) - lgamma(alpha + n) + sum(math.log(alpha) + lgamma(len(block)) for block in partition)


def set_partitions(items):
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for partition in set_partitions(rest):
        for i, block in enumerate(partition):
            yield partition[:i] + [[first] + block] + partition[i + 1:]
        yield [[first]] + partition


class Tie(Exception):
    """Two pairs are close and not equal, so that rounding could decide between them: another table is taken."""


SMALLEST_GAP = 1e-5


class Node:
    """A leaf (of one item or of several), or two subtrees; `log_h1` gives the evidence of a set of items as one block."""

    def __init__(self, items, log_h1, alpha, left=None, right=None):
        self.items, self.log_h1, self.alpha = tuple(sorted(items)), log_h1, alpha
        self.children = tuple(sorted((child for child in (left, right) if child), key=lambda child: child.items[0]))
        self.log_prior = math.log(alpha) + lgamma(len(self.items))
        self.log_whole = self.log_prior + log_h1(self.items)
        self.log_g, self.log_d, self.logit = self.log_whole, self.log_prior, math.inf
        self.weighted = None
        if self.children:
            a, b = self.children
            self.logit = self.log_whole - a.log_g - b.log_g
            self.log_g = log_sum([self.log_whole, a.log_g + b.log_g])
            self.log_d = log_sum([self.log_prior, a.log_d + b.log_d])

    def r(self):
        return 1.0 if not self.children else 1 / (1 + math.exp(-self.logit)) if self.logit > -700 else 0.0

    def cuts(self):
        """Every partition that cutting gives, as lists of nodes."""
        found = [[self]]
        if self.children:
            found += [x + y for x, y in itertools.product(self.children[0].cuts(), self.children[1].cuts())]
        return found

    def weighted_cuts(self):
        if self.weighted is None:
            self.weighted = self.weigh_cuts()
        return self.weighted

    def weigh_cuts(self):
        cuts = self.cuts()
        logs = [sum(node.log_whole for node in cut) for cut in cuts]
        total = log_sum(logs)
        assert abs(total - self.log_g) < 1e-9 * max(1.0, abs(total))
        return [(math.exp(weight - total), cut) for weight, cut in zip(logs, cuts)]

    def bound(self):
        return self.log_g + lgamma(self.alpha) - lgamma(len(self.items) + self.alpha)

    def cut(self):
        return [list(self.items)] if self.logit >= 0 else [block for child in self.children for block in child.cut()]

    def best(self):
        if not self.children:
            return self.log_whole, [list(self.items)]
        parts = [child.best() for child in self.children]
        apart = sum(part[0] for part in parts)
        return (self.log_whole, [list(self.items)]) if self.log_whole >= apart else (apart, parts[0][1] + parts[1][1])

    def text(self):
        if self.children:
            return "(" + ",".join(child.text() for child in self.children) + ")"
        return str(self.items[0]) if len(self.items) == 1 else "{" + ",".join(map(str, self.items)) + "}"

    def nodes(self):
        return [self] + [node for child in self.children for node in child.nodes()]

    def together(self, i, k):
        return sum(p for p, cut in self.weighted_cuts() if any(i in node.items and k in node.items for node in cut))


def greedy(leaves, log_h1, alpha):
    """The tree, and its merges in order with the lead over the next best."""
    live, merges = list(leaves), []
    while len(live) > 1:
        made = sorted((Node(a.items + b.items, log_h1, alpha, a, b) for a, b in itertools.combinations(live, 2)),
                      key=lambda node: (-round(node.logit, 9), node.children[0].items[0], node.children[1].items[0]))
        best = made[0]
        gap = best.logit - made[1].logit if len(made) > 1 else None
        if gap is not None and 1e-9 < gap < SMALLEST_GAP:
            raise Tie
        merges.append((best, gap))
        live = [node for node in live if node not in best.children] + [best]
    return live[0], merges


class Table:
    def __init__(self, case):
        self.columns, self.cells = case["columns"], case["X"]
        self.alpha = case["alpha"]
        self.alpha_columns = case.get("alpha_cols", self.alpha)
        self.rows, self.width = len(self.cells), len(self.columns)
        self.known, self.trees = {}, {}

    def marginal(self, j, rows):
        key = (j, rows)
        if key not in self.known:
            self.known[key] = log_marginal(self.columns[j], [self.cells[i][j] for i in rows])
        return self.known[key]

    def h1_of_rows(self, view):
        return lambda rows: sum(self.marginal(j, rows) for j in view)

    def row_tree(self, view, rows=None):
        """BHC of the columns of a view."""
        key = (tuple(view), tuple(rows) if rows is not None else None)
        if key not in self.trees:
            h1 = self.h1_of_rows(view)
            leaves = [Node([i], h1, self.alpha) for i in (range(self.rows) if rows is None else rows)]
            self.trees[key] = greedy(leaves, h1, self.alpha)
        return self.trees[key]

    def log_view(self, columns):
        return self.row_tree(columns)[0].bound()

    def log_row(self, view, rows, x):
        return sum(log_predictive(self.columns[j], [self.cells[i][j] for i in rows], x[j]) for j in view)

    def log_new_row(self, tree, view, x):
        """(9), as an average over cuts."""
        log_all = math.log(self.rows + self.alpha)
        terms = []
        for p, cut in tree.weighted_cuts():
            if p > 0:
                terms += [math.log(p * len(node.items)) + self.log_row(view, node.items, x) - log_all for node in cut]
                terms.append(math.log(p * self.alpha) + self.log_row(view, (), x) - log_all)
        return log_sum(terms)

    def log_new_column(self, tree, column, y):
        """(10), as an average over cuts."""
        return log_sum([math.log(p) + sum(log_marginal(column, [y[i] for i in node.items]) for node in cut)
                        for p, cut in tree.weighted_cuts() if p > 0])

    def log_cell(self, tree, i, j, x):
        """(8)."""
        terms = []
        for p, cut in tree.weighted_cuts():
            block = next(node.items for node in cut if i in node.items)
            if p > 0:
                terms.append(math.log(p) + log_predictive(self.columns[j], [self.cells[k][j] for k in block], x))
        return log_sum(terms)

    def longer(self, x):
        return Table({"columns": self.columns, "X": self.cells + [x], "alpha": self.alpha})

    def log_dpm(self, view):
        """Exact evidence of one view."""
        return log_sum([log_crp(self.alpha, partition, self.rows)
                        + sum(self.marginal(j, tuple(sorted(block))) for block in partition for j in view)
                        for partition in set_partitions(list(range(self.rows)))])


def merge_rows(merges, leaves, name):
    ids = {(item,): item for item in range(leaves)}
    listed = []
    for t, (node, gap) in enumerate(merges):
        ids[node.items] = leaves + t
        listed.append({"node": leaves + t, "left": ids[node.children[0].items], "right": ids[node.children[1].items],
                       name: list(node.items), "log_d": node.log_d, "logit_r": node.logit, "r": node.r(),
                       "log_g": node.log_g, "gap_to_runner_up": gap})
    return listed, ids


def omegas(tree, ids):
    weighted = tree.weighted_cuts()
    return {str(ids[node.items]): sum(p for p, cut in weighted if node in cut) for node in tree.nodes()}


def values_of(column, log_at):
    values = support(column)
    logs = [log_at(x) for x in values]
    answer = {"values": values, "log_p": logs}
    if is_finite(column):
        answer["sum"] = sum(map(math.exp, logs))
        answer["mean"] = sum(x * math.exp(log) for x, log in zip(values, logs))
    return answer


def with_cell(x, j, value):
    return [value if k == j else cell for k, cell in enumerate(x)]


def conditionals(table, rows, log_row):
    """Cells that new rows leave open, given the others: ratios of two joint probabilities."""
    answers = []
    for x in rows:
        for j in range(table.width):
            if x[j] is None:
                given = log_row(x)
                answers.append({"x": x, "col": j} | values_of(
                    table.columns[j], lambda value, x=x, j=j, given=given: log_row(with_cell(x, j, value)) - given))
    return answers


def divided(items, depth, rules, small_tree, score, finish, log):
    """The randomized scheme: a tree of a few items sends the others to its two halves."""
    if len(items) <= rules["B"]:
        return finish("merge", items)
    if rules["levels"] is not None and depth == rules["levels"]:
        return finish("block", items)
    chosen = sorted(sorted(items, key=lambda item: (rules["prio"][item], item))[:rules["m"]])
    halves = small_tree(chosen).children
    sides, entries = [list(half.items) for half in halves], []
    for item in items:
        if item in chosen:
            continue
        left, right = (score(half, item) for half in halves)
        entries.append({"item": item, "log_left": left, "log_right": right})
        sides[0 if left > right else 1].append(item)
    log.append({"depth": depth, "items": list(items), "subset": chosen, "split": [list(half.items) for half in halves],
                "filter": entries})
    trees = [divided(sorted(side), depth + 1, rules, small_tree, score, finish, log) for side in sides]
    return finish("join", trees)


def describe_division(tree, log, name):
    for level in log:
        level[name + "s"] = level.pop("items")
        for entry in level["filter"]:
            entry[name] = entry.pop("item")
    return {"topology": tree.text(), "log": log, "log_g": tree.log_g, "log_lower_bound": tree.bound(),
            "logit_r": {",".join(map(str, node.items)): node.logit for node in tree.nodes() if node.children},
            "cut_0.5": sorted(tree.cut())}


def randomized_rows(table, rules):
    view = range(table.width)
    h1 = table.h1_of_rows(view)

    def score(half, row):
        return log_sum([math.log(p * len(node.items)) + table.log_row(view, node.items, table.cells[row])
                        for p, cut in half.weighted_cuts() if p > 0 for node in cut])

    def finish(what, items):
        if what == "merge":
            return table.row_tree(view, items)[0]
        if what == "block":
            return Node(items, h1, table.alpha)
        return Node(items[0].items + items[1].items, h1, table.alpha, *items)

    log = []
    tree = divided(list(range(table.rows)), 0, rules | {"levels": rules.get("K")},
                   lambda chosen: table.row_tree(view, chosen)[0], score, finish, log)
    return describe_division(tree, log, "row")


def column_tree(table, columns):
    leaves = [Node([j], table.log_view, table.alpha_columns) for j in columns]
    return greedy(leaves, table.log_view, table.alpha_columns)


def randomized_columns(table, rules):
    def score(half, column):
        y = [row[column] for row in table.cells]
        published = rules.get("filter") == "published"
        log_pi = half.log_prior - half.log_d if published else 0.0
        return log_pi + log_sum([
            math.log(p * (1 if published else len(node.items)))
            + table.log_new_column(table.row_tree(node.items)[0], table.columns[column], y)
            for p, cut in half.weighted_cuts() if p > 0 for node in cut])

    def finish(what, items):
        if what == "merge":
            return column_tree(table, items)[0]
        if what == "block":
            return Node(items, table.log_view, table.alpha_columns)
        return Node(items[0].items + items[1].items, table.log_view, table.alpha_columns, *items)

    log = []
    tree = divided(list(range(table.width)), 0, rules | {"levels": rules.get("L")},
                   lambda chosen: column_tree(table, chosen)[0], score, finish, log)
    answer = describe_division(tree, log, "col")
    views = tree.cut()
    if len(views) > 1:
        merged, _ = greedy([Node(view, table.log_view, table.alpha_columns) for view in views], table.log_view,
                           table.alpha_columns)
        kept = merged if merged.bound() > tree.bound() else tree
        answer["consolidated"] = {"topology": kept.text(), "log_lower_bound": kept.bound(), "views": sorted(kept.cut())}
    else:
        answer["consolidated"] = {"topology": tree.text(), "log_lower_bound": tree.bound(), "views": views}
    return answer


def grown(shape, log_h1, alpha):
    if isinstance(shape, int):
        return Node([shape], log_h1, alpha)
    if isinstance(shape, dict):
        return Node(shape["block"], log_h1, alpha)
    left, right = (grown(part, log_h1, alpha) for part in shape)
    return Node(left.items + right.items, log_h1, alpha, left, right)


def solve_rows(case):
    table = Table(case)
    view = range(table.width)
    tree, merges = table.row_tree(view)
    listed, ids = merge_rows(merges, table.rows, "rows")
    result = {"n_rows": table.rows, "n_cols": table.width, "alpha": table.alpha, "merges": listed,
              "topology": tree.text(), "log_p_D_given_T": tree.log_g - tree.log_d, "log_lower_bound": tree.bound(),
              "cut_0.5": sorted(tree.cut()), "map_tree_partition": sorted(tree.best()[1]),
              "log_dpm_exact": table.log_dpm(view), "omega": omegas(tree, ids),
              "tree_row_coassign": [[tree.together(i, k) for k in range(table.rows)] for i in range(table.rows)]}
    result["missing"] = [{"row": i, "col": j} | values_of(table.columns[j], lambda x, i=i, j=j: table.log_cell(tree, i, j, x))
                         for i in range(table.rows) for j in view if table.cells[i][j] is None]
    exact = result["log_dpm_exact"]
    result["new_rows"] = [{"x": x, "log_p": table.log_new_row(tree, view, x),
                           "exact_dpm_log_p": table.longer(x).log_dpm(view) - exact} for x in case["new_rows"]]
    result["conditional"] = conditionals(table, case["new_rows"], lambda x: table.log_new_row(tree, view, x))
    result["new_columns"] = [new | {"log_p": table.log_new_column(tree, new["column"], new["y"])}
                             for new in case["new_columns"]]
    fixed = grown(case["topology"], table.h1_of_rows(view), table.alpha)
    result["fixed_topology"] = {"log_g": fixed.log_g, "logit_r_root": fixed.logit, "log_lower_bound": fixed.bound()}
    result["rbhc"] = randomized_rows(table, case["rbhc"])
    for bound in (result["log_lower_bound"], fixed.bound(), result["rbhc"]["log_lower_bound"]):
        assert bound <= exact + 1e-9
    return result


def exact_cross(table, new_rows):
    """Everything by the sum over all partitions of columns, and of rows in each view."""
    row_partitions = list(set_partitions(list(range(table.rows))))
    evidence, together = {}, {}
    for size in range(1, table.width + 1):
        for view in itertools.combinations(range(table.width), size):
            logs = [log_crp(table.alpha, partition, table.rows)
                    + sum(table.marginal(j, tuple(sorted(block))) for block in partition for j in view)
                    for partition in row_partitions]
            total = log_sum(logs)
            evidence[view] = total
            together[view] = [[sum(math.exp(log - total) for log, partition in zip(logs, row_partitions)
                                   if any(i in block and k in block for block in partition))
                               for k in range(table.rows)] for i in range(table.rows)]
    partitions = [[tuple(sorted(view)) for view in partition] for partition in set_partitions(list(range(table.width)))]
    logs = [log_crp(table.alpha_columns, partition, table.width) + sum(evidence[view] for view in partition)
            for partition in partitions]
    total = log_sum(logs)
    weights = [math.exp(log - total) for log in logs]

    def average(value):
        return sum(weight * value(partition) for weight, partition in zip(weights, partitions))

    def home(partition, j):
        return next(view for view in partition if j in view)

    answer = {"log_ml": total,
              "col_coassign": [[average(lambda p, a=a, b=b: b in home(p, a)) for b in range(table.width)]
                               for a in range(table.width)],
              "row_coassign_by_column": [[[average(lambda p, j=j, i=i, k=k: together[home(p, j)][i][k])
                                           for k in range(table.rows)] for i in range(table.rows)]
                                         for j in range(table.width)],
              "mean_views": average(len)}
    logs_of_rows = []
    for x in new_rows:
        longer = table.longer(x)
        known = {view: longer.log_dpm(view) - evidence[view] for view in evidence}
        logs_of_rows.append(log_sum([math.log(weight) + sum(known[view] for view in partition)
                                     for weight, partition in zip(weights, partitions) if weight > 0]))
    return answer, logs_of_rows


def solve_columns(case):
    table = Table(case)
    tree, merges = column_tree(table, range(table.width))
    listed, ids = merge_rows(merges, table.width, "cols")
    for entry in listed:
        rows, _ = table.row_tree(tuple(entry["cols"]))
        entry |= {"log_view": rows.bound(), "row_topology": rows.text(), "row_cut_0.5": sorted(rows.cut())}
    singles = [table.row_tree((j,))[0] for j in range(table.width)]
    exact, exact_rows = exact_cross(table, case["new_rows"])
    result = {"I": table.rows, "J": table.width, "alpha": table.alpha, "alpha_cols": table.alpha_columns,
              "leaf_log_view": [one.bound() for one in singles], "leaf_row_topology": [one.text() for one in singles],
              "merges": listed, "topology": tree.text(), "views_cut_0.5": sorted(tree.cut()),
              "views_map": sorted(tree.best()[1]), "log_lower_bound": tree.bound(), "exact_cdpm": exact,
              "omega": omegas(tree, ids),
              "tree_col_coassign": [[tree.together(a, b) for b in range(table.width)] for a in range(table.width)]}

    def log_row(x):
        return log_sum([math.log(p) + sum(table.log_new_row(table.row_tree(node.items)[0], node.items, x) for node in cut)
                        for p, cut in tree.weighted_cuts() if p > 0])

    def log_cell(i, j, x):
        return log_sum([math.log(p) + table.log_cell(
            table.row_tree(next(node.items for node in cut if j in node.items))[0], i, j, x)
            for p, cut in tree.weighted_cuts() if p > 0])

    def log_column(column, y, literal):
        alone = Table(case | {"columns": [column], "X": [[cell] for cell in y]})
        terms = [math.log(p * (1 if literal else len(node.items)))
                 + table.log_new_column(table.row_tree(node.items)[0], column, y)
                 for p, cut in tree.weighted_cuts() if p > 0 for node in cut]
        if literal:
            return log_sum(terms)
        terms.append(math.log(table.alpha_columns) + alone.log_view((0,)))
        return log_sum(terms) - math.log(table.width + table.alpha_columns)

    result["missing"] = [{"row": i, "col": j} | values_of(table.columns[j], lambda x, i=i, j=j: log_cell(i, j, x))
                         for i in range(table.rows) for j in range(table.width) if table.cells[i][j] is None]
    result["new_rows"] = [{"x": x, "log_p": log_row(x), "exact_cdpm_log_p": log}
                          for x, log in zip(case["new_rows"], exact_rows)]
    result["conditional"] = conditionals(table, case["new_rows"], log_row)
    result["new_columns"] = [new | {"log_p": log_column(new["column"], new["y"], False),
                                    "log_p_literal": log_column(new["column"], new["y"], True)}
                             for new in case["new_columns"]]
    fixed = grown(case["tree"], table.log_view, table.alpha_columns)
    result["fixed_tree"] = {"log_g": fixed.log_g, "logit_r_root": fixed.logit, "log_lower_bound": fixed.bound()}
    result["rbhcc"] = randomized_columns(table, case["rbhcc"])
    for bound in (result["log_lower_bound"], fixed.bound(), result["rbhcc"]["log_lower_bound"],
                  result["rbhcc"]["consolidated"]["log_lower_bound"]):
        assert bound <= exact["log_ml"] + 1e-9
    return result


def some_column(rng, family):
    def between(low, high):
        return round(rng.uniform(low, high), 3)
    if family == "beta_binomial":
        return {"family": family, "trials": rng.choice([2, 3, 5, 9]), "a": between(0.3, 1.5), "b": between(0.3, 1.5)}
    if family == "gaussian":
        return {"family": family, "m0": between(-1, 1), "k0": between(0.1, 1), "a0": between(1, 3), "b0": between(0.5, 2)}
    if family == "categorical":
        return {"family": family, "conc": [between(0.3, 1) for _ in range(rng.choice([2, 3, 4]))]}
    if family == "gamma_poisson":
        return {"family": family, "a": between(0.6, 2), "b": between(0.2, 1)}
    return {"family": family, "a": between(0.2, 1), "b": between(0.2, 1)}


def some_value(rng, column, group):
    """Rows of different groups differ, not always."""
    family = column["family"]
    share = (0.15, 0.85, 0.5)[group % 3]
    if family in ("beta_binomial", "beta_bernoulli"):
        return sum(rng.random() < share for _ in range(column.get("trials", 1)))
    if family == "gaussian":
        return round(rng.gauss((-1.5, 1.5, 4.0)[group % 3], 0.8), 3)
    if family == "categorical":
        return group % len(column["conc"]) if rng.random() < 0.8 else rng.randrange(len(column["conc"]))
    return sum(rng.random() < 0.3 for _ in range((4, 16, 30)[group % 3]))


def some_case(seed, rows, families, missing, two_views):
    rng = random.Random(seed)
    columns = [some_column(rng, family) for family in families]
    groups = [[rng.randrange(3) for _ in range(rows)] for _ in range(2)]
    views = [(j % 2 if two_views else 0) for j in range(len(columns))]

    def cells(column, view, share):
        return [None if rng.random() < share else some_value(rng, column, groups[view][i]) for i in range(rows)]

    by_column = [cells(column, view, missing) for column, view in zip(columns, views)]
    # A new column of a tree of views gets a tree of its own, in which rows without a cell tie with all others.
    share = 0.0 if two_views else missing
    new_rows = []
    for k in range(3):
        group = rng.randrange(3)
        x = [some_value(rng, column, group) for column in columns]
        for j in rng.sample(range(len(columns)), k):
            x[j] = None
        new_rows.append(x)
    new = some_column(rng, rng.choice(families))
    case = {"description": f"{rows} rows, {', '.join(families)}; seed {seed}", "alpha": round(rng.uniform(0.4, 1.6), 2),
            "columns": columns, "X": [list(row) for row in zip(*by_column)], "new_rows": new_rows,
            "new_columns": [{"column": new, "y": cells(new, 0, share)}, {"column": columns[0], "y": cells(columns[0], 1, share)}]}
    return case, rng


def some_shape(rng, items, blocks):
    if len(items) == 1:
        return items[0]
    if blocks and len(items) <= 3 and rng.random() < 0.4:
        return {"block": sorted(items)}
    cut = rng.randrange(1, len(items))
    return [some_shape(rng, items[:cut], blocks), some_shape(rng, items[cut:], blocks)]


FAMILIES = {"bernoulli": ["beta_bernoulli"] * 5, "binomial": ["beta_binomial"] * 3, "gauss": ["gaussian"] * 2,
            "categories": ["categorical"] * 4, "counts": ["gamma_poisson"] * 2,
            "mixed": ["gaussian", "beta_bernoulli", "categorical", "gamma_poisson", "beta_binomial"]}
CROSS = {"bernoulli": ["beta_bernoulli"] * 5, "binomial": ["beta_binomial"] * 5, "gauss": ["gaussian"] * 4,
         "categories": ["categorical"] * 5, "counts": ["gamma_poisson"] * 4,
         "mixed": ["gaussian", "beta_bernoulli", "gaussian", "categorical", "gamma_poisson", "beta_binomial"],
         "spread": ["beta_bernoulli", "gaussian", "categorical", "gaussian", "beta_bernoulli"]}


def row_cases():
    for name, families in FAMILIES.items():
        for missing, rows, B, m, K in ((0.0, 7, 3, 3, None), (0.2, 8, 2, 2, 1), (0.2, 7, 4, 2, 2)):
            for attempt in itertools.count():
                case, rng = some_case(f"{name}/{rows}/{B}/{attempt}", rows, families, missing, False)
                items = list(range(rows))
                rng.shuffle(items)
                case["topology"] = some_shape(rng, items, True)
                case["rbhc"] = {"prio": rng.sample(range(rows), rows), "B": B, "m": m, "K": K}
                try:
                    result = solve_rows(case)
                    break
                except Tie:
                    continue
            yield f"bhc_{name}_{'complete' if missing == 0 else 'missing'}_{rows}_{B}", case, result


def column_cases():
    variants = itertools.cycle([(2, 2, 1, "size"), (3, 2, 2, "published"), (2, 2, None, "size"), (3, 3, None, "published"),
                                (2, 2, 1, "published"), (3, 2, 1, "size")])
    for name, families in CROSS.items():
        for missing in (0.0, 0.2):
            B, m, L, rule = next(variants)
            for attempt in itertools.count():
                case, rng = some_case(f"cross/{name}/{missing}/{attempt}", 5, families, missing, True)
                case["alpha_cols"] = round(rng.uniform(0.4, 1.6), 2)
                columns = list(range(len(families)))
                rng.shuffle(columns)
                case["tree"] = some_shape(rng, columns, True)
                case["rbhcc"] = {"prio": rng.sample(range(len(families)), len(families)), "B": B, "m": m, "L": L,
                                 "filter": rule}
                try:
                    result = solve_columns(case)
                    break
                except Tie:
                    continue
            yield f"bhcc_{name}_{'complete' if missing == 0 else 'missing'}", case, result


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for name, case, result in itertools.chain(row_cases(), column_cases()):
        text = json.dumps({"case": case, "result": result}, allow_nan=False, separators=(",", ":"))
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        print(name, len(text))


if __name__ == "__main__":
    main()
