"""The published protocol on a hundred items of Fashion-MNIST: ten principal components.

rbhmc-fashion.py full [ROWS] [SCORES.npy LABELS.npy] fits many rows with four levels instead, next to BIRCH + Ward and
HDBSCAN: the first ROWS rows of the scores (10 columns) with their classes, or, without files, as many rows drawn from
Gaussians with the classes' means and their pooled covariance in the hundred items: a stand-in, not the images."""

import resource
import sys
import time

import numpy as np
from shared import common
from shared.published_protocol import Protocol

PROTOCOL = Protocol(
    "fashion",
    "fashion100.csv",
    [
        "--id",
        "name",
        "--family",
        "gaussian-known",
        "--set",
        "noise_variance=1",
        "--set",
        "prior_mean=0",
        "--set",
        "prior_variance=1",
        "--alpha",
        "0.2",
        "--gamma",
        "1.5",
        "--gamma0",
        "0.85",
    ],
    levels=4,
    penalties=[0.0001, 0.001, 0.1, 1],
    margins=[0.01, 1],
    shown=(0.001, 1),
)


def stand_in(rows):
    """Ten Gaussians around the classes of the hundred items, each of three overlapping parts."""
    header, items = common.read_table(common.DATA / "fashion100.csv")
    columns = [i for i, column in enumerate(header) if column not in ("name", "label")]
    scores = np.array([[float(item[i]) for i in columns] for item in items])
    classes = np.unique([item[header.index("label")] for item in items], return_inverse=True)[1]
    means = np.array([scores[classes == c].mean(0) for c in range(classes.max() + 1)])
    within = np.cov((scores - means[classes]).T)
    root = np.linalg.cholesky(within)
    rng = np.random.default_rng(7)
    labels = rng.integers(len(means), size=rows)
    parts = 0.6 * rng.normal(size=(len(means), 3, len(columns))) @ root.T
    points = means[labels] + parts[labels, rng.integers(3, size=rows)]
    return points + 0.7 * rng.normal(size=points.shape) @ root.T, labels


def cpu_seconds():
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


class Stopwatch:
    """CPU and elapsed seconds."""

    def __init__(self):
        self.cpu, self.wall = cpu_seconds(), time.time()

    def text(self):
        return f"{cpu_seconds() - self.cpu:.0f} | {time.time() - self.wall:.0f}"


def show(method, what, classes, labels, seconds):
    scores = [(len(np.unique(x)), common.adjusted_rand(classes, x), common.f_measure(classes, x)) for x in labels]
    nodes, ari, f = (np.mean(values) for values in zip(*scores))
    print(f"| {method} | {what} | {nodes:.1f} | {ari:.3f} | {f:.3f} | {seconds} |", flush=True)


def full(rows, files):
    from scipy.cluster.hierarchy import fcluster, ward
    from sklearn.cluster import HDBSCAN, Birch

    if files:
        points, classes = np.load(files[0])[:rows].astype(float), np.load(files[1])[:rows]
    else:
        points, classes = stand_in(rows)
    points = (points - points.mean(0)) / points.std(0)
    levels, sweeps = 4, ["--warmup", "100", "--draws", "50", "--thin", "1" if rows > 20_000 else "2"]
    print(f"{len(points)} rows, {'from files' if files else 'a stand-in'}\n")
    print("| method | partition | clusters | ARI | F | CPU s | elapsed s |")
    print("|---" * 7 + "|")
    with common.scratch() as folder:
        table = [[f"{x:.6g}" for x in point] + [f"c{k}"] for point, k in zip(points, classes)]
        common.write_table(f"{folder}/rows.csv", [f"x{i}" for i in range(points.shape[1])] + ["label"], table)
        options = ["--truth", "label", "--levels", levels, "--penalty", "0", "--chains", "2", "--alpha", "0.2"]
        options += ["--gamma", "1.5", "--family", "gaussian-diagonal", "--seed", "1", *sweeps]
        watch = Stopwatch()
        run = common.fit(f"{folder}/rows.csv", options, folder, "full")
        seconds = watch.text()
        drawn = range(0, len(run.labels[0]), 10)
        for level, labels in enumerate(run.labels):
            show("rbhmc", f"level {level + 1}, mean of draws", classes, [labels[draw] for draw in drawn], seconds)
            seconds = " | "
        rhats = {trace["name"]: trace["rhat"] for trace in run.summary()["traces"]}
    counts = [round(np.mean([len(np.unique(labels[draw])) for draw in drawn])) for labels in run.labels]
    watch = Stopwatch()
    birch = Birch(threshold=1.0, n_clusters=None).fit(points)
    tree = ward(birch.subcluster_centers_)
    seconds = watch.text()
    for count in sorted({10, *counts}):
        cut = fcluster(tree, count, "maxclust")[birch.labels_]
        show("BIRCH + Ward", f"cut at {count}", classes, [cut], seconds)
        seconds = " | "
    for selection in ("eom", "leaf"):
        watch = Stopwatch()
        found = HDBSCAN(min_cluster_size=max(5, len(points) // 200), cluster_selection_method=selection, copy=True)
        found.fit(points)
        noise = np.mean(found.labels_ < 0)
        what = f"condensed tree, {selection}; {noise:.0%} noise, as one cluster"
        show("HDBSCAN", what, classes, [found.labels_], watch.text())
    print(f"\nR-hat: entropy of level 1 {rhats['entropy_1'] or 1:.2f}, components {rhats['components'] or 1:.2f}")


if sys.argv[1:2] == ["full"]:
    full(int(sys.argv[2]) if len(sys.argv) > 2 else 60_000, sys.argv[3:])
else:
    PROTOCOL.main()
