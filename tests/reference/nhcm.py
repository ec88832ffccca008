"""Reference cases of clusters of sub-clusters (nhcm_*.json): every nested partition of a few rows under both priors, one
state with its numbers, and the conditional laws of one of its rows and one of its sub-clusters.

The evidence of a cluster comes from its definition: means of sub-clusters are normal about the cluster's mean with
precision n / (1 + q n), all in units of the one covariance.
"""

import math

from common import (
    added,
    labels_of,
    log_crp,
    log_determinant,
    log_multigamma,
    log_sum,
    mean_of,
    minus,
    outer,
    scatter,
    set_partitions,
)


class Model:
    def __init__(self, case):
        self.x, self.n, self.d = case["X"], len(case["X"]), len(case["X"][0])
        self.alpha0, self.alpha1, self.q = case["alpha0"], case["alpha1"], case["q"]
        self.k0, self.v0, self.scale, self.mu0 = case["k0"], case["v0"], case["Sigma0"], case["mu0"]
        self.rows_first = case["prior"] == "A"
        self.known = {}

    def log_evidence(self, cluster):
        """`cluster` is a set of sub-clusters, each a set of rows."""
        if cluster in self.known:
            return self.known[cluster]
        subs = [[self.x[i] for i in sorted(sub)] for sub in sorted(cluster, key=min)]
        means, n = [mean_of(rows) for rows in subs], sum(map(len, subs))
        weights = [len(rows) / (1 + self.q * len(rows)) for rows in subs]
        weight = sum(weights)
        center = [sum(w * mean[j] for w, mean in zip(weights, means)) / weight for j in range(self.d)]
        shift = minus(center, self.mu0)
        psi = added(
            (1.0, self.scale),
            *((1.0, scatter(rows, mean)) for rows, mean in zip(subs, means)),
            *((w, outer(minus(mean, center), minus(mean, center))) for w, mean in zip(weights, means)),
            (self.k0 * weight / (self.k0 + weight), outer(shift, shift)),
        )
        self.known[cluster] = (
            -n * self.d / 2 * math.log(math.pi)
            + log_multigamma((self.v0 + n) / 2, self.d)
            - log_multigamma(self.v0 / 2, self.d)
            + self.v0 / 2 * log_determinant(self.scale)
            - (self.v0 + n) / 2 * log_determinant(psi)
            + self.d
            / 2
            * (math.log(self.k0 / (self.k0 + weight)) - sum(math.log(1 + self.q * len(rows)) for rows in subs))
        )
        return self.known[cluster]

    def log_prior(self, state):
        """`state` is a set of clusters, of any number of rows (for conditionals: one less)."""
        subs = [sub for cluster in state for sub in cluster]
        n = sum(map(len, subs))
        if not self.rows_first:
            return log_crp(self.alpha1, subs, n) + log_crp(self.alpha0, list(state), len(subs))
        of_rows = [[i for sub in cluster for i in sub] for cluster in state]
        return log_crp(self.alpha0, of_rows, n) + sum(
            log_crp(self.alpha1, list(cluster), len(rows)) for cluster, rows in zip(state, of_rows)
        )

    def log_joint(self, state):
        return self.log_prior(state) + sum(map(self.log_evidence, state))


def nested_partitions(n):
    for subs in set_partitions(list(range(n))):
        subs = [frozenset(sub) for sub in subs]
        for clusters in set_partitions(list(range(len(subs)))):
            yield frozenset(frozenset(subs[t] for t in cluster) for cluster in clusters)


def key_of(state):
    """Sub-clusters of rows, then clusters of sub-clusters, both numbered in the order of their first members."""
    subs = sorted((sub for cluster in state for sub in cluster), key=min)
    rows = "".join(str(next(t for t, sub in enumerate(subs) if i in sub)) for i in range(sum(map(len, subs))))
    return rows + "|" + "".join(map(str, labels_of([[subs.index(sub) for sub in cluster] for cluster in state])))


def listed(cluster):
    return sorted(sorted(sub) for sub in cluster)


def options_of_row(model, state, row):
    """All states that differ in where one row is, with their probabilities given the others."""
    rest = frozenset(filter(None, (frozenset(filter(None, (sub - {row} for sub in cluster))) for cluster in state)))
    ways = []
    for cluster in rest:
        for sub in cluster:
            ways.append(("sub", [sorted(sub)], rest - {cluster} | {cluster - {sub} | {sub | {row}}}))
        ways.append(("newsub_in_cluster", listed(cluster), rest - {cluster} | {cluster | {frozenset({row})}}))
    ways.append(("new_cluster", [], rest | {frozenset({frozenset({row})})}))
    logs = [model.log_joint(target) for _, _, target in ways]
    total = log_sum(logs)
    return [
        {"kind": kind, "members": members, "prob": math.exp(log - total)} for (kind, members, _), log in zip(ways, logs)
    ]


def options_of_subcluster(model, state, sub):
    rest = frozenset(filter(None, (cluster - {sub} for cluster in state)))
    ways = [(listed(cluster), rest - {cluster} | {cluster | {sub}}) for cluster in rest]
    ways.append(([], rest | {frozenset({sub})}))
    logs = [model.log_joint(target) for _, target in ways]
    total = log_sum(logs)
    return [{"cluster": members, "prob": math.exp(log - total)} for (members, _), log in zip(ways, logs)]


def solve(case, sub_labels, cluster_labels, row, subcluster, kept=400):
    model = Model(case)
    states = list(nested_partitions(model.n))
    mass = math.fsum(math.exp(model.log_prior(state)) for state in states)
    assert abs(mass - 1) < 1e-12
    logs = [model.log_joint(state) for state in states]
    evidence = log_sum(logs)
    weighted = [(math.exp(log - evidence), state) for log, state in zip(logs, states)]

    def total(event):
        return math.fsum(p for p, state in weighted if event(state))

    def count_of(state):
        return sum(map(len, state))

    def together(state, i, j, clusters):
        return any(
            i in rows and j in rows
            for cluster in state
            for rows in ([frozenset().union(*cluster)] if clusters else cluster)
        )

    subs = [frozenset(i for i, label in enumerate(sub_labels) if label == t) for t in range(max(sub_labels) + 1)]
    clusters = [
        frozenset(sub for sub, label in zip(subs, cluster_labels) if label == r) for r in range(max(cluster_labels) + 1)
    ]
    state = frozenset(clusters)
    sizes = range(1, model.n + 1)
    rows = range(model.n)
    best = sorted(((p, key_of(state)) for p, state in weighted), reverse=True)
    return {
        "input": case,
        "n": model.n,
        "d": model.d,
        "state": {
            "sub": sub_labels,
            "clu": cluster_labels,
            "log_prior": model.log_prior(state),
            "cluster_log_marginals": list(map(model.log_evidence, clusters)),
            "log_joint": model.log_joint(state),
        },
        "point_conditional": {"point": row, "options": options_of_row(model, state, row)},
        "subcluster_conditional": {
            "subcluster": subcluster,
            "options": options_of_subcluster(model, state, subs[subcluster]),
        },
        "log_marginal_likelihood": evidence,
        "prior_total_mass": mass,
        "n_nested_partitions": len(states),
        "subcluster_count_distribution": {str(k): total(lambda s, k=k: count_of(s) == k) for k in sizes},
        "cluster_count_distribution": {str(k): total(lambda s, k=k: len(s) == k) for k in sizes},
        "coclustering_sub": [[total(lambda s, i=i, j=j: together(s, i, j, False)) for j in rows] for i in rows],
        "coclustering_cluster": [[total(lambda s, i=i, j=j: together(s, i, j, True)) for j in rows] for i in rows],
        "nested_partitions": [[key, p] for p, key in best[:kept]],
    }


def cases():
    global_prior = {
        "X": [[0.3, -0.4], [0.9, 0.1], [-1.1, 1.6], [2.4, 2.0], [3.0, 1.2]],
        "alpha0": 0.8,
        "alpha1": 1.3,
        "q": 2.0,
        "k0": 0.6,
        "v0": 4.5,
        "Sigma0": [[0.9, 0.15], [0.15, 0.7]],
        "mu0": [0.8, 0.6],
        "prior": "B",
    }
    yield "nhcm_global_plane", solve(global_prior, [0, 0, 1, 2, 2], [0, 0, 1], 1, 0)
    yield "nhcm_nested_plane", solve(global_prior | {"prior": "A"}, [0, 0, 1, 2, 2], [0, 1, 1], 3, 2)
    line = {
        "X": [[-1.4], [-1.0], [0.5], [1.9]],
        "alpha0": 1.5,
        "alpha1": 0.7,
        "q": 1.1,
        "k0": 0.3,
        "v0": 3.0,
        "Sigma0": [[0.8]],
        "mu0": [0.2],
        "prior": "B",
    }
    yield "nhcm_global_line", solve(line, [0, 1, 2, 2], [0, 0, 1], 0, 2)
    yield "nhcm_nested_line", solve(line | {"prior": "A"}, [0, 0, 1, 2], [0, 0, 1], 2, 1)
