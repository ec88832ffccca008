"""Greedy trees by brute force, for rows (bhc) and for columns (bhcc): marginals come from lists of cells, trees are merged by
scoring all pairs again at every step, and everything a tree predicts is a sum over the partitions that cutting it can give.
"""

import itertools
import math

from common import lgamma, log_beta, log_crp, log_sum, set_partitions


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
        return (
            lgamma(a + sum(cells))
            - lgamma(a)
            + a * math.log(b)
            - (a + sum(cells)) * math.log(b + n)
            - sum(lgamma(x + 1) for x in cells)
        )
    m0, k0, a0, b0 = (column[name] for name in ("m0", "k0", "a0", "b0"))
    mean = sum(cells) / n
    kn, an = k0 + n, a0 + n / 2
    bn = b0 + sum((x - mean) ** 2 for x in cells) / 2 + k0 * n * (mean - m0) ** 2 / (2 * kn)
    return (
        lgamma(an)
        - lgamma(a0)
        + a0 * math.log(b0)
        - an * math.log(bn)
        + 0.5 * math.log(k0 / kn)
        - n / 2 * math.log(2 * math.pi)
    )


def log_predictive(column, cells, x):
    return 0.0 if x is None else log_marginal(column, list(cells) + [x]) - log_marginal(column, cells)


def support(column):
    """All values of a finite column, a few of the others."""
    return {
        "beta_binomial": list(range(column.get("trials", 1) + 1)),
        "beta_bernoulli": [0, 1],
        "categorical": list(range(len(column.get("conc", [])))),
        "gamma_poisson": [0, 1, 2, 7],
        "gaussian": [-2.0, 0.0, 0.5, 3.0],
    }[column["family"]]


def is_finite(column):
    return column["family"] in ("beta_binomial", "beta_bernoulli", "categorical")


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
        made = sorted(
            (Node(a.items + b.items, log_h1, alpha, a, b) for a, b in itertools.combinations(live, 2)),
            key=lambda node: (-round(node.logit, 9), node.children[0].items[0], node.children[1].items[0]),
        )
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
        return log_sum(
            [
                math.log(p) + sum(log_marginal(column, [y[i] for i in node.items]) for node in cut)
                for p, cut in tree.weighted_cuts()
                if p > 0
            ]
        )

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
        return log_sum(
            [
                log_crp(self.alpha, partition, self.rows)
                + sum(self.marginal(j, tuple(sorted(block))) for block in partition for j in view)
                for partition in set_partitions(list(range(self.rows)))
            ]
        )


def merge_rows(merges, leaves, name):
    ids = {(item,): item for item in range(leaves)}
    listed = []
    for t, (node, gap) in enumerate(merges):
        ids[node.items] = leaves + t
        listed.append(
            {
                "node": leaves + t,
                "left": ids[node.children[0].items],
                "right": ids[node.children[1].items],
                name: list(node.items),
                "log_d": node.log_d,
                "logit_r": node.logit,
                "r": node.r(),
                "log_g": node.log_g,
                "gap_to_runner_up": gap,
            }
        )
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
                answers.append(
                    {"x": x, "col": j}
                    | values_of(
                        table.columns[j], lambda value, x=x, j=j, given=given: log_row(with_cell(x, j, value)) - given
                    )
                )
    return answers


def divided(items, depth, rules, small_tree, score, finish, log):
    """The randomized scheme: a tree of a few items sends the others to its two halves."""
    if len(items) <= rules["B"]:
        return finish("merge", items)
    if rules["levels"] is not None and depth == rules["levels"]:
        return finish("block", items)
    chosen = sorted(sorted(items, key=lambda item: (rules["prio"][item], item))[: rules["m"]])
    halves = small_tree(chosen).children
    sides, entries = [list(half.items) for half in halves], []
    for item in items:
        if item in chosen:
            continue
        left, right = (score(half, item) for half in halves)
        entries.append({"item": item, "log_left": left, "log_right": right})
        sides[0 if left > right else 1].append(item)
    log.append(
        {
            "depth": depth,
            "items": list(items),
            "subset": chosen,
            "split": [list(half.items) for half in halves],
            "filter": entries,
        }
    )
    trees = [divided(sorted(side), depth + 1, rules, small_tree, score, finish, log) for side in sides]
    return finish("join", trees)


def describe_division(tree, log, name):
    for level in log:
        level[name + "s"] = level.pop("items")
        for entry in level["filter"]:
            entry[name] = entry.pop("item")
    return {
        "topology": tree.text(),
        "log": log,
        "log_g": tree.log_g,
        "log_lower_bound": tree.bound(),
        "logit_r": {",".join(map(str, node.items)): node.logit for node in tree.nodes() if node.children},
        "cut_0.5": sorted(tree.cut()),
    }


def grown(shape, log_h1, alpha):
    if isinstance(shape, int):
        return Node([shape], log_h1, alpha)
    if isinstance(shape, dict):
        return Node(shape["block"], log_h1, alpha)
    left, right = (grown(part, log_h1, alpha) for part in shape)
    return Node(left.items + right.items, log_h1, alpha, left, right)
