"""Learned against fixed hyper-parameters: held-out rows of every model that learns them or chooses them by evidence.

The mean log density of a row that was held out, in original units, on paired splits of each table, with `--hyper fixed` and with the default. Kinds
of columns are those of the whole table, so that both see the same model. Nothing here looks at labels. nhcm takes complete numbers only: it gets the
measurements of a table, and the rows that have all of them.

usage: learned-priors.py [--splits N] [--models NAME,...] [--warmup N] [--draws N] [TABLE...]
Writes build/experiments/learned-priors.json and prints Markdown."""

import argparse
import json
import math

from shared import common

# table: (file, columns that are not data)
TABLES = {
    "zoo": ("zoo.csv", ("label", "name")),
    "penguins": ("penguins.csv", ("species",)),
    "housevotes84": ("housevotes84.csv", ("label",)),
    "soybean": ("soybean.csv", ("label",)),
    "wine": ("wine.csv", ("label",)),
    "ecoli": ("uci_ecoli.csv", ("label",)),
    "iris": ("iris.csv", ("label",)),
    "faithful": ("faithful.csv", ()),
}
GREEDY = ("bhc", "bhcc")
MODELS = ("crosscat", "rbhmc", "nhcm", *GREEDY)


def data_of(name, model, folder):
    """Header, rows and codebook of a table as the model takes it; None if nothing of it is left."""
    file, no_data = TABLES[name]
    header, rows = common.read_table(common.DATA / file)
    kept = [j for j, title in enumerate(header) if title not in no_data]
    header, rows = [header[j] for j in kept], [[row[j] for j in kept] for row in rows]
    if model == "nhcm":
        common.write_table(f"{folder}/all.csv", header, rows)
        book = common.coppice("codebook", f"{folder}/all.csv", "--json", "-q", parse="json")
        numbers = [header.index(c["name"]) for c in book["columns"] if c["kind"] == "real" and not c["hurdle"]]
        header = [header[j] for j in numbers]
        rows = [[row[j] for j in numbers] for row in rows]
        rows = [row for row in rows if all(cell not in ("", "NA", "?") for cell in row)]
        if not header:
            return None
    common.write_table(f"{folder}/table.csv", header, rows)
    with open(f"{folder}/codebook.toml", "w", encoding="utf-8") as file:
        file.write(common.coppice("codebook", f"{folder}/table.csv", "-q", "-o", "-"))
    return header, rows


def density(model, hyper, options, folder, train, test):
    run = f"{folder}/run.coppice"
    length = () if model in GREEDY else ("--chains", 2, "--warmup", options.warmup, "--draws", options.draws)
    codebook = ("--codebook", f"{folder}/codebook.toml")
    common.coppice("fit", model, train, *codebook, "--hyper", hyper, *length, "-q", "--overwrite", "-o", run)
    return float(common.held_out(run, test).mean())


def compare(model, name, options, folder):
    data = data_of(name, model, folder)
    if data is None:
        return None
    scores = {"fixed": [], "learned": []}
    for split in range(options.splits):
        train, test, _ = common.write_split(*data, split, folder)
        for hyper, values in scores.items():
            values.append(density(model, hyper, options, folder, train, test))
    return scores


def line(name, scores):
    # A level that a fit has not seen has no density: such a split says nothing of the difference.
    pairs = [(a, b) for a, b in zip(scores["fixed"], scores["learned"]) if math.isfinite(a) and math.isfinite(b)]
    if not pairs:
        return f"| {name} | - | - | - |"
    mean, error = common.mean_and_error([b - a for a, b in pairs])
    fixed = sum(a for a, _ in pairs) / len(pairs)
    left_out = len(scores["fixed"]) - len(pairs)
    note = f" ({len(pairs)} splits)" if left_out else ""
    return f"| {name} | {fixed:.3f} | {fixed + mean:.3f} | {mean:+.3f}, {error:.3f}{note} |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--warmup", type=int, default=250)
    parser.add_argument("--draws", type=int, default=250)
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    options = parser.parse_args()
    results = {}
    for model in options.models.split(","):
        print(f"\n{model}\n\n| table | fixed | learned | difference, its error over the splits |\n|---|---|---|---|")
        for name in options.tables:
            with common.scratch() as folder:
                scores = compare(model, name, options, folder)
            if scores is None:
                continue
            results.setdefault(model, {})[name] = scores
            print(line(name, scores), flush=True)
    common.OUT.mkdir(parents=True, exist_ok=True)
    with open(common.OUT / "learned-priors.json", "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
