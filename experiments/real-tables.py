"""Default fits of everyday tables beside what a user would pick instead.

First the held-out log density of a row in original units, on paired splits: what defaults are chosen by. Then the answer on the whole table: agreement
with known labels, number of clusters, worst R-hat, seconds; labels are looked at last, nothing is chosen by them.

usage: real-tables.py [--splits N] [--only density|answers] [--methods 'NAME; ...'] [TABLE...]
A method "fit: OPTIONS" is coppice with these options.
Writes build/experiments/real-tables.json and prints Markdown. mclust takes part where R and its package are installed."""

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
# Ours: options of fit.
OURS = {
    "default": (),
    "fixed": ("--hyper", "fixed"),
    "independent": ("--family", "gaussian-diagonal"),
    "no log scale": (),
}
PEERS = ("mclust", "bgm", "one normal")

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
    ours = tuple(method[4:].split()) if method.startswith("fit:") else OURS.get(method)
    if ours is not None:
        # Kinds are those of the whole table, for every method.
        book = f"{folder}/codebook.toml"
        with open(book, "w", encoding="utf-8") as file:
            text = common.coppice("codebook", f"{folder}/numbers.csv", "-q", "-o", "-")
            file.write(text.replace('transform = "log"', "") if method == "no log scale" else text)
        run = f"{folder}/run.coppice"
        common.coppice("fit", "nrmm", train, *ours, "--codebook", book, "-q", "--overwrite", "-o", run)
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
    common.write_table(f"{folder}/numbers.csv", header, rows)
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
    found = [row[1] for row in common.coppice("export", run, "--what", "consensus", "--to", "csv", parse="csv")[1:]]
    out["default"] = [common.adjusted_rand(labels, found), len(set(found))]
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
    parser.add_argument("--only", choices=("density", "answers"))
    parser.add_argument("--methods", default=";".join((*OURS, *PEERS)))
    parser.add_argument("tables", nargs="*")
    options = parser.parse_args()
    if not common.DATA.is_dir():
        raise SystemExit(f"the data folder {common.DATA} is not there (set COPPICE_DATA)")
    common.OUT.mkdir(parents=True, exist_ok=True)
    names = options.tables or list(TABLES)
    methods = [method.strip() for method in options.methods.split(";")]
    results = {"density": {}, "answers": {}}
    if options.only != "answers":
        print("| table | size | " + " | ".join(methods) + " |")
        print("|---|---|" + "---|" * len(methods))
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                result = density(name, methods, options.splits, folder)
                if result is not None:
                    results["density"][name] = result
                    show_density(name, result)
    if options.only != "density":
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
