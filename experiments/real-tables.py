"""Default fits of everyday tables beside what a user would pick instead.

First the held-out log density of a row in original units, on paired splits: what defaults are chosen by. Whole rows of mixed tables follow. Then the
answer on the whole table: agreement with known labels, number of clusters, worst R-hat, seconds; labels are looked at last, nothing is chosen by them.

usage: real-tables.py [--splits N] [--only density|mixed|answers] [--methods 'NAME; ...'] [TABLE...]
A method "fit: OPTIONS" is nrmm with these options, "MODEL: OPTIONS" another model. Fits of splits have the fixed length of 4 x 1,500 sweeps, so that the clock has no influence.
Writes build/experiments/real-tables.json and prints Markdown. mclust takes part where R and its package are installed, lace where its package is."""

import argparse
import json
import shutil
import subprocess
import tempfile
import time
import warnings

import numpy as np
from shared import common
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.mixture import BayesianGaussianMixture
from sklearn.preprocessing import StandardScaler

# table: (file, column of known labels, columns that are not data)
TABLES = {
    "galaxies": ("galaxies.csv", None, ()),
    "faithful": ("faithful.csv", None, ()),
    "iris": ("iris.csv", "label", ()),
    "penguins, numeric": ("penguins.csv", "species", ("island", "sex")),
    "penguins": ("penguins.csv", "species", ()),
    "wine": ("wine.csv", "label", ()),
    "ecoli": ("uci_ecoli.csv", "label", ()),
    "sonar": ("sonar.csv", "label", ()),
    "wdbc": ("uci_wdbc.csv", "label", ()),
    "aggregation": ("aggregation.csv", "label", ()),
    "statlog": ("uci_statlog.csv", "label", ()),
    "zoo": ("zoo.csv", "label", ("name",)),
    "housevotes84": ("housevotes84.csv", "label", ()),
    "soybean": ("soybean.csv", "label", ()),
    "s1": ("s1.csv", "label", ()),
    "isolet300": ("isolet300.csv.gz", "label", ()),
}
# Tables with categories, counts or yes/no columns, whose whole rows are predicted.
MIXED = ("penguins", "zoo", "housevotes84", "soybean")
# Ours: model and options of fit.
OURS = {
    "default": ("nrmm",),
    "fixed": ("nrmm", "--hyper", "fixed"),
    "independent": ("nrmm", "--family", "gaussian-diagonal"),
    "no log scale": ("nrmm",),
    "crosscat": ("crosscat",),
}
DENSITY_METHODS = ("default", "fixed", "independent", "no log scale", "mclust", "bgm", "one normal")
MIXED_METHODS = ("default", "fixed", "crosscat", "lace")

MCLUST = """
suppressMessages(library(mclust))
a <- commandArgs(TRUE); train <- as.matrix(read.csv(a[1]))
fit <- Mclust(train, verbose = FALSE)
if (a[2] == "labels") {
  writeLines(as.character(fit$classification))
} else {
  test <- as.matrix(read.csv(a[2]))
  d <- dens(modelName = fit$modelName, data = test, parameters = fit$parameters, logarithm = TRUE)
  cat(fit$modelName, fit$G, "\\n"); writeLines(sprintf("%.10g", d))
}
"""


def run_mclust(folder, train, test):
    if shutil.which("Rscript") is None:
        return None
    script = f"{folder}/mclust.R"
    with open(script, "w", encoding="utf-8") as file:
        file.write(MCLUST)
    done = subprocess.run(["Rscript", script, train, test], capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else None


def run_lace(whole, kinds, held, seed):
    """Log densities of rows under lace, a peer for mixed tables: eight states of 1,000 sweeps. Its levels and rows must be
    those of the whole table, so the rows held out are there with empty cells."""
    try:
        import lace
        import pandas
    except ImportError:
        return None
    frame = pandas.DataFrame(
        {
            title: [
                None
                if cell in ("", "NA")
                else float(cell)
                if kind == "real"
                else int(cell)
                if kind == "count"
                else cell
                for cell in column
            ]
            for (title, kind), column in zip(kinds, zip(*whole, strict=True), strict=True)
        },
        index=[f"row {i}" for i in range(len(whole))],
    )
    for title, kind in kinds:
        frame[title] = frame[title].astype({"real": "float64", "count": "Int64"}.get(kind, "object"))
    fitted = frame.copy()
    fitted.iloc[held] = None
    fitted = fitted.astype(frame.dtypes.to_dict())
    engine = lace.Engine.from_df(fitted, lace.Codebook.from_df("table", frame), n_states=8, rng_seed=seed)
    engine.update(1000, quiet=True)
    return np.array(engine.logp(frame.iloc[held]))


def columns_of(name):
    """Header, rows and known labels of a table."""
    file, truth, no_data = TABLES[name]
    header, rows = common.read_table(common.DATA / file)
    labels = [row[header.index(truth)] for row in rows] if truth else None
    kept = [j for j, title in enumerate(header) if title != truth and title not in no_data]
    return [header[j] for j in kept], [[row[j] for j in kept] for row in rows], labels


def continuous(header, rows, folder):
    """The columns that coppice models as plain measurements: the others have no density to compare. Complete rows."""
    path = f"{folder}/all.csv"
    common.write_table(path, header, rows)
    book = common.coppice("codebook", path, "--json", "-q", parse="json")
    names = [c["name"] for c in book["columns"] if c["kind"] == "real" and c["hurdle"] is None]
    kept = [header.index(name) for name in names]
    chosen = [[row[j] for j in kept] for row in rows]
    return names, [row for row in chosen if all(cell not in ("", "NA") for cell in row)]


def log_density(method, folder, header, rows, kept, held):
    """Log densities of the rows held out, or None where the method fails."""
    train, test = f"{folder}/train.csv", f"{folder}/test.csv"
    common.write_table(train, header, [rows[i] for i in kept])
    common.write_table(test, header, [rows[i] for i in held])
    model, colon, options = method.partition(":")
    ours = ("nrmm" if model == "fit" else model, *options.split()) if colon else OURS.get(method)
    if ours is not None:
        # Kinds are those of the whole table, for every method.
        book = f"{folder}/codebook.toml"
        with open(book, "w", encoding="utf-8") as file:
            text = common.coppice("codebook", f"{folder}/table.csv", "-q", "-o", "-")
            file.write(text.replace('transform = "log"', "") if method == "no log scale" else text)
        run = f"{folder}/run.coppice"
        model, *options = ours
        common.coppice(
            "fit", model, train, *options, "--codebook", book, "--until", "length", "-q", "--overwrite", "-o", run
        )
        return common.held_out(run, test)
    fitted = np.array([[float(x) for x in rows[i]] for i in kept])
    new = np.array([[float(x) for x in rows[i]] for i in held])
    if method == "mclust":
        lines = run_mclust(folder, train, test)
        return np.array([float(x) for x in lines[1:]]) if lines else None
    scale = StandardScaler().fit(fitted)
    most = min(30, len(fitted) // 2) if method == "bgm" else 1
    mixture = BayesianGaussianMixture(
        n_components=most, weight_concentration_prior_type="dirichlet_process", max_iter=500, random_state=0
    ).fit(scale.transform(fitted))
    return mixture.score_samples(scale.transform(new)) - np.log(scale.scale_).sum()


def density(name, methods, splits, folder):
    header, rows, _ = columns_of(name)
    header, rows = continuous(header, rows, folder)
    if not header:
        return None
    common.write_table(f"{folder}/table.csv", header, rows)
    scores = {method: [] for method in methods}
    seconds = dict.fromkeys(methods, 0.0)
    for split in range(splits):
        kept, held = common.split_rows(header, rows, split)
        for method in methods:
            start = time.monotonic()
            values = log_density(method, folder, header, rows, kept, held)
            seconds[method] += time.monotonic() - start
            scores[method].append(float("nan") if values is None else float(np.mean(values)))
    return {"rows": len(rows), "columns": len(header), "scores": scores, "seconds": seconds}


def mixed(name, methods, splits, folder):
    """As density(), for all columns of a table: only complete rows are held out, of which every method says the same."""
    header, rows, _ = columns_of(name)
    common.write_table(f"{folder}/table.csv", header, rows)
    book = common.coppice("codebook", f"{folder}/table.csv", "--json", "-q", parse="json")
    kind_of = {c["name"]: c["kind"] for c in book["columns"]}
    kept_columns = [j for j, title in enumerate(header) if title in kind_of]
    header, rows = [header[j] for j in kept_columns], [[row[j] for j in kept_columns] for row in rows]
    kinds = [(title, kind_of[title]) for title in header]
    complete = {i for i, row in enumerate(rows) if all(cell not in ("", "NA") for cell in row)}
    scores = {method: [] for method in methods}
    seconds = dict.fromkeys(methods, 0.0)
    for split in range(splits):
        chosen = common.split_rows(header, rows, split)[1]
        held = np.array([i for i in chosen if i in complete])
        kept = np.setdiff1d(np.arange(len(rows)), held)
        for method in methods:
            start = time.monotonic()
            values = (
                run_lace(rows, kinds, held, split + 1)
                if method == "lace"
                else log_density(method, folder, header, rows, kept, held)
            )
            seconds[method] += time.monotonic() - start
            scores[method].append(float("nan") if values is None else float(np.mean(values)))
    return {"rows": len(rows), "columns": len(header), "scores": scores, "seconds": seconds}


def answers(name, folder):
    """What a default fit of the whole table says, and what others say."""
    header, rows, labels = columns_of(name)
    if labels is None:
        return None
    path, run = f"{folder}/whole.csv", f"{folder}/whole.coppice"
    common.write_table(path, header, rows)
    start = time.monotonic()
    common.coppice("fit", "nrmm", path, "-q", "--overwrite", "-o", run)
    out = {"seconds": time.monotonic() - start, "classes": len(set(labels)), "rows": len(rows)}
    summary = common.coppice("summary", run, "--json", parse="json")
    export = ("export", run, "--what", "consensus", "--to", "csv")
    found = [row[1] for row in common.coppice(*export, "--assign-all", parse="csv")[1:]]
    shown = {row[1] for row in common.coppice(*export, parse="csv")[1:]} - {"-1"}
    out["default"] = [common.adjusted_rand(labels, found), len(shown)]
    out["r_hat"] = max((t["rhat"] for t in summary["traces"] if t.get("rhat")), default=None)
    out["trusted"] = summary.get("trusted")
    numbers = np.array([[float(cell) if is_number(cell) else np.nan for cell in row] for row in rows])
    dummies = [numbers[:, j : j + 1] for j in range(len(header)) if np.isfinite(numbers[:, j]).mean() > 0.5]
    for j in range(len(header)):
        if np.isfinite(numbers[:, j]).mean() <= 0.5:
            dummies += [
                np.array([[float(row[j] == level)] for row in rows]) for level in sorted({row[j] for row in rows})
            ]
    table = np.hstack(dummies)
    table = StandardScaler().fit_transform(np.where(np.isfinite(table), table, np.nanmean(table, axis=0)))
    k = out["classes"]
    peers = {
        "bgm": lambda: BayesianGaussianMixture(
            n_components=min(30, len(rows) // 2) if k < 25 else 2 * k,
            weight_concentration_prior_type="dirichlet_process",
            max_iter=500,
            random_state=0,
        ).fit_predict(table),
        "hdbscan": lambda: HDBSCAN(min_cluster_size=max(5, len(rows) // 100)).fit_predict(table),
        "k-means, k given": lambda: KMeans(n_clusters=k, n_init=10, random_state=0).fit_predict(table),
    }
    common.write_table(f"{folder}/scaled.csv", [f"x{j}" for j in range(table.shape[1])], table.tolist())
    peers["mclust"] = lambda: run_mclust(folder, f"{folder}/scaled.csv", "labels")
    for peer, fit_peer in peers.items():
        try:
            labels_found = fit_peer()
        except ValueError:  # the peer gives up on this table
            labels_found = None
        out[peer] = (
            None if labels_found is None else [common.adjusted_rand(labels, labels_found), len(set(labels_found))]
        )
    return out


def is_number(text):
    try:
        return np.isfinite(float(text))
    except ValueError:
        return False


def show_density(name, result):
    base = np.array(result["scores"]["default"]) if "default" in result["scores"] else None
    cells = []
    for method, scores in result["scores"].items():
        mean = np.mean(scores)
        if method == "default" or base is None:
            cells.append(f"{mean:.3f}")
        else:
            difference = np.array(scores) - base
            cells.append(f"{np.mean(difference):+.3f} ± {np.std(difference, ddof=1) / np.sqrt(len(difference)):.3f}")
    print(f"| {name} | {result['rows']} x {result['columns']} | " + " | ".join(cells) + " |", flush=True)


def main():
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--only", choices=("density", "mixed", "answers"))
    parser.add_argument("--methods")
    parser.add_argument("tables", nargs="*")
    options = parser.parse_args()
    if not common.DATA.is_dir():
        raise SystemExit(f"the data folder {common.DATA} is not there (set COPPICE_DATA)")
    common.OUT.mkdir(parents=True, exist_ok=True)
    names = options.tables or list(TABLES)
    results = {"density": {}, "mixed": {}, "answers": {}}
    for part, judge, tables, usual in (
        ("density", density, names, DENSITY_METHODS),
        ("mixed", mixed, [name for name in names if name in MIXED], MIXED_METHODS),
    ):
        if options.only not in (None, part) or not tables:
            continue
        methods = [method.strip() for method in options.methods.split(";")] if options.methods else usual
        print("\n| table | size | " + " | ".join(methods) + " |")
        print("|---|---|" + "---|" * len(methods))
        for name in tables:
            with tempfile.TemporaryDirectory() as folder:
                result = judge(name, methods, options.splits, folder)
            if result is not None:
                results[part][name] = result
                show_density(name, result)
    if options.only in (None, "answers"):
        kinds = ("default", "mclust", "bgm", "hdbscan", "k-means, k given")
        print("\n| table | rows | classes | " + " | ".join(kinds) + " | worst R-hat | s |")
        print("|---|---|---|" + "---|" * (len(kinds) + 2))
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                result = answers(name, folder)
            if result is None:
                continue
            results["answers"][name] = result
            cells = [f"{result[kind][0]:.2f} / {result[kind][1]}" if result[kind] else "-" for kind in kinds]
            r_hat = f"{result['r_hat']:.2f}" if result["r_hat"] else "-"
            print(
                f"| {name} | {result['rows']} | {result['classes']} | "
                + " | ".join(cells)
                + f" | {r_hat} | {result['seconds']:.1f} |",
                flush=True,
            )
    with open(common.OUT / "real-tables.json", "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
