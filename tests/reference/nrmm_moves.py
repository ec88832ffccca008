"""Rows of the transition matrices of single moves of the mixtures' samplers (nrmm_moves_*.json): from every partition of a
few rows the probability of every next one, by following each choice a move can make.

JN is Jain and Neal's split-merge; X1, X2 and X3 are the multi-way split-merge, the block move and the split-merge that a
guide tree leads. No intermediate scans, rows in ascending order, all parameters fixed.
"""

import math
from collections import defaultdict

from common import partition_key, set_partitions
from nrmm import Potentials, frozen, leaves, nodes

DELTA = 0.5  # the share of the uniform law in X1's choice of a node


class Moves:
    def __init__(self, case):
        self.potentials = Potentials(case, case.get("u", 0.0))
        self.guide = frozen(case["guide_tree"])
        self.rows = sorted(leaves(self.guide))

    def h(self, rows):
        return math.exp(self.potentials.log_h(tuple(rows)))

    def d0(self, a, b):
        return self.h(a) * self.h(b) / self.h(a | b)

    def path(self, row):
        """The nodes of the guide from a leaf to the root."""
        found = [node for node in nodes(self.guide) if row in leaves(node)]
        return sorted(found, key=lambda node: len(leaves(node)))

    # ---- X2 ----

    def blocks(self, clusters):
        """Yields (probability, next partition)."""
        for row in self.rows:
            path = self.path(row)
            for node in path:
                below = set(leaves(node))
                own = next(cluster for cluster in clusters if row in cluster)
                piece = own & below
                others = [cluster for cluster in clusters if cluster != own] + ([own - piece] if own - piece else [])
                ways = [
                    ([other | piece] + [c for c in others if c != other], self.h(other | piece) / self.h(other))
                    for other in others
                    if not other & below
                ]
                ways.append((others + [piece], self.h(piece)))
                total = sum(weight for _, weight in ways)
                for target, weight in ways:
                    yield weight / total / len(path) / len(self.rows), target

    # ---- JN and X3: a launch, one restricted scan, acceptance ----

    def scans(self, i, j, launch):
        """Yields (probability, A, B) of one Gibbs scan of the rows that are neither i nor j, in ascending order."""
        ways = [(1.0, *launch)]
        for row in sorted((launch[0] | launch[1]) - {i, j}):
            longer = []
            for p, a, b in ways:
                a, b = a - {row}, b - {row}
                to_a, to_b = self.h(a | {row}) / self.h(a), self.h(b | {row}) / self.h(b)
                longer += [(p * to_a / (to_a + to_b), a | {row}, b), (p * to_b / (to_a + to_b), a, b | {row})]
            ways = longer
        return ways

    def split_or_merge(self, clusters, i, j, launches):
        """`launches` yields (probability, A, B) from the union."""
        of_i, of_j = (next(cluster for cluster in clusters if row in cluster) for row in (i, j))
        union, rest = of_i | of_j, [cluster for cluster in clusters if cluster not in (of_i, of_j)]
        for p, *launch in launches(union):
            for q, a, b in self.scans(i, j, launch):
                ratio = self.h(a) * self.h(b) / self.h(union) / q
                if of_i == of_j:
                    accept = min(1.0, ratio)
                    yield p * q * accept, rest + [a, b]
                    yield p * q * (1 - accept), clusters
                elif (a, b) == (of_i, of_j):  # the forced scan; the others are none of its business
                    accept = min(1.0, 1 / ratio)
                    yield p * accept, rest + [union]
                    yield p * (1 - accept), clusters

    def by_coins(self, i, j):
        def launches(union):
            ways = [(1.0, frozenset({i}), frozenset({j}))]
            for row in sorted(union - {i, j}):
                ways = [way for p, a, b in ways for way in ((p / 2, a | {row}, b), (p / 2, a, b | {row}))]
            return ways

        return launches

    def by_guide(self, path, place, i):
        """Of the split at path[place]: both sides of that node, then its ancestors' other sides as blocks, bottom up."""

        def launches(union):
            below = set(leaves(path[place - 1]))
            ways = [(1.0, union & below, (union & set(leaves(path[place]))) - below)]
            for k in range(place + 1, len(path)):
                block = (union & set(leaves(path[k]))) - set(leaves(path[k - 1]))
                if not block:
                    continue
                longer = []
                for p, a, b in ways:
                    to_a, to_b = self.h(a | block) / self.h(a), self.h(b | block) / self.h(b)
                    longer += [(p * to_a / (to_a + to_b), a | block, b), (p * to_b / (to_a + to_b), a, b | block)]
                ways = longer
            return ways

        return launches

    def jain_neal(self, clusters):
        n = len(self.rows)
        for i in self.rows:
            for j in self.rows:
                if i != j:
                    for p, target in self.split_or_merge(clusters, i, j, self.by_coins(i, j)):
                        yield p / (n * (n - 1)), target

    def guided(self, clusters):
        for i in self.rows:
            path = self.path(i)
            for place in range(1, len(path)):
                others = sorted(set(leaves(path[place])) - set(leaves(path[place - 1])))
                for j in others:
                    share = 1 / len(self.rows) / (len(path) - 1) / len(others)
                    for p, target in self.split_or_merge(clusters, i, j, self.by_guide(path, place, i)):
                        yield share * p, target

    # ---- X1 ----

    def gathers(self, first, block, rest, count):
        """That `first` is picked and gathers exactly the others of its block."""
        p = 1 / count
        for other in block:
            if other != first:
                p /= 1 + self.d0(first, other)
        for other in rest:
            d = self.d0(first, other)
            p *= d / (1 + d)
        return p

    def induced(self, tree, rows):
        if isinstance(tree, int):
            return tree if tree in rows else None
        parts = [part for part in (self.induced(child, rows) for child in tree) if part is not None]
        return tuple(parts) if len(parts) == 2 else parts[0] if parts else None

    def splits(self, cluster):
        """{set of blocks: probability}."""
        tree = self.induced(self.guide, cluster)
        inner = [node for node in nodes(tree) if not isinstance(node, int)]
        weights = []
        for node in inner:
            d = self.d0(*(frozenset(leaves(child)) for child in node))
            weights.append(d / (1 + d) + DELTA / len(inner))
        law = defaultdict(float)
        for node, weight in zip(inner, weights):
            ways = [(weight / sum(weights), tuple(frozenset(leaves(child)) for child in node))]
            above = sorted(
                (other for other in inner if set(leaves(node)) < set(leaves(other))), key=lambda x: len(leaves(x))
            )
            reached = set(leaves(node))
            for other in above:
                block = frozenset(set(leaves(other)) - reached)
                reached = set(leaves(other))
                longer = []
                for p, made in ways:
                    joins = [1 / self.d0(one, block) for one in made]
                    total = 1 + sum(joins)
                    longer.append((p / total, made + (block,)))
                    longer += [
                        (p * join / total, made[:k] + (made[k] | block,) + made[k + 1 :])
                        for k, join in enumerate(joins)
                    ]
                ways = longer
            for p, made in ways:
                law[frozenset(made)] += p
        return law

    def multiway(self, clusters):
        count = len(clusters)

        def h_of(many):
            return math.prod(map(self.h, many))

        for first in clusters:
            others = [cluster for cluster in clusters if cluster != first]
            for choice in range(2 ** len(others)):
                block = [first] + [other for k, other in enumerate(others) if choice >> k & 1]
                rest = [other for k, other in enumerate(others) if not choice >> k & 1]
                p = self.gathers(first, block, rest, count)
                if len(block) > 1:
                    union = frozenset().union(*block)
                    forward = sum(self.gathers(one, block, rest, count) for one in block)
                    reverse = self.gathers(union, [union], rest, count - len(block) + 1) * self.splits(union).get(
                        frozenset(block), 0.0
                    )
                    accept = min(1.0, self.h(union) / h_of(block) * reverse / forward)
                    yield p * accept, rest + [union]
                    yield p * (1 - accept), clusters
                elif len(first) == 1:
                    yield p, clusters
                else:
                    for made, q in self.splits(first).items():
                        reverse = sum(self.gathers(one, made, rest, count - 1 + len(made)) for one in made)
                        accept = min(1.0, h_of(made) / self.h(first) * reverse / (p * q))
                        yield p * q * accept, rest + list(made)
                        yield p * q * (1 - accept), clusters

    def rows_of(self, move):
        table = {}
        for partition in set_partitions(self.rows):
            clusters = [frozenset(block) for block in partition]
            row = defaultdict(float)
            for p, target in move(clusters):
                row[partition_key(target)] += p
            assert abs(math.fsum(row.values()) - 1) < 1e-12
            table[partition_key(partition)] = {key: p for key, p in sorted(row.items()) if p > 0}
        return dict(sorted(table.items()))


def solve(case):
    moves = Moves(case)
    weights = {
        partition_key(partition): math.prod(moves.h(block) for block in partition)
        for partition in set_partitions(moves.rows)
    }
    total = sum(weights.values())
    posterior = {key: weight / total for key, weight in sorted(weights.items())}
    answer = case | {"partitions": list(posterior), "posterior_given_u": list(posterior.values())}
    for name, move in (("X1", moves.multiway), ("X2", moves.blocks), ("X3", moves.guided), ("JN", moves.jain_neal)):
        answer[name] = table = moves.rows_of(move)
        for start, row in table.items():
            for target, p in row.items():  # detailed balance
                assert abs(posterior[start] * p - posterior[target] * table[target].get(start, 0.0)) < 1e-12, (
                    name,
                    start,
                    target,
                )
    return answer


def cases():
    rows = [[-0.3, 0.4], [0.2, 0.1], [1.3, -0.9], [0.7, -0.2], [1.8, -0.5]]
    hyper = {"mu0": [0.5, -0.1], "kappa0": 0.25, "nu0": 4.0, "Psi0": [[0.5, -0.1], [-0.1, 0.4]]}
    dp = {"lik": "niw", "hyper": hyper, "prior": "dp", "alpha": 0.8}
    ngg = {"lik": "niw", "hyper": hyper, "prior": "nggp", "alpha": 1.1, "sigma": 0.35, "u": 1.6}
    yield "nrmm_moves_dp_4", solve(dp | {"X": rows[:4], "guide_tree": [[0, 1], [2, 3]]})
    yield "nrmm_moves_ngg_4", solve(ngg | {"X": rows[:4], "guide_tree": [0, [[1, 3], 2]]})
    yield "nrmm_moves_ngg_5", solve(ngg | {"X": rows, "guide_tree": [[[0, 1], 3], [2, 4]]})
