"""What the experiments share: running coppice, reading what it wrote, and the measures of a hierarchy."""

import csv
import gzip
import io
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

BINARY = os.environ.get("COPPICE_BIN", "build/release/coppice")
ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("COPPICE_DATA", ROOT / "../shared/data"))
OUT = ROOT / "build/experiments"


def coppice(*arguments, parse=None):
    """Runs coppice; its standard output, parsed as "json" or "csv" if asked for."""
    done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"coppice {' '.join(map(str, arguments))}\n{done.stderr}")
    if parse == "json":
        return json.loads(done.stdout)
    if parse == "csv":
        return list(csv.reader(io.StringIO(done.stdout)))
    return done.stdout


def read_table(path):
    """Header and rows (texts) of a CSV file, gzipped or not."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def write_table(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


class Run:
    """A finished fit: labels[level][draw, row] and traces[name][draw]."""

    def __init__(self, path):
        self.path = path
        table = coppice("export", path, "--what", "labels", "--to", "csv", parse="csv")
        values = np.array([[int(x) for x in row] for row in table[1:]])
        levels = values[:, 2].max()
        self.labels = [values[values[:, 2] == level][:, 3:] for level in range(1, levels + 1)]
        trace = coppice("export", path, "--what", "trace", "--to", "csv", parse="csv")
        columns = np.array([[float(x) for x in row] for row in trace[1:]])
        self.traces = {name: columns[:, i] for i, name in enumerate(trace[0])}
        self.chain = columns[:, 0].astype(int)

    def summary(self):
        return coppice("summary", self.path, "--json", parse="json")


def fit(data, options, folder, name, model="rbhmc"):
    path = f"{folder}/{name}.coppice"
    coppice("fit", model, data, *options, "-o", path, "--overwrite", "-q")
    return Run(path)


def held_out(run_path, test):
    """Log predictive densities of the rows of a file."""
    table = coppice("predict", run_path, test, parse="csv")
    column = table[0].index("log_density")
    return np.array([float(row[column]) for row in table[1:]])


def split_rows(header, rows, seed, share=0.2):
    """Row numbers kept for the fit and held out."""
    order = np.random.default_rng(seed).permutation(len(rows))
    held = max(1, round(share * len(rows)))
    return np.sort(order[held:]), np.sort(order[:held])


def write_split(header, rows, seed, folder):
    """Writes the rows kept and those held out as two files; their paths and the numbers of the rows kept."""
    kept, held = split_rows(header, rows, seed)
    train, test = f"{folder}/train.csv", f"{folder}/test.csv"
    write_table(train, header, [rows[i] for i in kept])
    write_table(test, header, [rows[i] for i in held])
    return train, test, kept


def contingency(truth, found):
    truth = np.unique(truth, return_inverse=True)[1]
    found = np.unique(found, return_inverse=True)[1]
    table = np.zeros((truth.max() + 1, found.max() + 1))
    np.add.at(table, (truth, found), 1)
    return table


def f_measure(truth, found):
    """sum_i n_i / N max_j 2 prec rec / (prec + rec)."""
    table = contingency(truth, found)
    best = 2 * table / (table.sum(1, keepdims=True) + table.sum(0, keepdims=True))
    return float((table.sum(1) / table.sum() * best.max(1)).sum())


def adjusted_rand(truth, found):
    table = contingency(truth, found)

    def pairs(x):
        return (x * (x - 1) / 2).sum()

    together, rows, columns = pairs(table), pairs(table.sum(1)), pairs(table.sum(0))
    expected = rows * columns / max(pairs(np.array([table.sum()])), 1)
    largest = (rows + columns) / 2
    return float((together - expected) / (largest - expected)) if largest != expected else 1.0


def distances(features, levels):
    """AID and AOD of one tree: its labels per level, coarsest first."""
    within, between = [], []
    parent = np.zeros(len(features), int)
    for labels in levels:
        centroid = {}
        for node in np.unique(labels):
            members = features[labels == node]
            center = members.mean(0)
            centroid[node] = (center, parent[labels == node][0])
            spread = ((members - center) ** 2).sum()
            within.append(2 * spread / (len(members) - 1) if len(members) > 1 else 0.0)
        nodes = list(centroid)
        for i, a in enumerate(nodes):
            for b in nodes[:i]:
                if centroid[a][1] == centroid[b][1]:
                    between.append(((centroid[a][0] - centroid[b][0]) ** 2).sum())
        parent = labels
    return float(np.mean(within)), float(np.mean(between)) if between else float("nan")


def mean_and_error(values):
    values = np.asarray([v for v in values if np.isfinite(v)], float)
    if len(values) < 2:
        return (float(values.mean()) if len(values) else float("nan")), float("nan")
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def scratch():
    OUT.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=OUT)
