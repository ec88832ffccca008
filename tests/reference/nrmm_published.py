"""Stationary laws of the tree-guided sampler as it was published (nrmm_published_*.json), which are not the posterior: the
transition matrix over all partitions with one binary tree for each cluster (37 states of four rows, 266 of five), its
stationary law by repeated application, summed over trees.
"""

import itertools
import math
from collections import defaultdict

from common import partition_key, set_partitions
from nrmm import Potentials, leaves, nodes, sample_sub

DEPTH = 2


def joined(a, b):
    """Trees have no left and right; of two children the one with the smallest row is written first."""
    return (a, b) if min(leaves(a)) < min(leaves(b)) else (b, a)


def forest(trees):
    return tuple(sorted(trees, key=lambda tree: min(leaves(tree))))


def without(tree, row):
    if isinstance(tree, int):
        return None if tree == row else tree
    parts = [part for part in (without(child, row) for child in tree) if part is not None]
    return joined(*parts) if len(parts) == 2 else parts[0] if parts else None


def breadth_first(tree):
    found, queue = [], [tree]
    for node in queue:
        if isinstance(node, int):
            found.append(node)
        else:
            queue.extend(node)
    return found


def trees_over(rows):
    if len(rows) == 1:
        return [rows[0]]
    found = []
    for choice in range(1, 2 ** (len(rows) - 1)):
        right = [row for k, row in enumerate(rows[1:]) if choice >> k & 1]
        left = [row for row in rows if row not in right]
        found += [joined(a, b) for a, b in itertools.product(trees_over(left), trees_over(right))]
    return found


class Chain:
    def __init__(self, case):
        self.potentials = Potentials(case, case.get("u", 0.0))
        self.rows = list(range(len(case["X"])))
        self.states = [
            forest(trees)
            for partition in set_partitions(self.rows)
            for trees in itertools.product(*(trees_over(sorted(block)) for block in partition))
        ]
        self.known = {}

    def d(self, a, b):
        return math.exp(self.potentials.log_d(a, b))

    def h(self, tree):
        return math.exp(self.potentials.log_h(leaves(tree)))

    def insert(self, tree, x):
        if isinstance(tree, int) and not isinstance(x, int):
            tree, x = x, tree
        return self.insert_below(tree, x)

    def insert_below(self, tree, x):
        if isinstance(tree, int):
            return joined(tree, x)
        left, right = tree
        own, with_left, with_right = self.d(left, right), self.d(left, x), self.d(right, x)
        if own < with_left and own < with_right:
            return joined(tree, x)
        return (
            joined(self.insert_below(left, x), right)
            if with_left < with_right
            else joined(left, self.insert_below(right, x))
        )

    # ---- the local move and Gibbs scans ----

    def update_row(self, state, row):
        """{next state: probability}."""
        if (state, row) not in self.known:
            own = next(tree for tree in state if row in leaves(tree))
            rest = without(own, row)
            others = [tree for tree in state if tree != own]
            ways = [
                (
                    forest(
                        [other for other in others if other != tree]
                        + ([rest] if rest is not None else [])
                        + [self.insert(tree, row)]
                    ),
                    math.exp(self.potentials.log_h(leaves(tree) + (row,))) / self.h(tree),
                )
                for tree in others
            ]
            if rest is not None:
                ways.append((state, self.h(own) / self.h(rest)))
                ways.append((forest(others + [rest, row]), self.h(row)))
            else:
                ways.append((state, self.h(row)))
            total = sum(weight for _, weight in ways)
            law = defaultdict(float)
            for target, weight in ways:
                law[target] += weight / total
            self.known[state, row] = law
        return self.known[state, row]

    def update_rows(self, law, rows):
        for row in rows:
            after = defaultdict(float)
            for state, p in law.items():
                for target, q in self.update_row(state, row).items():
                    after[target] += p * q
            law = after
        return law

    def subtrees(self, tree, depth):
        law = {tree: 1.0}
        for _ in range(depth):
            deeper = defaultdict(float)
            for node, p in law.items():
                for inner, q in sample_sub(self.potentials, node, False).items():
                    deeper[inner] += p * q
            law = deeper
        return law

    def local_move(self, state):
        """The rows of all clusters are chosen first."""
        after = defaultdict(float)
        for choice in itertools.product(*(self.subtrees(tree, DEPTH).items() for tree in state)):
            p = math.prod(q for _, q in choice)
            for target, q in self.update_rows(
                {state: 1.0}, [row for node, _ in choice for row in breadth_first(node)]
            ).items():
                after[target] += p * q
        return after

    def gibbs_scan(self, state):
        return self.update_rows({state: 1.0}, self.rows)

    # ---- the global move ----

    def gathers(self, first, block, rest, count):
        p = 1 / count
        for other in block:
            p /= 1 + self.d(first, other)
        for other in rest:
            p *= self.d(first, other) / (1 + self.d(first, other))
        return p

    def insertions(self, members, x):
        """Yields (probability, members) of a stochastic insertion; the last opens a new member."""
        joins = [1 / self.d(member, x) for member in members]
        total = 1 + sum(joins)
        for k, join in enumerate(joins):
            yield join / total, members[:k] + (self.insert(members[k], x),) + members[k + 1 :]
        yield 1 / total, members + (x,)

    def splits(self, tree):
        for node, p in sample_sub(self.potentials, tree, True).items():
            ways = [(p, tuple(node))]
            above = sorted(
                (other for other in nodes(tree) if set(leaves(node)) < set(leaves(other))), key=lambda x: len(leaves(x))
            )
            below = node
            for other in above:
                sibling = next(child for child in other if child != below)
                ways = [(q * r, longer) for q, members in ways for r, longer in self.insertions(members, sibling)]
                below = other
            yield from ways

    def cascade(self, block):
        """The merged tree and the probability of taking it apart again."""
        ordered = sorted(block, key=lambda tree: min(leaves(tree)))
        lowest = tree = joined(*ordered[:2])
        members, p = tuple(ordered[:2]), 1.0
        for other in ordered[2:]:
            *_, (q, members) = self.insertions(members, other)
            p *= q
            tree = joined(tree, other)
        return tree, p * sample_sub(self.potentials, tree, True)[lowest]

    def global_move(self, state):
        after, count = defaultdict(float), len(state)
        for first in state:
            others = [tree for tree in state if tree != first]
            for choice in range(2 ** len(others)):
                block = [other for k, other in enumerate(others) if choice >> k & 1]
                rest = [other for k, other in enumerate(others) if not choice >> k & 1]
                p = self.gathers(first, block, rest, count)
                if block:
                    merged, back = self.cascade([first] + block)
                    reverse = self.gathers(merged, [], rest, count - len(block)) * back
                    ratio = self.h(merged) / math.prod(map(self.h, [first] + block)) * reverse / p
                    after[forest(rest + [merged])] += p * min(1.0, ratio)
                    after[state] += p * (1 - min(1.0, ratio))
                elif isinstance(first, int):
                    after[state] += p
                else:
                    for q, members in self.splits(first):
                        reverse = sum(
                            self.gathers(
                                member, [other for other in members if other != member], rest, count - 1 + len(members)
                            )
                            for member in members
                        )
                        ratio = math.prod(map(self.h, members)) / self.h(first) * reverse / (p * q)
                        after[forest(rest + list(members))] += p * q * min(1.0, ratio)
                        after[state] += p * q * (1 - min(1.0, ratio))
        return after

    def stationary(self, moves):
        """`moves` is a list of (matrix, times)."""
        law = {state: 1 / len(self.states) for state in self.states}
        while True:
            after = law
            for matrix, times in moves:
                for _ in range(times):
                    longer = defaultdict(float)
                    for state, p in after.items():
                        for target, q in matrix[state].items():
                            longer[target] += p * q
                    after = longer
            moved = max(abs(after[state] - law[state]) for state in self.states)
            law = after
            if moved < 1e-16:
                return law


SWEEPS = {
    "10 global moves (picked-only merge probability, cascade in order of smallest member) then one local move, D=2": [
        ("global_move", 10),
        ("local_move", 1),
    ],
    "one local move, D=2, no global moves": [("local_move", 1)],
    "one global move then a Gibbs scan over all leaves in index order": [("global_move", 1), ("gibbs_scan", 1)],
}


def solve(case):
    """One entry for each kind of sweep."""
    chain = Chain(case)
    matrices = {
        name: {state: getattr(chain, name)(state) for state in chain.states}
        for name in ("global_move", "local_move", "gibbs_scan")
    }
    for matrix in matrices.values():
        assert all(abs(math.fsum(row.values()) - 1) < 1e-12 for row in matrix.values())
    weights = {
        partition_key(partition): math.exp(sum(chain.potentials.log_h(tuple(block)) for block in partition))
        for partition in set_partitions(chain.rows)
    }
    total = sum(weights.values())
    exact = {key: weight / total for key, weight in sorted(weights.items())}
    for sweep, moves in SWEEPS.items():
        law = dict.fromkeys(exact, 0.0)
        for state, p in chain.stationary([(matrices[name], times) for name, times in moves]).items():
            law[partition_key([leaves(tree) for tree in state])] += p
        distance = 0.5 * sum(abs(law[key] - exact[key]) for key in exact)
        yield case | {"sweep": sweep, "tv": distance, "partitions": law, "exact": exact}


def cases():
    rows = [[-0.3, 0.4], [0.2, 0.1], [1.3, -0.9], [0.7, -0.2], [1.8, -0.5]]
    hyper = {"mu0": [0.5, -0.1], "kappa0": 0.25, "nu0": 4.0, "Psi0": [[0.5, -0.1], [-0.1, 0.4]]}
    dp = {"lik": "niw", "hyper": hyper, "prior": "dp", "alpha": 0.8}
    ngg = {"lik": "niw", "hyper": hyper, "prior": "nggp", "alpha": 1.1, "sigma": 0.35, "u": 1.6}
    yield "nrmm_published_dp_4", list(solve(dp | {"X": rows[:4]}))
    yield "nrmm_published_ngg_4", list(solve(ngg | {"X": rows[1:]}))
    yield "nrmm_published_dp_5", list(solve(dp | {"X": rows}))
