"""Reference cases of trees of clusters (rbhmc_*.json): every tree of the given depth over a few rows, every partition into
components with its probability given the tree as a sum over all table counts, and the regularizer of every tree.

The regularizer R(tree) = E exp(-2 C Xi) is an integral over discriminants from their prior. The hinges see only
differences between siblings, so J siblings have J - 1 independent contrasts; randomly shifted lattice rules over those
give the integral, and the spread between the shifts its error. Without penalty everything but the mean hinge is exact.
Needs numpy, for the integrals alone.
"""

import math
import random
import statistics
from functools import lru_cache

import numpy
from common import lgamma, log_bernoulli, set_partitions


def trees_below(rows, levels):
    """All trees of that many levels over a set of rows: (rows, children)."""
    if levels == 0:
        yield rows, ()
        return
    for partition in set_partitions(sorted(rows)):
        found = [()]
        for block in partition:
            found = [
                children + (child,) for children in found for child in trees_below(tuple(sorted(block)), levels - 1)
            ]
        for children in found:
            yield rows, children


def nodes_below(tree, level=0):
    """(node, level), the root first."""
    yield tree, level
    for child in tree[1]:
        yield from nodes_below(child, level + 1)


def log_prior(tree, alpha):
    total = 0.0
    for (rows, children), _ in nodes_below(tree):
        if children:
            total += (
                lgamma(alpha)
                - lgamma(alpha + len(rows))
                + len(children) * math.log(alpha)
                + sum(lgamma(len(child[0])) for child in children)
            )
    return total


@lru_cache(None)
def stirling(n, m):
    """Unsigned, of the first kind."""
    if n == m:
        return 1
    return 0 if m == 0 or m > n else stirling(n - 1, m - 1) + (n - 1) * stirling(n - 1, m)


class Franchise:
    """p(components | tree): the sum over table counts, from the leaves to the root."""

    def __init__(self, gamma, gamma0, components):
        self.gamma, self.gamma0, self.of = gamma, gamma0, components
        self.count = max(components) + 1
        self.known = {}

    def customers(self, node):
        """{counts by component: weight} of what is eaten at a node."""
        rows, children = node
        if not children:
            counts = [0] * self.count
            for row in rows:
                counts[self.of[row]] += 1
            return {tuple(counts): 1.0}
        law = {(0,) * self.count: 1.0}
        for child in children:
            longer = {}
            for counts, weight in law.items():
                for tables, more in self.tables(child).items():
                    both = tuple(a + b for a, b in zip(counts, tables))
                    longer[both] = longer.get(both, 0.0) + weight * more
            law = longer
        return law

    def tables(self, node):
        """{tables by component: weight} that a node sends to its parent."""
        if node in self.known:
            return self.known[node]
        law = {}
        for counts, weight in self.customers(node).items():
            weight *= math.exp(lgamma(self.gamma) - lgamma(self.gamma + sum(counts)))
            ways = [((), weight)]
            for n in counts:
                ways = [
                    (tables + (m,), w * self.gamma**m * stirling(n, m))
                    for tables, w in ways
                    for m in range(min(n, 1), n + 1)
                ]
            for tables, w in ways:
                law[tables] = law.get(tables, 0.0) + w
        self.known[node] = law
        return law

    def at_root(self, tree):
        """The probability, and with it times the mean of what is left of the root's weight."""
        total = remainder = 0.0
        for counts, weight in self.customers(tree).items():
            n = sum(counts)
            p = (
                weight
                * math.exp(lgamma(self.gamma0) - lgamma(self.gamma0 + n) + sum(map(lgamma, counts)))
                * (self.gamma0**self.count)
            )
            total += p
            remainder += p * self.gamma0 / (self.gamma0 + n)
        return total, remainder


def log_marginal(inputs, rows):
    if inputs["family"] == "bernoulli":
        return log_bernoulli(rows, inputs["a0"], inputs["b0"])
    mu0, s2, t2, n = float(inputs["mu0"]), inputs["sigma2"], inputs["tau2"], len(rows)
    total = 0.0
    for column in zip(*rows):
        s, q = sum(x - mu0 for x in column), sum((x - mu0) ** 2 for x in column)
        total += (
            -n / 2 * math.log(2 * math.pi)
            - (n - 1) / 2 * math.log(s2)
            - 0.5 * math.log(s2 + n * t2)
            - (q - t2 * s * s / (s2 + n * t2)) / (2 * s2)
        )
    return total


class Normals:
    """Points of shifted lattice rules as standard normals, (points, dimensions) for each shift."""

    def __init__(self, dimensions, shifts, points, seed):
        rng = random.Random(seed)
        ratio = 2.0  # the root of x^(d + 1) = x + 1, whose powers are hard to approximate by fractions
        for _ in range(200):
            ratio = (1 + ratio) ** (1 / (dimensions + 1))
        steps = numpy.array([ratio ** -(j + 1) % 1 for j in range(dimensions)])
        quantile = numpy.vectorize(statistics.NormalDist().inv_cdf, otypes=[float])
        base = numpy.outer(numpy.arange(1, points + 1), steps)
        self.shifts = []
        for _ in range(shifts):
            u = (base + [rng.random() for _ in range(dimensions)]) % 1
            self.shifts.append(quantile(numpy.clip(1 - numpy.abs(2 * u - 1), 1e-15, 1 - 1e-15)))  # folded: periodic


def contrasts(count):
    """Columns orthonormal to each other and to the mean."""
    columns = numpy.zeros((count, count - 1))
    for k in range(1, count):
        columns[:k, k - 1] = 1 / math.sqrt(k * (k + 1))
        columns[k, k - 1] = -k / math.sqrt(k * (k + 1))
    return columns


def hinge_dimensions(tree, width):
    return width * sum(len(children) - 1 for (_, children), _ in nodes_below(tree) if children)


def total_hinge(tree, features, normals, inputs):
    """Xi at every point."""
    width, at = features.shape[1], 0
    levels = [[] for _ in features]  # of every row: the largest rho at each level where it has siblings
    for (_, children), _ in nodes_below(tree):
        if len(children) < 2:
            continue
        free = width * (len(children) - 1)
        draws = normals[:, at : at + free].reshape(len(normals), len(children) - 1, width)
        at += free
        eta = inputs["nu0"] * numpy.einsum("jk,pkw->pjw", contrasts(len(children)), draws)
        for own, (rows, _) in enumerate(children):
            for row in rows:
                scores = eta @ features[row]
                others = numpy.delete(scores, own, axis=1).max(axis=1)
                levels[row].append(inputs["eps0"] - scores[:, own] + others)
    total = numpy.zeros(len(normals))
    for found in levels:
        if inputs.get("centered", inputs.get("centred", False)):
            for rho in found:
                total += numpy.maximum(rho, 0.0) - inputs["eps0"]
        elif found:
            total += numpy.maximum(numpy.max(found, axis=0), 0.0)
    return total


def solve(inputs, data, shifts=16, points=1 << 14):
    n, levels = len(data), inputs["levels"]
    trees = list(trees_below(tuple(range(n)), levels))
    priors = [math.exp(log_prior(tree, inputs["alpha"])) for tree in trees]
    assert abs(math.fsum(priors) - 1) < 1e-12
    partitions = []
    for partition in set_partitions(list(range(n))):
        components = [next(k for k, block in enumerate(partition) if row in block) for row in range(n)]
        marginal = math.exp(sum(log_marginal(inputs, [data[i] for i in block]) for block in partition))
        partitions.append((components, marginal, Franchise(inputs["gamma"], inputs["gamma0"], components)))
    # By tree: p(tree, data), and the same times what depends on components.
    joint, count, remainder = [], [], []
    together = [[[0.0] * n for _ in range(n)] for _ in trees]
    for t, (tree, prior) in enumerate(zip(trees, priors)):
        total = of_count = of_remainder = of_all = 0.0
        for components, marginal, franchise in partitions:
            p, left = franchise.at_root(tree)
            of_all += p
            weight = prior * marginal * p
            total += weight
            of_count += weight * franchise.count
            of_remainder += prior * marginal * left
            for i in range(n):
                for j in range(n):
                    if components[i] == components[j]:
                        together[t][i][j] += weight
        assert abs(of_all - 1) < 1e-10
        joint.append(total)
        count.append(of_count)
        remainder.append(of_remainder)
    evidence = math.fsum(joint)

    features = numpy.array([row + [1.0] if inputs["intercept"] else row for row in data], dtype=float)
    dimensions = max(hinge_dimensions(tree, features.shape[1]) for tree in trees)
    sets = Normals(dimensions, shifts, points, "hinge").shifts if dimensions else [numpy.zeros((1, 0))]
    factors, hinges = [], []  # by shift, then by tree
    for normals in sets:
        factors.append([])
        hinges.append([])
        for tree in trees:
            xi = total_hinge(tree, features, normals, inputs)
            weights = numpy.exp(-2 * inputs["C"] * xi)
            factors[-1].append(float(weights.mean()))
            hinges[-1].append(float((weights * xi).mean()))

    def expectation(values, regularized=None):
        """`values` by tree, times p(tree, data); the mean over shifts and its error."""
        found = []
        for r, factor in enumerate(factors):
            weights = factor if regularized is None else regularized[r]
            found.append(
                math.fsum(v * w for v, w in zip(values, weights)) / math.fsum(p * w for p, w in zip(joint, factor))
            )
        return [statistics.fmean(found), statistics.stdev(found) / math.sqrt(len(found)) if len(found) > 1 else 0.0]

    def of_event(event):
        return expectation([p * event(tree) for p, tree in zip(joint, trees)])

    def pairs(value):
        both = [[value(i, j) for j in range(n)] for i in range(n)]
        return [[[cell[k] for cell in row] for row in both] for k in (0, 1)]

    def share(level, i, j):
        return of_event(
            lambda tree: any(i in node[0] and j in node[0] for node, at in nodes_below(tree) if at == level)
        )

    by_level = [pairs(lambda i, j, level=level: share(level, i, j)) for level in range(1, levels + 1)]
    components = pairs(lambda i, j: expectation([table[i][j] for table in together]))
    leaves = of_event(lambda tree: sum(at == levels for _, at in nodes_below(tree)))
    mean_factor = [math.fsum(p * w for p, w in zip(joint, factor)) / evidence for factor in factors]
    return {
        "inputs": inputs,
        "data": data,
        "enum": {
            "n_trees": len(trees),
            "co_clustering": [level[0] for level in by_level],
            "co_clustering_se": [level[1] for level in by_level],
            "component_co_clustering": components[0],
            "component_co_clustering_se": components[1],
            "E_num_components": expectation(count),
            "E_num_leaves": leaves,
            "E_num_nonroot_nodes": of_event(lambda tree: sum(1 for _ in nodes_below(tree)) - 1),
            "E_root_remainder_weight": expectation(remainder),
            "E_total_hinge": expectation(joint, hinges),
            "posterior_mean_of_regularizer": statistics.fmean(mean_factor),
            "log_evidence": math.log(evidence),
        },
    }


def cases():
    line = [[-1.3], [-0.9], [0.6], [1.7]]
    inputs = {
        "alpha": 0.8,
        "gamma": 1.3,
        "gamma0": 0.9,
        "levels": 2,
        "family": "gaussian",
        "sigma2": 0.6,
        "mu0": "0.1",
        "tau2": 3.0,
        "C": 0.0,
        "eps0": 0.6,
        "nu0": 1.2,
        "intercept": False,
        "centered": False,
    }
    yield "rbhmc_plain", solve(inputs, line)
    yield "rbhmc_hinge", solve(inputs | {"C": 0.35}, line)
    yield "rbhmc_hinge_strong", solve(inputs | {"C": 1.2}, line)
    yield "rbhmc_centered", solve(inputs | {"C": 0.4, "centered": True}, line)
    yield "rbhmc_intercept", solve(inputs | {"C": 0.3, "levels": 1, "intercept": True}, line)
    yield (
        "rbhmc_bernoulli",
        solve(
            inputs | {"family": "bernoulli", "a0": 0.7, "b0": 0.5, "C": 0.25, "levels": 2},
            [[1, 1], [1, 0], [0, 1], [0, 0]],
        ),
    )
    yield "rbhmc_one_row", solve(inputs | {"C": 0.6, "levels": 3}, [[0.8, -1.1]])
    # All features zero: every tree with a branch has the same regularizer.
    yield "rbhmc_zero", solve(inputs | {"C": 0.3, "mu0": "0"}, [[0.0], [0.0], [0.0]])
    yield "rbhmc_deep", solve(inputs | {"levels": 3, "alpha": 0.5}, [[-1.6, 0.4], [-1.2, 0.9], [0.5, -1.4], [1.8, 1.1]])
