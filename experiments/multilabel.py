"""The classifier of several labels against logistic regressions and chains of them, on data that it models, on blends
that it does not, and on two sets of real data; with labels and rows taken away; and in batches.

Usage: multilabel.py [SEEDS] [CLAIM...] with claims from a to e; multilabel.py table prints what is known so far. Runs that
are already in build/experiments/multilabel.csv are not repeated: delete the file to start from scratch.

a  few rows: micro and macro F1, ranking loss and log loss of every way to combine the experts, and of the baselines
b  labels removed at random
c  rows without any label beside a few with labels
d  processor seconds of a fit, for more and more labels; one-vs-rest has a threshold of a half there, and no folds
e  five batches, one after the other, against all rows at once"""

import csv
import gzip
import os
import resource
import sys
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")  # another gains regressions of this size nothing, and its time counts

import numpy as np
from scipy.sparse import csr_matrix
from shared import common
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, label_ranking_loss
from sklearn.model_selection import KFold
from sklearn.multioutput import ClassifierChain

TABLE = common.OUT / "multilabel.csv"
FIELDS = ["claim", "data", "setting", "seed", "model", "micro_f1", "macro_f1", "ranking_loss", "log_loss", "seconds"]
BNMC = {
    "bnmc": [],
    "bnmc product": ["--combine", "product", "--inputs", "features"],
    "bnmc mixture": ["--combine", "mixture", "--expert", "none"],
    "bnmc linear": ["--combine", "linear"],
}


# ---- data: features, labels (NaN: not known), kind of the features ----


def patterns(seed, rows, features=100, labels=20, groups=8):
    """Clusters with words and labels of their own, and a little of a linear rule: what the mixture assumes."""
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(features, 0.15), groups)
    chances = np.where(rng.uniform(size=(groups, labels)) < 0.25, 0.85, 0.05)
    group = rng.integers(groups, size=rows)
    x = np.stack([rng.multinomial(5 + rng.poisson(30), words[g]) for g in group])
    scaled = np.log1p(x)
    scaled = (scaled - scaled.mean(0)) / np.where(scaled.std(0) > 0, scaled.std(0), 1)
    rule = 0.5 * scaled @ (1.5 * rng.normal(size=(features, labels))) / np.sqrt(features)
    logit = np.log(chances[group] / (1 - chances[group])) + rule
    return x, (rng.uniform(size=logit.shape) < 1 / (1 + np.exp(-logit))).astype(float), "count"


def blends(seed, rows, features=200, labels=25, topics=10):
    """Rows about several things at once, each of which brings labels: no row has one cluster."""
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(features, 0.1), topics)
    chances = np.where(rng.uniform(size=(topics, labels)) < 0.12, 0.9, 0.015)
    shares = rng.dirichlet(np.full(topics, 0.2), rows)
    x = np.stack([rng.multinomial(5 + rng.poisson(60), share @ words) for share in shares])
    p = 1 - np.exp((shares > 0.2) @ np.log1p(-chances))
    return x, (rng.uniform(size=p.shape) < p).astype(float), "count"


def emotions():
    header, rows = common.read_table(common.DATA / "emotions.csv")
    labels = [i for i, name in enumerate(header) if name.startswith("label_")]
    features = [i for i, name in enumerate(header) if i not in labels and name != "split"]
    return (
        np.array([[float(row[i]) for i in features] for row in rows]),
        np.array([[float(row[i]) for i in labels] for row in rows]),
        "real",
    )


def bibtex():
    x, y = np.zeros((7395, 1836)), np.zeros((7395, 159))
    with gzip.open(common.DATA / "bibtex.svm.gz", "rt") as file:
        for row, line in enumerate(file):
            known, *cells = line.split()
            for label in known.split(","):
                y[row, int(label)] = 1
            for cell in cells:
                word, value = cell.split(":")
                x[row, int(word) - 1] = float(value)
    return x, y, "bits"


def split(x, y, seed, train, test):
    order = np.random.default_rng(1000 + seed).permutation(len(x))
    return x[order[:train]], y[order[:train]], x[order[train : train + test]], y[order[train : train + test]]


def write(path, x, y):
    header = [f"x{j}" for j in range(x.shape[1])] + [f"label_{c}" for c in range(y.shape[1])]
    cells = [[f"{v:g}" for v in row] + ["" if np.isnan(v) else f"{v:.0f}" for v in known] for row, known in zip(x, y)]
    common.write_table(path, header, cells)


# ---- models ----


def measures(y, p, threshold):
    p = np.clip(p, 1e-12, 1 - 1e-12)
    chosen = p >= threshold
    return {
        "micro_f1": f1_score(y, chosen, average="micro"),
        "macro_f1": f1_score(y, chosen, average="macro", zero_division=0),
        "ranking_loss": label_ranking_loss(y, p),
        "log_loss": -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p)),
    }


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_bnmc(name, x, y, x_test, y_test, seed, folder):
    write(f"{folder}/train.csv", x, y)
    write(f"{folder}/test.csv", x_test, y_test)
    begin = children_seconds()
    common.coppice(
        "fit",
        "bnmc",
        f"{folder}/train.csv",
        "--labels",
        "label_*",
        *BNMC[name],
        "--seed",
        seed,
        "-o",
        f"{folder}/run.coppice",
        "--overwrite",
        "-q",
    )
    seconds = children_seconds() - begin
    answer = common.coppice("score", f"{folder}/run.coppice", f"{folder}/test.csv", "--json", parse="json")
    return {**{name: answer[name] for name in ("micro_f1", "macro_f1", "ranking_loss", "log_loss")}, "seconds": seconds}


class Inputs:
    """As the linear experts have them: log counts, scaled; rows whose label is not known are left out label by label."""

    def __init__(self, x, kind):
        self.kind = kind
        z = np.log1p(x) if kind == "count" else x
        self.mean, self.scale = z.mean(0), np.where(z.std(0) > 0, z.std(0), 1)

    def __call__(self, x):
        if self.kind == "bits":
            return csr_matrix(x)
        return ((np.log1p(x) if self.kind == "count" else x) - self.mean) / self.scale


def fit_one_vs_rest(z, y):
    models = []
    for column in y.T:
        known = ~np.isnan(column)
        rate = (np.nansum(column) + 0.5) / (known.sum() + 1)
        varies = known.any() and 0 < column[known].sum() < known.sum()
        models.append(LogisticRegression(max_iter=1000).fit(z[known], column[known]) if varies else rate)
    return lambda new: np.column_stack(
        [np.full(len(new), m) if np.isscalar(m) else m.predict_proba(new)[:, 1] for m in models]
    )


def fit_chains(z, y, seed):
    known = np.nan_to_num(y)
    varies = (known.sum(0) > 0) & (known.sum(0) < len(known))
    rates = (known.sum(0) + 0.5) / (len(known) + 1)
    chains = [
        ClassifierChain(LogisticRegression(max_iter=1000), order="random", random_state=10 * seed + i).fit(
            z, known[:, varies]
        )
        for i in range(10)
    ]

    def predict(new):
        p = np.tile(rates, (len(new), 1))
        p[:, varies] = np.mean([chain.predict_proba(new) for chain in chains], 0)
        return p

    return predict


def run_baseline(name, x, y, x_test, y_test, kind, seed, folds):
    fit = {"one-vs-rest": fit_one_vs_rest, "chains": lambda z, known: fit_chains(z, known, seed)}[name]
    inputs = Inputs(x, kind)
    z = inputs(x)
    begin = time.process_time()
    predict = fit(z, y)
    seconds = time.process_time() - begin
    if folds == 0:
        return {**measures(y_test, predict(inputs(x_test)), 0.5), "seconds": seconds}
    held_out = np.zeros_like(y)
    for rest, part in KFold(folds, shuffle=True, random_state=seed).split(z):
        held_out[part] = fit(z[rest], y[rest])(z[part])
    known = ~np.isnan(y)
    candidates = np.quantile(held_out[known], np.linspace(0.5, 1, 200))
    best = max(candidates, key=lambda t: f1_score(y[known], held_out[known] >= t, zero_division=0))
    return {**measures(y_test, predict(inputs(x_test)), best), "seconds": seconds}


# ---- claims: (data, setting, models, rows) ----


def claim_a(seed):
    for rows in (100, 400):
        yield "patterns", f"{rows} rows", None, (*split(*patterns(seed, rows + 1000)[:2], seed, rows, 1000), "count")
        yield "blends", f"{rows} rows", None, (*split(*blends(seed, rows + 1000)[:2], seed, rows, 1000), "count")
    if (common.DATA / "emotions.csv").exists():
        yield "emotions", "391 rows", None, (*split(*emotions()[:2], seed, 391, 202), "real")


def claim_b(seed):
    x, y, x_test, y_test = split(*patterns(seed, 1400)[:2], seed, 400, 1000)
    for share in (0.0, 0.4, 0.8):
        known = np.where(np.random.default_rng(seed).uniform(size=y.shape) < share, np.nan, y)
        yield (
            "patterns",
            f"{share:.0%} removed",
            ["bnmc", "bnmc mixture", "one-vs-rest"],
            (x, known, x_test, y_test, "count"),
        )


def claim_c(seed):
    x, y, x_test, y_test = split(*patterns(seed, 1400)[:2], seed, 400, 1000)
    for unlabeled in (0, 350):
        known = np.vstack([y[:50], np.full((unlabeled, y.shape[1]), np.nan)])
        yield (
            "patterns",
            f"50 + {unlabeled} rows",
            ["bnmc", "bnmc mixture"],
            (x[: 50 + unlabeled], known, x_test, y_test, "count"),
        )


def claim_d(seed):
    for labels in (20, 100, 200):
        x, y, x_test, y_test = split(*patterns(seed, 2000, labels=labels, groups=20)[:2], seed, 1500, 500)
        yield "patterns", f"{labels} labels", ["bnmc", "bnmc mixture", "one-vs-rest"], (x, y, x_test, y_test, "count")
    if seed == 1 and (common.DATA / "bibtex.svm.gz").exists():
        x, y, _ = bibtex()
        yield (
            "bibtex",
            "159 labels",
            ["bnmc", "bnmc mixture", "one-vs-rest"],
            (x[:4880], y[:4880], x[4880:], y[4880:], "bits"),
        )


def in_batches(seed, folder):
    """Micro F1 of five batches one after the other; the run of all rows at once is among those of claim a."""
    x, y, x_test, y_test = split(*patterns(seed, 1400)[:2], seed, 400, 1000)
    write(f"{folder}/test.csv", x_test, y_test)
    for batch in range(5):
        rows = slice(80 * batch, 80 * (batch + 1))
        write(f"{folder}/part.csv", x[rows], y[rows])
        if batch == 0:
            common.coppice(
                "fit",
                "bnmc",
                f"{folder}/part.csv",
                "--labels",
                "label_*",
                "--seed",
                seed,
                "-o",
                f"{folder}/run.coppice",
                "--overwrite",
                "-q",
            )
        else:
            common.coppice("update", f"{folder}/run.coppice", f"{folder}/part.csv", "-q")
    answer = common.coppice("score", f"{folder}/run.coppice", f"{folder}/test.csv", "--json", parse="json")
    return {name: answer[name] for name in ("micro_f1", "macro_f1", "ranking_loss", "log_loss")}


# ---- the table ----


def known_rows():
    if not TABLE.exists():
        return []
    with open(TABLE, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def keep(row):
    fresh = not TABLE.exists()
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    with open(TABLE, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        if fresh:
            writer.writeheader()
        writer.writerow(row)


def print_table():
    groups = {}
    for row in known_rows():
        groups.setdefault(tuple(row[name] for name in ("claim", "data", "setting", "model")), []).append(row)
    print("| claim | data | setting | model | seeds | micro F1 | macro F1 | ranking loss | log loss | seconds |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for key in sorted(groups):
        cells = []
        for name in FIELDS[5:]:
            values = np.array([float(row[name]) for row in groups[key] if row[name]])
            error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
            cells.append(
                "-" if not len(values) else f"{values.mean():.3f}" + (f" ± {error:.3f}" if len(values) > 1 else "")
            )
        print("|", " | ".join([*key, str(len(groups[key])), *cells]), "|")


def main(arguments):
    if arguments[:1] == ["table"]:
        return print_table()
    seeds = int(arguments[0]) if arguments else 5
    claims = arguments[1:] or list("abcde")
    done = {tuple(row[name] for name in FIELDS[:5]) for row in known_rows()}
    # Chains take longer than all the others together: they come last.
    for is_slow, seed in [(is_slow, seed) for is_slow in (False, True) for seed in range(1, seeds + 1)]:
        for claim in claims:
            with tempfile.TemporaryDirectory() as folder:
                if claim == "e":
                    if not is_slow and ("e", "patterns", "400 rows in 5 batches", str(seed), "bnmc") not in done:
                        keep(
                            {
                                "claim": "e",
                                "data": "patterns",
                                "setting": "400 rows in 5 batches",
                                "seed": seed,
                                "model": "bnmc",
                                **in_batches(seed, folder),
                            }
                        )
                    continue
                for data, setting, models, rows in globals()[f"claim_{claim}"](seed):
                    for model in models or [*BNMC, "one-vs-rest", "chains"]:
                        if (model == "chains") != is_slow or (claim, data, setting, str(seed), model) in done:
                            continue
                        result = (
                            run_bnmc(model, *rows[:4], seed, folder)
                            if model in BNMC
                            else run_baseline(model, *rows, seed, 0 if claim == "d" else 3)
                        )
                        keep({"claim": claim, "data": data, "setting": setting, "seed": seed, "model": model, **result})
    print_table()
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
