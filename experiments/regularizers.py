"""Which regularizer? Every data set, every setting, ten seeds: held-out log density, agreement with the classes
per level and at equal numbers of clusters, AID, AOD, size of the tree and R-hat, written as one table of means
and standard errors. The penalty is given as g = C eps0, with eps0 the root mean square of the features' length,
so that one grid serves all scales; that of infomax is the power C of its gates and the prior standard deviation
nu0 of the discriminants, that of evidence its power C. All hyper-parameters are fixed: `own` and `paper` cannot learn
them.

Usage: regularizers.py [SEEDS] [DATASET or SETTING...]; regularizers.py table prints what is known so far in
Markdown, regularizers.py bar compares infomax, evidence and `own` with the plain mixture, seed by seed, and
regularizers.py verdict judges each kind of reward. Runs that are already in build/experiments/regularizers.jsonl are
not repeated: delete the file to start from scratch."""

import json
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
    "infomax 1, nu0 1": ("infomax", 1.0, ["--discriminant-sd", "1"]),
    "infomax 1, nu0 2": ("infomax", 1.0, ["--discriminant-sd", "2"]),
    "infomax 2, nu0 .5": ("infomax", 2.0, ["--discriminant-sd", "0.5"]),
    "infomax 1, nu0 .5": ("infomax", 1.0, ["--discriminant-sd", "0.5"]),
    "infomax 1, nu0 5": ("infomax", 1.0, ["--discriminant-sd", "5"]),
    "infomax 1, nu0 learned": ("infomax", 1.0, ["--learn", "discriminant-sd"]),
    "infomax .5, nu0 1": ("infomax", 0.5, ["--discriminant-sd", "1"]),
    "infomax .5, nu0 5": ("infomax", 0.5, ["--discriminant-sd", "5"]),
    "infomax .3, nu0 20": ("infomax", 0.3, ["--discriminant-sd", "20"]),
    "infomax 1, nu0 1, halved": ("infomax", 1.0, ["--discriminant-sd", "1", "--level-powers", "1/2"]),
    "infomax 1, nu0 1, quartered": ("infomax", 1.0, ["--discriminant-sd", "1", "--level-powers", "1/4"]),
    "evidence 1": ("evidence", 1.0, []),
    "evidence 2": ("evidence", 2.0, []),
    "evidence 4": ("evidence", 4.0, []),
    "evidence 1, gibbs": ("evidence", 1.0, ["--path-update", "gibbs"]),
    "evidence 2, gibbs": ("evidence", 2.0, ["--path-update", "gibbs"]),
    "evidence 4, gibbs": ("evidence", 4.0, ["--path-update", "gibbs"]),
    "infomax 1, nu0 1, tempered": ("infomax", 1.0, ["--temperatures", "1,0.6,0.3"]),
    "infomax 1, nu0 1, gibbs": ("infomax", 1.0, ["--path-update", "gibbs"]),
    "centered .4 tempered": ("centered", 0.4, ["--intercept", "true", "--replicas", "3"]),
    "centered 1 tempered": ("centered", 1.0, ["--intercept", "true", "--replicas", "4"]),
}

# One kind of reward each: of its settings, the one that predicts best is judged.
KINDS = {
    "infomax, equal powers": lambda s: s.startswith("infomax") and not s.endswith(("halved", "quartered")),
    "infomax, falling powers": lambda s: s.startswith("infomax") and s.endswith(("halved", "quartered")),
    "evidence": lambda s: s.startswith("evidence"),
}


def falling_powers(extra, levels):
    """The factor from level to level as the list of powers that --level-powers takes."""
    factors = {"1/2": 0.5, "1/4": 0.25}
    return [",".join(str(factors[x] ** level) for level in range(levels)) if x in factors else x for x in extra]


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
        # One row has a ratio of 0 where all others have 2 or 3: held out, it would be a value that cannot occur.
        ratio = header.index("BH_HighLowRatio")
        rows = [row for row in rows if float(row[ratio]) != 0]
    return header, rows, levels, options


def leave_out_unseen_levels(train, test):
    """Of columns with few values, which the model may take for categories."""
    few = 10
    header, rows = common.read_table(test)
    seen = [set(column) for column in zip(*common.read_table(train)[1])]
    kept = ("name", "label")
    known = [lambda x, j=j: x in seen[j] or len(seen[j]) > few or header[j] in kept for j in range(len(header))]
    common.write_table(test, header, [[x if known[j](x) else "" for j, x in enumerate(row)] for row in rows])


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
    if name == "zoo":  # a number of legs that only a held-out animal has
        leave_out_unseen_levels(train, test)
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
    # Rewards have no margin, and their strength is a power.
    has_margin = regularizer not in ("infomax", "evidence")
    scale = ["--penalty", strength / margin, "--margin", margin] if has_margin else ["--penalty", strength]
    run = common.fit(
        train,
        [*base, "--hyper", "fixed", "--regularizer", regularizer, *scale, *falling_powers(extra, levels)],
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


LOG = common.OUT / "regularizers.jsonl"


def known_results():
    """Measures by data set, setting and seed."""
    known = {}
    for line in LOG.read_text().splitlines() if LOG.exists() else []:
        name, setting, seed, result = json.loads(line)
        known[name, setting, seed] = result
    return known


def values_of(known, name, setting):
    """Measures of all seeds, by seed."""
    return {seed: result for (a, b, seed), result in known.items() if (a, b) == (name, setting)}


def mean_of(results, measure_name):
    return common.mean_and_error([result[measure_name] for result in results.values()])


def print_table():
    """One block of rows for each data set; the standard error of the mean over seeds in brackets."""
    known = known_results()
    shown = ["held-out", "ARI at k", "F at k", "AID", "AOD", "R-hat 1"]
    for name in DATASETS:
        levels = DATASETS[name][1]
        first = next((result for (other, _, _), result in known.items() if other == name), None)
        if first is None:
            continue
        columns = [c for c in shown if c in first]
        print(f"\n| {name} | seeds | " + " | ".join(columns) + " | F per level | nodes per level |")
        print("|---" * (len(columns) + 4) + "|")
        for setting in SETTINGS:
            results = values_of(known, name, setting)
            if not results:
                continue
            cells = [str(len(results))]
            for column in columns:
                mean, error = mean_of(results, column)
                digits = 3 if abs(mean) < 10 else 1
                cells.append(f"{mean:.{digits}f} ({error:.{digits}f})")
            scores = (
                " ".join(f"{mean_of(results, f'F {level + 1}')[0]:.2f}" for level in range(levels))
                if "F 1" in first
                else "-"
            )
            nodes = " / ".join(f"{mean_of(results, f'nodes {level + 1}')[0]:.1f}" for level in range(levels))
            print(f"| {setting} | " + " | ".join(cells) + f" | {scores} | {nodes} |")


def differences(known, name, setting, measure_name, in_percent):
    """Differences to the plain mixture, one for each seed that both have."""
    plain, other = values_of(known, name, "bhmc"), values_of(known, name, setting)
    pairs = [(other[seed].get(measure_name), plain[seed].get(measure_name)) for seed in other if seed in plain]
    if not pairs or pairs[0][0] is None:
        return []
    return [100 * (a / b - 1) if in_percent else a - b for a, b in pairs]


def paired(known, name, setting, measure_name, in_percent):
    """Mean difference to the plain mixture with its standard error, as text."""
    values = differences(known, name, setting, measure_name, in_percent)
    if not values:
        return "-"
    mean, error = common.mean_and_error(values)
    digits = 1 if in_percent else 3
    return f"{mean:+.{digits}f}" + ("" if np.isnan(error) else f" ({error:.{digits}f})")


def chosen_setting(known, name, kind):
    """Of the settings of a kind run on most seeds, the one that predicts held-out rows best: no class is looked at."""
    seeds = {s: len(values_of(known, name, s)) for s in SETTINGS if KINDS[kind](s)}
    most = max(seeds.values())
    candidates = [s for s, count in seeds.items() if count == most and most > 0]
    return max(candidates, key=lambda s: mean_of(values_of(known, name, s), "held-out")[0], default=None)


def print_bar():
    """Rewards and `own` against the plain mixture. Stars mark the settings chosen, one of each kind."""
    known = known_results()
    measures = {"held-out": False, "ARI at k": False, "F at k": False, "AID": True, "AOD": True}
    print("| data | setting | seeds | held-out | ARI at k | F at k | AID, % | AOD, % | R-hat 1 | nodes, F of level 1 |")
    print("|---" * 10 + "|")
    for name in DATASETS:
        chosen = [chosen_setting(known, name, kind) for kind in KINDS]
        for setting in ["bhmc", "own .4", "paper .4", *(s for kind in KINDS for s in SETTINGS if KINDS[kind](s))]:
            results = values_of(known, name, setting)
            if not results:
                continue
            cells = [paired(known, name, setting, m, percent) for m, percent in measures.items()]
            if setting == "bhmc":
                cells = ["0"] * len(measures)
            cells += [f"{mean_of(results, 'R-hat 1')[0]:.2f}", f"{mean_of(results, 'nodes 1')[0]:.1f}"]
            if "F 1" in next(iter(results.values())):
                cells[-1] += f", {mean_of(results, 'F 1')[0]:.2f}"
            star = "*" if setting in chosen else ""
            print(f"| {name} | {setting}{star} | {len(results)} | " + " | ".join(cells) + " |")


def print_verdict():
    """The bar, item by item, for the chosen settings of each kind."""
    known = known_results()
    print(
        "| kind | ARI and F better by one error | worse by two | AID and AOD on animals, then fashion: gains next to "
        "own's | held-out within one error, or better | R-hat below 1.1 |"
    )
    print("|---" * 6 + "|")

    def mean_and_error(name, setting, measure_name, in_percent=False):
        mean, error = common.mean_and_error(differences(known, name, setting, measure_name, in_percent))
        return mean, 0.0 if np.isnan(error) else error

    for kind in KINDS:
        chosen = {name: chosen_setting(known, name, kind) for name in DATASETS}
        chosen = {name: setting for name, setting in chosen.items() if setting}
        labeled = [n for n in chosen if differences(known, n, chosen[n], "ARI at k", False)]
        scores = {n: [mean_and_error(n, chosen[n], m) for m in ("ARI at k", "F at k")] for n in labeled}
        better = [n for n in labeled if all(mean > 0 and mean >= error for mean, error in scores[n])]
        worse = [n for n in labeled if any(mean < 0 and mean <= -2 * error for mean, error in scores[n])]
        gains = []
        for name in ("animals33", "fashion100"):
            for measure_name, sign in (("AID", -1), ("AOD", 1)):
                own = sign * mean_and_error(name, "own .4", measure_name, True)[0]
                mine = sign * mean_and_error(name, chosen[name], measure_name, True)[0] if name in chosen else np.nan
                gains.append(f"{mine:.0f} of {own:.0f} %")
        density = {n: mean_and_error(n, chosen[n], "held-out") for n in chosen}
        predicts = [n for n, (mean, error) in density.items() if mean >= -error]
        mixes = [n for n in chosen if mean_of(values_of(known, n, chosen[n]), "R-hat 1")[0] < 1.1]

        def listed(names, among):
            return f"{len(names)} of {len(among)}" + (f": {', '.join(names)}" if names else "")

        cells = [
            listed(better, labeled),
            listed(worse, labeled),
            ", ".join(gains),
            listed(predicts, chosen),
            listed(mixes, chosen),
        ]
        print(f"| {kind} | " + " | ".join(cells) + " |")


def main():
    if sys.argv[1:] == ["table"]:
        print_table()
        return
    if sys.argv[1:] == ["bar"]:
        print_bar()
        return
    if sys.argv[1:] == ["verdict"]:
        print_verdict()
        return
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    names = [x for x in sys.argv[2:] if x in DATASETS] or list(DATASETS)
    settings = [x for x in sys.argv[2:] if x in SETTINGS] or list(SETTINGS)
    known = known_results()
    with common.scratch() as folder, open(LOG, "a") as log:
        # Seed by seed: what is there when time runs out is a complete, if smaller, study.
        for seed in range(1, seeds + 1):
            for name in names:
                scales = {}
                for setting in settings:
                    if (name, setting, seed) in known:
                        continue
                    result = {key: float(x) for key, x in measure(name, setting, seed, folder, scales).items()}
                    log.write(json.dumps([name, setting, seed, result]) + "\n")
                    log.flush()
                    print(name, setting, seed, {key: f"{x:.3f}" for key, x in result.items()}, flush=True)


if __name__ == "__main__":
    main()
