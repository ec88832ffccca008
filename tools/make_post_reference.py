"""Writes tests/unit/post/scores_reference.json and linkage_reference.json: what scikit-learn and SciPy say.

Run in an environment with scikit-learn and SciPy:  python tools/make_post_reference.py
"""

import json
import pathlib

import numpy as np
import scipy
import sklearn
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform
from sklearn import metrics

folder = pathlib.Path(__file__).parent.parent / "tests/unit/post"
rng = np.random.default_rng(7)


def clustering_f(truth, found):
    table = metrics.cluster.contingency_matrix(truth, found).astype(float)
    f1 = 2 * table / (table.sum(axis=1, keepdims=True) + table.sum(axis=0, keepdims=True))
    return float(np.average(f1.max(axis=1), weights=table.sum(axis=1)))


def pairwise_f(truth, found):
    (_, false_joins), (missed, both) = metrics.cluster.pair_confusion_matrix(truth, found).astype(float)
    return 1.0 if both + missed + false_joins == 0 else 2 * both / (2 * both + missed + false_joins)


def describe(truth, found):
    truth, found = np.asarray(truth), np.asarray(found)
    table = metrics.cluster.contingency_matrix(truth, found)
    information = metrics.mutual_info_score(truth, found)
    entropies = [scipy.stats.entropy(np.bincount(labels)) for labels in (truth, found)]
    return {
        "truth": truth.tolist(),
        "found": found.tolist(),
        "ari": metrics.adjusted_rand_score(truth, found),
        "nmi": metrics.normalized_mutual_info_score(truth, found),
        "homogeneity": metrics.homogeneity_score(truth, found),
        "completeness": metrics.completeness_score(truth, found),
        "vi": float(sum(entropies) - 2 * information),
        "f_measure": clustering_f(truth, found),
        "pairwise_f": pairwise_f(truth, found),
        "purity": float(table.max(axis=0).sum() / table.sum()),
    }


def noisy(truth, share, clusters):
    noise = rng.integers(0, clusters, len(truth))
    return np.where(rng.random(len(truth)) < share, noise, truth)


def scores():
    truth = rng.integers(0, 6, 200)
    yield describe(truth, noisy(truth, 0.3, 8))
    yield describe(truth, noisy(truth, 1.0, 4))
    yield describe(truth, truth)
    yield describe(truth, np.zeros(200, int))
    yield describe(np.zeros(50, int), rng.integers(0, 3, 50))
    yield describe(np.zeros(20, int), np.zeros(20, int))
    yield describe(np.arange(20), np.arange(20))
    yield describe(np.arange(20), np.zeros(20, int))
    yield describe(truth[:30], np.arange(30))
    yield describe([0, 0, 1, 1, 2], [1, 1, 0, 2, 2])
    yield describe(rng.integers(0, 400, 900), rng.integers(0, 700, 900))


def linkages():
    for name, n in [("random", 40), ("two leaves", 2), ("odd", 13)]:
        condensed = np.round(rng.random(n * (n - 1) // 2), 6)
        yield name, condensed, True
    points = rng.normal(size=(30, 3))
    yield "points", np.round(scipy.spatial.distance.pdist(points), 6), True
    draws = np.array([noisy(np.arange(25) % 4, 0.3, 5) for _ in range(50)])
    similarity = (draws[:, :, None] == draws[:, None, :]).mean(axis=0)
    yield "co-clustering, with ties", squareform(1 - similarity, checks=False), False
    yield "all equal", np.ones(15), False


def describe_linkage(name, condensed, unique):
    tree = hierarchy.linkage(condensed, "average")
    leaves = hierarchy.leaves_list(tree)
    cuts = {str(k): hierarchy.fcluster(tree, k, "maxclust").tolist() for k in (1, 2, 3, 5) if k <= len(leaves)}
    case = {"name": name, "unique": unique, "n": len(leaves), "condensed": condensed.tolist()}
    return case | {"linkage": tree.tolist(), "leaves": leaves.tolist(), "cuts": cuts}


def write(name, source, cases):
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    (folder / name).write_text(f'{{"source": "{source}", "cases": [\n{lines}\n]}}\n')


write("scores_reference.json", f"scikit-learn {sklearn.__version__}", scores())
write("linkage_reference.json", f"SciPy {scipy.__version__}", [describe_linkage(*case) for case in linkages()])
