"""Claims about views on synthetic tables: are they found (C1), what one-view models lose when there are several (C2), whether greedy,
randomized and sampled views predict equally well (C3), what they cost (C4) and how that grows with the columns (C5), and how many filtering
levels the randomized form needs (C6). Usage: cross-synthetic.py [SEEDS] [FOLDS of ten]. Writes build/experiments/cross-synthetic.json and
three pictures, prints tables."""

import json
import resource
import sys
import tempfile

import numpy as np
from shared import common

TRIALS = 50
MODELS = ("bhc", "nrmm", "bhcc", "bhcc-randomized", "crosscat")
SAMPLING = ("--chains", 1, "--warmup", 100, "--draws", 100, "--threads", 1)


def table_of_views(rows, sizes, components, draw_probabilities, generator):
    """Counts in views of the given numbers of columns: every view has its own balanced groups of the rows. Columns are shuffled; the truth is
    the view of each column."""
    columns, views = [], []
    for view, (size, groups) in enumerate(zip(sizes, components)):
        labels = generator.permutation(np.arange(rows) % groups)
        for _ in range(size):
            probabilities = draw_probabilities(groups)
            columns.append(generator.binomial(TRIALS, probabilities[labels]))
            views.append(view)
    order = generator.permutation(len(columns))
    return np.array(columns)[order].T, np.array(views)[order]


def example(seed, rows=100, scale=1.0):
    """Views of 30, 50, 50 and 70 columns (times scale) with 4, 5, 6 and 8 components."""
    generator = np.random.default_rng(seed)
    sizes = [max(1, round(size * scale)) for size in (30, 50, 50, 70)]
    return table_of_views(rows, sizes, (4, 5, 6, 8), lambda groups: generator.beta(0.5, 0.5, groups), generator)


def separated(views, seed, rows=100, columns=200):
    """Equal views whose four components are far apart in every column."""
    generator = np.random.default_rng(1000 * views + seed)
    sizes = [columns // views + (view < columns % views) for view in range(views)]
    return table_of_views(
        rows, sizes, [4] * views, lambda groups: generator.permutation([0.1, 0.37, 0.63, 0.9]), generator
    )


def adjusted_rand(a, b):
    pairs = lambda counts: (counts * (counts - 1) / 2).sum()
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)
    together, of_a, of_b = pairs(table), pairs(table.sum(1)), pairs(table.sum(0))
    expected = of_a * of_b / (len(a) * (len(a) - 1) / 2)
    return 1.0 if of_a == of_b == together else (together - expected) / ((of_a + of_b) / 2 - expected)


def write(folder, cells):
    """The table, and beside it a codebook: a column with few values would not be taken for counts of 50 trials."""
    path = f"{folder}/table.csv"
    names = [f"c{j}" for j in range(cells.shape[1])]
    common.write_table(path, names, cells.tolist())
    with open(f"{path}.toml", "w", encoding="utf-8") as file:
        for name in names:
            file.write(f'[[column]]\nname = "{name}"\nkind = "count"\nfamily = "binomial"\ntrials = {TRIALS}\n')
    return path


def fit_views(folder, path, model, *options):
    """Views of the columns in the order of the table, the rows' clusters in each, and seconds of CPU with reading."""
    run = f"{folder}/run.coppice"
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    common.coppice(
        "fit", model, path, "--codebook", f"{path}.toml", *options, "-o", run, "--overwrite", "-q", "--threads", 1
    )
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    answer = common.coppice("views", run, "--json", parse="json")
    return answer["views"], seconds


def labels_of(views, columns):
    labels = np.zeros(columns, dtype=int)
    for number, view in enumerate(views):
        for name in view["columns"]:
            labels[int(name[1:])] = number
    return labels


def crossvalidate(path, models, folds, *options):
    answer = common.coppice(
        "crossvalidate",
        path,
        "--codebook",
        f"{path}.toml",
        "--models",
        ",".join(models),
        "--folds",
        10,
        "--most-folds",
        folds,
        *SAMPLING,
        *options,
        "--json",
        "-q",
        parse="json",
    )
    return {entry["model"]: entry for entry in answer["models"]}


def recovery(seeds, folder, results):
    print(
        "\n| seed | bhcc, views | ARI of columns | bhcc --randomized, views | ARI of columns | without consolidation, views | ARI of columns |"
    )
    print("|---|---|---|---|---|---|---|")
    for seed in range(1, seeds + 1):
        cells, truth = example(seed)
        path = write(folder, cells)
        line = []
        for options in ((), ("--randomized",), ("--randomized", "--consolidate", "off")):
            views, _ = fit_views(folder, path, "bhcc", *options)
            line += [len(views), adjusted_rand(truth, labels_of(views, cells.shape[1]))]
        results.append(line)
        print(
            f"| {seed} | " + " | ".join(str(x) if isinstance(x, int) else f"{x:.3f}" for x in line) + " |", flush=True
        )


def accuracy(seeds, folds, folder, results):
    print("\n| views | model | log predictive | RMSE | mode right | fit, s | views found |")
    print("|---|---|---|---|---|---|---|")
    for views in (1, 2, 3, 4):
        gathered = {}
        for seed in range(1, seeds + 1):
            cells, _ = separated(views, seed)
            for model, entry in crossvalidate(write(folder, cells), MODELS, folds).items():
                for key in ("log_predictive", "rmse", "mode_accuracy", "fit_seconds", "views"):
                    gathered.setdefault(model, {}).setdefault(key, []).extend(
                        x for x in entry[key]["folds"] if x is not None
                    )
        results[views] = gathered
        for model, values in gathered.items():

            def shown(key, digits):
                x = values.get(key, [])
                if not x:
                    return "-"
                return (
                    f"{np.mean(x):.{digits}f} ({np.std(x, ddof=1) / len(x) ** 0.5:.{digits}f})"
                    if len(x) > 1
                    else f"{x[0]:.{digits}f}"
                )

            print(
                f"| {views} | {model} | {shown('log_predictive', 3)} | {shown('rmse', 2)} | {shown('mode_accuracy', 3)} | "
                f"{shown('fit_seconds', 2)} | {shown('views', 1)} |",
                flush=True,
            )


def growth(folder, results):
    print("\n| columns | bhcc --inner full, s | reuse, s | --randomized, s |")
    print("|---|---|---|---|")
    for columns in (50, 100, 200, 400, 800, 1600):
        cells, _ = example(7, scale=columns / 200)
        path = write(folder, cells)
        line = []
        for options, most in ((("--inner", "full"), 200), (("--inner", "reuse"), 400), (("--randomized",), 1600)):
            line.append(fit_views(folder, path, "bhcc", *options)[1] if columns <= most else None)
        results[columns] = line
        print(f"| {columns} | " + " | ".join("-" if x is None else f"{x:.2f}" for x in line) + " |", flush=True)


def slopes(results):
    for place, name in enumerate(("full", "reuse", "randomized")):
        points = [(columns, line[place]) for columns, line in results.items() if line[place] is not None]
        x, y = np.log(np.array(points, dtype=float)).T
        print(f"log-log slope of {name}: {np.polyfit(x, y, 1)[0]:.2f}")


def filtering(seeds, folder, results):
    models = ["bhcc"] + [f"bhcc-randomized:filter-levels={levels}" for levels in (1, 2, 3, 4, 6)]
    gathered = {}
    for seed in range(1, seeds + 1):
        cells, _ = example(seed)
        for model, entry in crossvalidate(write(folder, cells), models, 1).items():
            gathered.setdefault(model, []).append((entry["log_predictive"]["mean"], entry["views"]["mean"]))
    print("\n| model | log predictive | views |")
    print("|---|---|---|")
    for model, pairs in gathered.items():
        logs = [pair[0] for pair in pairs]
        views = [pair[1] for pair in pairs if pair[1] is not None]
        print(
            f"| {model} | {np.mean(logs):.3f} | {np.mean(views):.1f} |"
            if views
            else f"| {model} | {np.mean(logs):.3f} | - |"
        )
    results.update(gathered)


def draw(results):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with tempfile.TemporaryDirectory() as folder:
        cells, _ = example(1)
        views, _ = fit_views(folder, write(folder, cells), "bhcc")
    picture, axes = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
    axes[0].imshow(cells, aspect="auto", cmap="cividis", interpolation="nearest")
    axes[0].set_title("the table as it comes")
    parts, borders = [], []
    for view in views:
        columns = [int(name[1:]) for name in view["columns"]]
        rows = np.argsort(np.array(view["labels"]), kind="stable")
        parts.append(cells[np.ix_(rows, columns)])
        borders.append(len(columns))
    axes[1].imshow(np.hstack(parts), aspect="auto", cmap="cividis", interpolation="nearest")
    for border in np.cumsum(borders)[:-1]:
        axes[1].axvline(border - 0.5, color="white", linewidth=2)
    axes[1].set_title("its views, rows by cluster in each")
    for axis in axes:
        axis.set_xlabel("columns")
        axis.set_ylabel("rows")
    save(picture, "cross-heatmap.png")
    picture, axis = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
    for model in ("one cluster", *MODELS):
        axis.plot(
            [1, 2, 3, 4],
            [np.mean(results["accuracy"][views][model]["log_predictive"]) for views in (1, 2, 3, 4)],
            marker="o",
            label=model,
        )
    axis.set(xlabel="views in the data", ylabel="log predictive of a hidden cell", xticks=[1, 2, 3, 4])
    axis.legend(fontsize=8)
    save(picture, "cross-accuracy.png")
    picture, axis = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
    for place, name in enumerate(("full", "reuse", "randomized")):
        points = [(columns, line[place]) for columns, line in results["growth"].items() if line[place] is not None]
        axis.loglog(*zip(*points), marker="o", label=f"bhcc, {name}")
    axis.set(xlabel="columns", ylabel="CPU seconds, 100 rows")
    axis.legend(fontsize=8)
    save(picture, "cross-time.png")


def save(picture, name):
    picture.savefig(common.OUT / name, dpi=110)
    print(f"wrote {common.OUT / name}")


def main():
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    folds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    common.OUT.mkdir(parents=True, exist_ok=True)
    results = {"recovery": [], "accuracy": {}, "growth": {}, "filtering": {}}
    with tempfile.TemporaryDirectory() as folder:
        recovery(seeds, folder, results["recovery"])
        accuracy(seeds, folds, folder, results["accuracy"])
        growth(folder, results["growth"])
        slopes(results["growth"])
        filtering(seeds, folder, results["filtering"])
    (common.OUT / "cross-synthetic.json").write_text(json.dumps(results))
    draw(results)


if __name__ == "__main__":
    main()
