"""Many rows and four levels: rbhmc without a penalty and with evidence of splits, next to BIRCH + Ward and HDBSCAN.

Usage: rbhmc-large.py [ROWS] [--sweeps WARMUP,DRAWS] [--chains N] [--files SCORES.npy LABELS.npy] [--fits NAME...]
[--selections NAME...]. With files: the first ROWS rows of the scores with their classes, for example principal
components of images. Without: a stand-in of ten columns, drawn from Gaussians around 30 centers, three to each of ten
classes, which are in groups of three, three and four. Scores are standardized. F is against the classes and, for the
stand-in, against the groups and the parts as well. Behind the table is how well each class is found at each level of
the last draw: F of the node that fits it best."""

import argparse
import os
import resource
import time

import numpy as np
from shared import common

FITS = {
    "rbhmc, no penalty": ["--penalty", "0"],
    "rbhmc, evidence 2": ["--regularizer", "evidence", "--penalty", "2"],
    "rbhmc, evidence 4": ["--regularizer", "evidence", "--penalty", "4"],
}
LEVELS = 4
SHOWN = 5  # draws of the first chain: exporting all of them would take longer than the fit


def stand_in(rows):
    """Points of the stand-in with the classes, the groups of classes and the parts of classes."""
    rng = np.random.default_rng(7)
    columns = 10
    groups = np.repeat([0, 1, 2], [3, 3, 4])
    classes = 1.5 * rng.normal(size=(3, columns))[groups] + 0.9 * rng.normal(size=(len(groups), columns))
    centers = classes[:, None] + 0.5 * rng.normal(size=(len(groups), 3, columns))
    labels = rng.integers(len(groups), size=rows)
    parts = rng.integers(3, size=rows)
    return centers[labels, parts] + rng.normal(size=(rows, columns)), [labels, groups[labels], 3 * labels + parts]


def cpu_seconds():
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


class Stopwatch:
    """CPU and elapsed seconds."""

    def __init__(self):
        self.cpu, self.wall = cpu_seconds(), time.time()

    def text(self):
        return f"{cpu_seconds() - self.cpu:.0f} | {time.time() - self.wall:.0f}"


def show(method, what, truths, labels, seconds):
    classes = truths[0]
    scores = [
        (len(np.unique(x)), common.adjusted_rand(classes, x), *(common.f_measure(truth, x) for truth in truths))
        for x in labels
    ]
    clusters, *rest = np.mean(scores, axis=0)
    cells = " | ".join(f"{x:.3f}" for x in rest)
    print(f"| {method} | {what} | {clusters:.1f} | {cells} | {seconds} |", flush=True)


def labels_of_draw(run_path, draw):
    """Of all levels."""
    found = []
    for level in range(1, LEVELS + 1):
        what = ["--what", "labels", "--draw", draw, "--level", level]
        found.append([int(row[1]) for row in common.coppice("export", run_path, *what, parse="csv")[1:]])
    return np.array(found)


def best_f(classes, labels):
    """For every class F of the cluster that fits it best."""
    rows = [
        [
            2 * np.sum((classes == k) & (labels == c)) / (np.sum(classes == k) + np.sum(labels == c))
            for c in np.unique(labels)
        ]
        for k in np.unique(classes)
    ]
    return np.max(rows, axis=1)


def fit_and_show(method, options, path, sweeps, chains, truths, folder):
    """Fits, shows every level; the mean numbers of nodes and what there is to say about mixing."""
    warmup, draws = sweeps
    watch = Stopwatch()
    cpu = cpu_seconds()
    base = ["--truth", "label", "--levels", LEVELS, "--alpha", "0.2", "--gamma", "1.5", "--family", "gaussian-diagonal"]
    base += ["--chains", chains, "--threads", min(chains, os.cpu_count()), "--seed", "1"]
    base += ["--warmup", warmup, "--draws", draws]
    run_path = f"{folder}/large.coppice"
    common.coppice("fit", "rbhmc", path, *base, *options, "-o", run_path, "--overwrite", "-q")
    cpu = cpu_seconds() - cpu
    seconds = watch.text()
    shown = [labels_of_draw(run_path, int(draw)) for draw in np.linspace(0, draws - 1, SHOWN)]
    for level in range(LEVELS):
        show(method, f"level {level + 1}, mean of draws", truths, [labels[level] for labels in shown], seconds)
        seconds = " | "
    # Sweeps before the draws cost as much as those between them.
    share = draws / (warmup + draws)
    summary = common.coppice("diagnose", run_path, "--json", parse="json")
    trace = next(trace for trace in summary["traces"] if trace["name"] == "entropy_1")
    note = (
        f"{method}: {1000 * cpu / chains / (warmup + draws):.0f} ms of CPU a sweep; effective draws of the level-1 "
        f"entropy {trace['ess_bulk'] or 0:.1f}, {(trace['ess_bulk'] or 0) / (share * cpu):.2f} per CPU second; "
        f"R-hat {trace['rhat'] or np.nan:.2f}"
    )
    counts = [round(np.mean([len(np.unique(labels[level])) for labels in shown])) for level in range(LEVELS)]
    return counts, note, shown[-1]


def main():
    from scipy.cluster.hierarchy import fcluster, ward
    from sklearn.cluster import HDBSCAN, Birch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="?", type=int, default=60_000)
    parser.add_argument("--sweeps", default="100,100")
    parser.add_argument("--chains", type=int, default=1)
    parser.add_argument("--fits", nargs="*", default=list(FITS), help="which of the fits: all by default")
    parser.add_argument("--selections", nargs="*", default=["eom", "leaf"], help="of HDBSCAN's condensed tree")
    parser.add_argument("--files", nargs=2, metavar=("SCORES", "LABELS"))
    chosen = parser.parse_args()
    if chosen.files:
        points, truths = np.load(chosen.files[0])[: chosen.rows], [np.load(chosen.files[1])[: chosen.rows]]
    else:
        points, truths = stand_in(chosen.rows)
    points = (points - points.mean(0)) / points.std(0)
    source = "from files" if chosen.files else "a stand-in"
    print(f"{len(points)} rows, {source}, {chosen.chains} chains, sweeps {chosen.sweeps}\n")
    truth_names = ["F, classes", "F, groups", "F, parts"][: len(truths)]
    print("| method | partition | clusters | ARI, classes | " + " | ".join(truth_names) + " | CPU s | elapsed s |")
    print("|---" * (6 + len(truths)) + "|")
    counts, notes, last_draws = [], [], {}
    with common.scratch() as folder:
        path = f"{folder}/rows.csv"
        table = [[f"{x:.6g}" for x in point] + [f"c{k}"] for point, k in zip(points, truths[0])]
        common.write_table(path, [f"x{i}" for i in range(points.shape[1])] + ["label"], table)
        sweeps = [int(x) for x in chosen.sweeps.split(",")]
        for method in chosen.fits:
            found, note, last_draws[method] = fit_and_show(
                method, FITS[method], path, sweeps, chosen.chains, truths, folder
            )
            counts += found
            notes.append(note)
    watch = Stopwatch()
    birch = Birch(threshold=1.5, n_clusters=None).fit(points)
    tree = ward(birch.subcluster_centers_)
    seconds = watch.text()
    for count in sorted({3, 10, *counts}):
        show("BIRCH + Ward", f"cut at {count}", truths, [fcluster(tree, count, "maxclust")[birch.labels_]], seconds)
        seconds = " | "
    for selection in chosen.selections:
        watch = Stopwatch()
        found = HDBSCAN(min_cluster_size=max(5, len(points) // 200), cluster_selection_method=selection, copy=True)
        found.fit(points)
        noise = np.mean(found.labels_ < 0)
        what = f"condensed tree, {selection}; {noise:.0%} noise, as one cluster"
        show("HDBSCAN", what, truths, [found.labels_], watch.text())
    names = np.unique(truths[0])
    print("\n| method | level | " + " | ".join(f"class {name}" for name in names) + " |")
    print("|---" * (2 + len(names)) + "|")
    for method, levels in last_draws.items():
        for level, labels in enumerate(levels):
            cells = " | ".join(f"{x:.2f}" for x in best_f(truths[0], labels))
            print(f"| {method} | {level + 1} | {cells} |")
    print("\n" + "\n".join(notes))


main()
