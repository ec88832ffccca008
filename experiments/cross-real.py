"""Cells held out of real tables: one-view and multi-view models on Sonar, Musk, Isolet and Arcene, the first 100 rows (in an order that a seed
decides) and some of the columns, Gaussian cells. Usage: cross-real.py [FOLDS of ten] [TABLE...]. Writes build/experiments/cross-real.json, prints a table."""

import json
import sys
import tempfile

import numpy as np
from shared import common

NO_DATA = {"label", "molecule_name", "conformation_name"}
# file, columns kept (evenly spaced ones of those with more than five values)
TABLES = {
    "sonar": ("sonar.csv", 60),
    "musk": ("musk1.csv", 100),
    "isolet": ("isolet300.csv.gz", 200),
    "arcene": ("arcene100x2000.csv", 200),
}
MODELS = ("bhc", "nrmm", "bhcc", "bhcc-randomized", "crosscat")


def table(name, rows=100, seed=1):
    file, kept = TABLES[name]
    header, cells = common.read_table(common.DATA / file)
    order = np.random.default_rng(seed).permutation(len(cells))[:rows]
    columns = [j for j, title in enumerate(header) if title not in NO_DATA and len({cells[i][j] for i in order}) > 5]
    if len(columns) > kept:
        columns = [columns[k * len(columns) // kept] for k in range(kept)]
    return [header[j] for j in columns], [[cells[i][j] for j in columns] for i in order]


def main():
    folds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    if not common.DATA.is_dir():
        raise SystemExit(f"the data folder {common.DATA} is not there (set COPPICE_DATA)")
    common.OUT.mkdir(parents=True, exist_ok=True)
    results = {}
    print("| table | model | log predictive | RMSE | fit, s | views |")
    print("|---|---|---|---|---|---|")
    for name in sys.argv[2:] or TABLES:
        header, cells = table(name)
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/{name}.csv"
            common.write_table(path, header, cells)
            answer = common.coppice(
                "crossvalidate",
                path,
                "--family",
                "gaussian-diagonal",
                "--models",
                ",".join(MODELS),
                "--folds",
                10,
                "--most-folds",
                folds,
                "--chains",
                1,
                "--warmup",
                200,
                "--draws",
                200,
                "--threads",
                1,
                "--json",
                "-q",
                parse="json",
            )
        results[name] = answer
        for entry in answer["models"]:

            def shown(key, digits):
                value = entry[key]
                if value["mean"] is None:
                    return "-"
                error = f" ({value['standard_error']:.{digits}f})" if value["standard_error"] is not None else ""
                return f"{value['mean']:.{digits}f}{error}"

            print(
                f"| {name}, {len(cells)} x {len(header)} | {entry['model']} | {shown('log_predictive', 3)} | {shown('rmse', 3)} | "
                f"{shown('fit_seconds', 2)} | {shown('views', 1)} |",
                flush=True,
            )
    (common.OUT / "cross-real.json").write_text(json.dumps(results))


if __name__ == "__main__":
    main()
