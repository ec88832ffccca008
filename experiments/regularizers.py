"""Which regularizer? Every data set, every setting, ten seeds: held-out log density, agreement with the classes
per level and at equal numbers of clusters, AID, AOD, size of the tree and R-hat, written as one table of means
and standard errors. The penalty is given as g = C eps0, with eps0 the root mean square of the features' length,
so that one grid serves all scales. Usage: regularizers.py [SEEDS] [DATASET...]; regularizers.py table prints what is known
so far in Markdown. Runs that are already in build/experiments/regularizers.csv are not repeated, and a row with fewer seeds than
requested only runs the missing ones: delete the file to start from scratch."""

import sys

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from shared import common

SETTINGS = {
    "bhmc": ("hinge", 0.0, []),
    "hinge .02": ("hinge", 0.02, []),
    "hinge .1": ("hinge", 0.1, []),
    "own .1": ("own", 0.1, []),
    "own .4": ("own", 0.4, []),
    "paper .1": ("paper", 0.1, []),
    "paper .4": ("paper", 0.4, []),
    "centered .1": ("centered", 0.1, ["--intercept", "true"]),
    "centered .4": ("centered", 0.4, ["--intercept", "true"]),
    "infomax .5": ("infomax", 0.5, []),
    "infomax 1": ("infomax", 1.0, []),
    "infomax 1 wide": ("infomax", 1.0, ["--discriminant-sd", "5"]),
    "infomax 1 learned": ("infomax", 1.0, ["--learn", "discriminant-sd"]),
    "centered .4 tempered": ("centered", 0.4, ["--intercept", "true", "--replicas", "3"]),
    "centered 1 tempered": ("centered", 1.0, ["--intercept", "true", "--replicas", "4"]),
}


def synthetic(name, seed):
    """Points around the leaves of a tree of centers; the class is the leaf."""
    rng = np.random.default_rng([seed, 5])
    children, rows, dimension = ((3, 3), 150, 4) if name == "nested9" else ((2, 2, 3), 240, 8)
    centers = np.zeros((1, dimension))
    spread = 4.0
    for count in children:
        centers = np.concatenate([center + spread * rng.normal(size=(count, dimension)) for center in centers])
        spread *= 0.6
    leaf = rng.integers(len(centers), size=rows)
    points = centers[leaf] + rng.normal(size=(rows, dimension))
    header = [f"x{i}" for i in range(dimension)] + ["label"]
    return header, [[f"{x:.6g}" for x in point] + [f"c{k}"] for point, k in zip(points, leaf)]


# name: file, levels, options of the data and family
DATASETS = {
    "animals33": (
        "animals33.csv",
        3,
        [
            "--id",
            "name",
            "--pca",
            "7",
            "--family",
            "gaussian-known",
            "--set",
            "noise_variance=1",
            "--set",
            "prior_mean=0",
            "--set",
            "prior_variance=1",
        ],
    ),
    "fashion100": (
        "fashion100.csv",
        4,
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
        ],
    ),
    "zoo": ("zoo.csv", 3, ["--id", "name"]),
    "iris": ("iris.csv", 3, ["--standardize", "--family", "gaussian-diagonal"]),
    "isolet300": ("isolet300.csv.gz", 3, ["--pca", "10", "--family", "gaussian-diagonal"]),
    "emotions": ("emotions.csv", 3, ["--standardize", "--pca", "10", "--family", "gaussian-diagonal"]),
    "nested9": (None, 3, ["--family", "gaussian-diagonal"]),
    "nested12": (None, 3, ["--family", "gaussian-diagonal"]),
}


def load(name, seed):
    file, levels, options = DATASETS[name]
    header, rows = synthetic(name, seed) if file is None else common.read_table(common.DATA / file)
    if name == "emotions":  # the label sets of several tags are no classes: only the features are used
        keep = [i for i, column in enumerate(header) if not column.startswith("label_") and column != "split"]
        header, rows = [header[i] for i in keep], [[row[i] for i in keep] for row in rows]
    return header, rows, levels, options


def length_of_features(run_path):
    """Root mean square length of the rows as the model sees them."""
    table = common.coppice("export", run_path, "--what", "data", "--to", "csv", parse="csv")
    values = []
    for row in table[1:]:
        values.append([float(x) if x not in ("", "NA") else np.nan for x in row[1:]])
    return np.nan_to_num(np.array(values))


def measure(name, setting, seed, folder, scales):
    header, rows, levels, options = load(name, seed)
    train, test, kept = common.write_split(header, rows, seed, folder)
    truth = ["--truth", "label"] if "label" in header else []
    regularizer, strength, extra = SETTINGS[setting]
    warmup, draws = (600, 300) if len(kept) < 160 else (300, 150)
    sweeps = ["--chains", "2", "--warmup", str(warmup), "--draws", str(draws), "--thin", "4", "--seed", str(seed)]
    base = [*options, *truth, "--levels", str(levels), *sweeps]
    if (name, seed) not in scales:
        common.coppice(
            "fit",
            "rbhmc",
            train,
            *options,
            *truth,
            "--levels",
            "1",
            "--chains",
            "1",
            "--warmup",
            "0",
            "--draws",
            "1",
            "--penalty",
            "0",
            "-o",
            f"{folder}/scale.coppice",
            "--overwrite",
            "-q",
        )
        features = length_of_features(f"{folder}/scale.coppice")
        scales[name, seed] = features
    features = scales[name, seed]
    margin = float(np.sqrt((features**2).sum(1).mean()))
    # Gates have no margin, and their strength is a power.
    scale = (
        ["--penalty", strength] if regularizer == "infomax" else ["--penalty", strength / margin, "--margin", margin]
    )
    run = common.fit(
        train,
        [*base, "--regularizer", regularizer, *scale, *extra],
        folder,
        "run",
    )
    result = {}
    result["held-out"] = common.held_out(run.path, test).mean()
    draws = range(0, len(run.labels[0]), 10)
    pairs = [common.distances(features, [level[draw] for level in run.labels]) for draw in draws]
    result["AID"] = np.mean([pair[0] for pair in pairs])
    result["AOD"] = np.nanmean([pair[1] for pair in pairs]) if np.isfinite([p[1] for p in pairs]).any() else np.nan
    for level in range(levels):
        result[f"nodes {level + 1}"] = run.traces[f"clusters_{level + 1}"].mean()
    result["components"] = run.traces["components"].mean()
    if truth:
        classes = np.array([row[header.index("label")] for row in rows])[kept]
        for level, labels in enumerate(run.labels):
            result[f"F {level + 1}"] = np.mean([common.f_measure(classes, labels[draw]) for draw in draws])
            result[f"ARI {level + 1}"] = np.mean([common.adjusted_rand(classes, labels[draw]) for draw in draws])
        together = np.mean(
            [[level[draw][:, None] == level[draw] for level in run.labels] for draw in draws], axis=(0, 1)
        )
        tree = linkage(squareform(1 - together, checks=False), "average")
        cut = fcluster(tree, len(np.unique(classes)), "maxclust")
        result["ARI at k"] = common.adjusted_rand(classes, cut)
        result["F at k"] = common.f_measure(classes, cut)
    summary = run.summary()
    rhats = {trace["name"]: trace["rhat"] for trace in summary["traces"]}
    result["R-hat 1"] = rhats.get("entropy_1") or float("nan")
    return result


def pool(known, fresh):
    """(mean, standard error, seeds) of two disjoint sets of seeds together."""
    n, m = known[2], fresh[2]
    mean = (n * known[0] + m * fresh[0]) / (n + m)
    squares = sum((group[2] - 1) * group[2] * group[1] ** 2 for group in (known, fresh) if group[2] > 1)
    squares += n * m / (n + m) * (known[0] - fresh[0]) ** 2
    return mean, float(np.sqrt(squares / (n + m - 1) / (n + m))), n + m


def known_results():
    """(mean, standard error, seeds) by data set, setting and measure; a later line replaces an earlier one."""
    known = {}
    path = common.OUT / "regularizers.csv"
    for line in path.read_text().splitlines() if path.exists() else []:
        name, setting, measure_name, mean, error, seeds = line.split(",")
        known[name, setting, measure_name] = (float(mean), float(error), int(seeds))
    return known


def print_table():
    """One block of rows for each data set; the standard error of the mean over seeds in brackets."""
    known = known_results()
    shown = ["held-out", "ARI at k", "F at k", "AID", "AOD", "R-hat 1"]
    for name in DATASETS:
        if not any(key[0] == name for key in known):
            continue
        levels = DATASETS[name][1]
        columns = [c for c in shown if (name, "bhmc", c) in known]
        print(f"\n| {name} | " + " | ".join(columns) + " | F per level | nodes per level |")
        print("|---" * (len(columns) + 3) + "|")
        for setting in SETTINGS:
            if (name, setting, "held-out") not in known:
                continue
            cells = []
            for column in columns:
                mean, error, _ = known[name, setting, column]
                digits = 3 if abs(mean) < 10 else 1
                cells.append(f"{mean:.{digits}f} ({error:.{digits}f})")
            scores = (
                " ".join(f"{known[name, setting, f'F {l + 1}'][0]:.2f}" for l in range(levels))
                if (name, setting, "F 1") in known
                else "-"
            )
            nodes = " / ".join(f"{known[name, setting, f'nodes {l + 1}'][0]:.1f}" for l in range(levels))
            print(f"| {setting} | " + " | ".join(cells) + f" | {scores} | {nodes} |")


def main():
    if sys.argv[1:] == ["table"]:
        print_table()
        return
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    names = sys.argv[2:] or list(DATASETS)
    known = known_results()
    with common.scratch() as folder, open(common.OUT / "regularizers.csv", "a") as log:
        for name in names:
            scales = {}
            for setting in SETTINGS:
                # The last measure that is written says which seeds are there.
                done = known[name, setting, "R-hat 1"][2] if (name, setting, "R-hat 1") in known else 0
                if done >= seeds:
                    continue
                results = [measure(name, setting, seed, folder, scales) for seed in range(done + 1, seeds + 1)]
                for measure_name in results[0]:
                    values = [result[measure_name] for result in results]
                    whole = (*common.mean_and_error(values), len(values))
                    if done > 0:
                        before = known[name, setting, measure_name]
                        # Half-written rows and means over fewer seeds than the line says (no siblings, no AOD).
                        if before[2] != done or not np.isfinite([*before, *values]).all():
                            raise SystemExit(
                                f"{name}, {setting}: {measure_name} has gaps; delete the lines of this setting"
                            )
                        whole = pool(before, whole)
                    print(
                        f"{name},{setting},{measure_name},{whole[0]:.4f},{whole[1]:.4f},{whole[2]}",
                        file=log,
                        flush=True,
                    )
                shown = {key: f"{np.nanmean([r[key] for r in results]):.3f}" for key in results[0]}
                print(name, setting, shown, flush=True)


if __name__ == "__main__":
    main()
