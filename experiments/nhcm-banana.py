"""Clusters of sub-clusters on two bananas: the exact sampler with both priors, the published one, and the
Dirichlet-process mixture with the same prior, for ten sweeps as published and for a long run; then two sets of real data
with the priors of the tool. Per run: clusters and sub-clusters found, agreement with the truth at both levels, log predictive
density of rows held out; all are means over the second half of the sweeps.

Usage: nhcm-banana.py [SEEDS] [DATASET...]; nhcm-banana.py table prints what is known so far and draws the figures. Runs that
are already in build/experiments/nhcm-banana.csv are not repeated: delete the file to start from scratch."""

import csv
import sys

import numpy as np
from shared import common

# r and s, the radius of the arcs and the noise around them.
BANANAS = {"r=5 s=0.3": (5, 0.3), "r=5 s=1": (5, 1), "r=1 s=0.3": (1, 0.3)}
REAL = {"aggregation": 20, "s1": 20}  # and how many seeds at most
PAPER = ["--set", "mean_strength=1", "--set", "dof=5", "--set", "scale=1"]
# name: model, options, sweeps of the long run (the published sampler takes eighty times longer for each)
MODELS = {
    "global": ("nhcm", [], 1000),
    "nested": ("nhcm", ["--nesting", "nested"], 1000),
    "published": ("nhcm", ["--sampler", "published"], 100),
    "dpm": ("nrmm", ["--family", "gaussian", "--alpha", "1"], 1000),
    "dpm, gibbs": (
        "nrmm",
        ["--family", "gaussian", "--alpha", "1", "--sampler", "gibbs", "--init", "sequential"],
        1000,
    ),
}
MEASURES = ["clusters", "subclusters", "ari_1", "ari_2", "held_out", "log_joint"]
# What exact samplers of these models have been found to have, by prototypes over ten seeds: clusters, sub-clusters.
REFERENCE = {
    ("r=5 s=0.3", 10): {"global": (6.1, 8.6), "nested": (5.9, 15.3), "dpm, gibbs": (2.9, None)},
    ("r=5 s=0.3", 1000): {"global": (7.2, 9.3), "nested": (6.3, 14.6), "dpm": (6.0, None)},
    ("r=5 s=1", 1000): {"global": (2.5, 11.7), "nested": (5.3, 21.8), "dpm": (5.9, None)},
    ("r=1 s=0.3", 1000): {"global": (2.7, 8.9), "nested": (4.5, 17.9), "dpm": (7.3, None)},
}
TOLERANCE = (0.6, 1.5)
TABLE = "nhcm-banana.csv"


def bananas(name, seed, folder):
    """Files of 400 rows to fit and 400 others, options to read them, and the arcs of the former."""
    radius, noise = BANANAS[name]
    paths = {}
    for part, number in (("train", seed), ("test", 1000 + seed)):
        paths[part] = f"{folder}/{part}.csv"
        common.coppice(
            "simulate",
            "bananas",
            "--n",
            400,
            "--radius",
            radius,
            "--noise",
            noise,
            "--seed",
            number,
            "-o",
            paths[part],
            "--truth-out",
            f"{folder}/{part}-truth.csv",
        )
    truth = np.array([row[1] for row in common.read_table(f"{folder}/train-truth.csv")[1]])
    return paths["train"], paths["test"], ["--id", "row"], truth


def real(name, seed, folder):
    header, rows = common.read_table(common.DATA / f"{name}.csv")
    train, test, kept = common.write_split(header, rows, seed, folder)
    truth = np.array([row[header.index("label")] for row in rows])[kept]
    return train, test, ["--truth", "label"], truth


def protocols(data):
    """(model, sweeps) of every run on one data set."""
    if data in BANANAS:
        return [(name, sweeps) for name, (_, _, long) in MODELS.items() for sweeps in (10, long)]
    return [(name, 1000) for name in ("global", "nested", "dpm")]


def fit(data, name, sweeps, seed, files, folder):
    model, options, _ = MODELS[name]
    train, _, reading, _ = files
    prior = PAPER if data in BANANAS else []
    half = ["--chains", 1, "--warmup", sweeps // 2, "--draws", sweeps - sweeps // 2, "--threads", 1, "--seed", seed]
    return common.fit(train, [*reading, *options, *prior, *half], folder, "run", model)


def measure(run, files):
    _, test, _, truth = files
    draws = range(0, len(run.labels[0]), max(1, len(run.labels[0]) // 100))
    ari = [np.mean([common.adjusted_rand(truth, level[draw]) for draw in draws]) for level in run.labels]
    flat = len(run.labels) == 1
    counts = [run.traces[name].mean() for name in (["clusters"] if flat else ["clusters_1", "clusters_2"])]
    nothing = float("nan")
    return {
        "clusters": counts[0],
        "subclusters": nothing if flat else counts[1],
        "ari_1": ari[0],
        "ari_2": nothing if flat else ari[1],
        "held_out": common.held_out(run.path, test).mean(),
        "log_joint": run.traces["log_joint"].mean(),
    }


def known_results():
    """(data, model, sweeps) -> seed -> measures."""
    known = {}
    path = common.OUT / TABLE
    if path.exists():
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                key = (row["data"], row["model"], int(row["sweeps"]))
                known.setdefault(key, {})[int(row["seed"])] = {name: float(row[name]) for name in MEASURES}
    return known


def files_of(data, seed, folder):
    return bananas(data, seed, folder) if data in BANANAS else real(data, seed, folder)


def run_all(names, seeds):
    known = known_results()
    with common.scratch() as folder, open(common.OUT / TABLE, "a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if file.tell() == 0:
            writer.writerow(["data", "model", "sweeps", "seed", *MEASURES])
        for data in names:
            if data in REAL and not (common.DATA / f"{data}.csv").exists():
                print(
                    f"skipped: there is no {common.DATA / f'{data}.csv'}; set COPPICE_DATA to the folder of data sets"
                )
                continue
            for seed in range(1, min(seeds, REAL.get(data, seeds)) + 1):
                files = files_of(data, seed, folder)
                for name, sweeps in protocols(data):
                    if seed in known.get((data, name, sweeps), {}):
                        continue
                    values = measure(fit(data, name, sweeps, seed, files, folder), files)
                    writer.writerow([data, name, sweeps, seed, *[f"{values[m]:.6g}" for m in MEASURES]])
                    file.flush()


def cell(results, name, digits):
    mean, error = common.mean_and_error([values[name] for values in results.values()])
    if np.isnan(mean):
        return "-"
    return f"{mean:.{digits}f}" if np.isnan(error) else f"{mean:.{digits}f} ± {error:.{digits}f}"


def tables(known):
    for data in dict.fromkeys(key[0] for key in known):
        print(f"\n**{data}**\n")
        print(
            "| model | sweeps | seeds | clusters | sub-clusters | ARI clusters | ARI sub-clusters | held-out log density | log joint |"
        )
        print("|---|---|---|---|---|---|---|---|---|")
        for name, sweeps in protocols(data):
            results = known.get((data, name, sweeps))
            if results:
                shown = [cell(results, m, digits) for m, digits in zip(MEASURES, (2, 2, 3, 3, 3, 0))]
                print(f"| {name} | {sweeps} | {len(results)} | " + " | ".join(shown) + " |")


def acceptance(known):
    print("\n| data | sweeps | model | what | reference | found | difference | within |")
    print("|---|---|---|---|---|---|---|---|")
    for (data, sweeps), models in REFERENCE.items():
        for name, reference in models.items():
            results = known.get((data, name, sweeps))
            if not results:
                continue
            for what, value, tolerance in zip(MEASURES, reference, TOLERANCE):
                if value is None:
                    continue
                mean, _ = common.mean_and_error([values[what] for values in results.values()])
                verdict = "yes" if abs(mean - value) <= tolerance else "**no**"
                print(
                    f"| {data} | {sweeps} | {name} | {what} | {value} | {cell(results, what, 2)} "
                    f"| {mean - value:+.2f} | {verdict} (± {tolerance}) |"
                )


def expected_covariance(points, subs, prior_mean, strength, dof, scale, spread):
    """Posterior mean of the covariance that the sub-clusters of one cluster share."""
    d = points.shape[1]
    psi = scale.copy()
    weights, means = [], []
    for sub in np.unique(subs):
        own = points[subs == sub]
        means.append(own.mean(0))
        weights.append(len(own) / (1 + spread * len(own)))
        psi += (own - means[-1]).T @ (own - means[-1])
    weights, means = np.array(weights), np.array(means)
    center = weights @ means / weights.sum()
    psi += (means - center).T @ ((means - center) * weights[:, None])
    pull = strength * weights.sum() / (strength + weights.sum())
    psi += pull * np.outer(center - prior_mean, center - prior_mean)
    return psi / (dof + len(points) - d - 1)


def ellipse(center, covariance, color):
    from matplotlib.patches import Ellipse

    values, vectors = np.linalg.eigh(covariance)
    angle = np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))
    return Ellipse(center, *(4 * np.sqrt(values[::-1])), angle=angle, edgecolor=color, facecolor="none", linewidth=1)


def draw_clusters(axis, points, clusters, subs, prior):
    from matplotlib import pyplot

    colors = pyplot.get_cmap("tab20")
    order = np.argsort(-np.bincount(clusters))
    for rank, cluster in enumerate(order):
        rows = clusters == cluster
        color = colors((2 * rank) % 20 + (rank // 10) % 2)
        axis.plot(*points[rows].T, ".", color=color, markersize=2.5, alpha=0.6)
        covariance = expected_covariance(points[rows], subs[rows], *prior)
        for sub in np.unique(subs[rows]):
            axis.add_patch(ellipse(points[subs == sub].mean(0), covariance, color))
    axis.set_xticks([])
    axis.set_yticks([])
    axis.set_aspect("equal", adjustable="datalim")


def prior_of(data, points, spread):
    """Prior mean, mean strength, degrees of freedom, scale, spread of the fits."""
    if data in BANANAS:
        return points.mean(0), 1.0, 5.0, np.eye(2), spread
    return points.mean(0), 0.05, 4.0, np.diag(0.25 * points.var(0, ddof=1)), spread


def figure_of_clusters(names):
    """The draw of highest joint density of the long run of the first seed, by data and model."""
    from matplotlib import pyplot

    shown = ["global", "nested", "published", "dpm"]
    picture, axes = pyplot.subplots(
        len(names), len(shown), figsize=(11, 2.7 * len(names)), layout="constrained", squeeze=False
    )
    with common.scratch() as folder:
        for line, data in zip(axes, names):
            files = files_of(data, 1, folder)
            header, rows = common.read_table(files[0])
            columns = [header.index("x"), header.index("y")]
            points = np.array([[float(row[j]) for j in columns] for row in rows])
            for axis, name in zip(line, shown):
                sweeps = dict(protocols(data)).get(name)
                if sweeps is None:
                    axis.axis("off")
                    continue
                run = fit(data, name, sweeps, 1, files, folder)
                best = int(np.argmax(run.traces["log_joint"]))
                clusters, subs = run.labels[0][best], run.labels[-1][best]
                draw_clusters(axis, points, clusters, subs, prior_of(data, points, 0.0 if name == "dpm" else 3.0))
                parts = f"{clusters.max() + 1} clusters"
                if len(run.labels) > 1:
                    parts += f", {subs.max() + 1} sub-clusters"
                axis.set_title(f"{data}, {name}: {parts}", fontsize=7)
    save(picture, "nhcm-clusters.png")


def figure_of_counts(known):
    from matplotlib import pyplot

    names = [data for data in BANANAS if any(key[0] == data for key in known)]
    if not names:
        return
    picture, axes = pyplot.subplots(
        1, len(names), figsize=(3.7 * len(names), 3.2), layout="constrained", sharey=True, squeeze=False
    )
    bars = [(name, sweeps) for name in MODELS for sweeps in (10, MODELS[name][2])]
    for axis, data in zip(axes[0], names):
        for position, (name, sweeps) in enumerate(bars):
            results = known.get((data, name, sweeps))
            if not results:
                continue
            for what, width, color in (("subclusters", 0.8, "#a6cee3"), ("clusters", 0.5, "#1f78b4")):
                mean, error = common.mean_and_error([values[what] for values in results.values()])
                if np.isfinite(mean):
                    axis.bar(
                        position,
                        mean,
                        width,
                        yerr=error,
                        color=color,
                        capsize=2,
                        error_kw={"linewidth": 0.8},
                        label=what.replace("sub", "sub-") if position == 0 else None,
                    )
        axis.set_xticks(range(len(bars)), [f"{name}, {sweeps}" for name, sweeps in bars], rotation=90, fontsize=7)
        axis.set_title(f"bananas, {data}", fontsize=9)
        axis.grid(axis="y", alpha=0.3)
    axes[0][0].set_ylabel("mean number found")
    axes[0][0].legend(fontsize=7)
    save(picture, "nhcm-counts.png")


def save(picture, name):
    from PIL import Image

    target = common.OUT / name
    picture.savefig(target, dpi=100)
    Image.open(target).convert("P", palette=Image.Palette.ADAPTIVE, colors=128).save(target, optimize=True)
    print(f"\nwrote {target}")


def main():
    import matplotlib

    matplotlib.use("Agg")
    arguments = sys.argv[1:]
    if arguments != ["table"]:
        seeds = int(arguments[0]) if arguments else 20
        names = arguments[1:] or [*BANANAS, *REAL]
        for name in names:
            if name not in BANANAS and name not in REAL:
                raise SystemExit(f"there is no data set '{name}'; there are: {', '.join([*BANANAS, *REAL])}")
        run_all(names, seeds)
    known = known_results()
    tables(known)
    acceptance(known)
    figure_of_counts(known)
    figure_of_clusters(list(dict.fromkeys(key[0] for key in known)))


if __name__ == "__main__":
    main()
