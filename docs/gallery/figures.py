"""Draws the figures of the gallery: runs the commands of each page in a folder of its own and draws from the files they leave.

usage: figures.py [PAGE...]   with the Python of an environment in which coppice and matplotlib are installed
"""

import csv
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from coppice._plots import PALETTE  # noqa: E402

import coppice  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "figures"
sys.path.insert(0, str(ROOT / "tools"))

import doc_blocks  # noqa: E402

plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "figure.dpi": 110})


def run_page(page, folder):
    """The files that the blocks of the page leave, and for Python pages what they define."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    text = page.read_text(encoding="utf-8")
    programs = pathlib.Path(sys.executable).parent  # where pip has put the program coppice
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    for code, _ in doc_blocks.blocks(text, "bash"):
        command = ["bash", "-euo", "pipefail", "-c", code]
        subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    names = {}
    os.chdir(folder)
    for code, _ in doc_blocks.blocks(text, "python"):
        exec(code, names)
    return names


def visitors(names):
    table = pd.read_csv("examples/mixed.csv", index_col="visitor")
    model = coppice.open("visitors.coppice")
    shown = {
        "kilometres_travelled": "kilometers traveled",
        "visits_last_year": "visits last year",
        "euros_spent": "euros spent",
        "minutes_stayed": "minutes stayed",
    }
    clusters = ["tourists", "families", "regulars"]
    fig, axes = plt.subplots(1, 4, figsize=(9, 2.9), layout="constrained")
    rng = np.random.default_rng(0)
    for ax, (column, words) in zip(axes, shown.items()):
        for cluster in range(len(clusters)):
            values = table[column][model.labels_ == cluster]
            ax.scatter(cluster + rng.uniform(-0.28, 0.28, len(values)), values, s=9, color=PALETTE[cluster], alpha=0.75)
            ax.hlines(values.median(), cluster - 0.35, cluster + 0.35, color="black", linewidth=1.5)
        ax.set(title=words, xticks=range(3), xticklabels=clusters)
        ax.tick_params(axis="x", rotation=25)
    axes[0].set_yscale("log")
    return fig


def density(names):
    runs = {"few": "about 3", "speeds": "default", "many": "about 10"}
    speeds = pd.read_csv("examples/speeds.csv")["speed"]
    grid = np.linspace(5, 38, 400)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.3), layout="constrained", width_ratios=(3, 2))
    left.hist(speeds, bins=np.arange(5, 38.5, 0.75), density=True, color="#dddddd")
    left.plot(speeds, np.full(len(speeds), -0.006), "|", color="#666666", markersize=7)
    for place, (name, words) in enumerate(runs.items()):
        model = coppice.open(f"{name}.coppice")
        curve = np.exp(model.score_samples(pd.DataFrame({"speed": grid})))
        left.plot(grid, curve, color=PALETTE[place], label=words, linewidth=(4.5, 2.6, 0.9)[place])
        counts = np.bincount(model.run_.traces()["clusters"].astype(int).ravel(), minlength=21)[:21]
        right.plot(
            range(21), counts / counts.sum(), "o-", markersize=3.5, color=PALETTE[place], label=f"posterior, {words}"
        )
        prior = model.run_.cluster_counts()[0]["prior"]
        right.plot([prior["q05"], prior["q95"]], [-0.02 * (place + 1)] * 2, color=PALETTE[place], linewidth=2)
        right.plot(prior["mean"], -0.02 * (place + 1), "s", color=PALETTE[place], markersize=4)
    left.set(xlabel="speed in 1000 km/s", ylabel="density", title="predictive density")
    left.legend(title="clusters expected", frameon=False)
    right.text(20, -0.088, "squares and bars: prior mean and 90 %", ha="right", va="center", fontsize=8)
    right.set(title="number of clusters", xlim=(0, 20.5), ylim=(-0.1, 0.28), yticks=np.arange(0, 0.3, 0.05))
    right.set_ylabel("probability")
    right.legend(frameon=False)
    return fig


def matrix(path):
    table = pd.read_csv(path, index_col=0)
    return table.to_numpy(), list(table.columns)


def animals(names):
    fig, axes = plt.subplots(1, 2, figsize=(9, 4.9), layout="constrained")
    model = coppice.open("animals.coppice")
    # Rows in the order of the reported clusters, finest level last.
    order = np.lexsort(model.level_labels_[::-1])
    for ax, level in zip(axes, (1, 3)):
        together, rows = matrix(f"level-{level}.csv")
        picture = ax.imshow(together[np.ix_(order, order)], cmap="Blues", vmin=0, vmax=1)
        ax.set(title=f"level {level}", xticks=[], yticks=range(len(rows)), yticklabels=[rows[k] for k in order])
        ax.tick_params(axis="y", labelsize=6.5, length=0)
    fig.colorbar(picture, ax=axes, shrink=0.8, label="probability of one cluster")
    return fig


def columns(names):
    together, labels = matrix("columns.csv")
    fig, ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
    picture = ax.imshow(together, cmap="Blues", vmin=0, vmax=1)
    ax.set(xticks=range(len(labels)), yticks=range(len(labels)), yticklabels=labels)
    ax.set_xticks(range(len(labels)), labels, rotation=40, ha="right")
    for i in range(len(labels)):
        for j in range(len(labels)):
            if i != j and together[i, j] >= 0.05:
                color = "white" if together[i, j] > 0.6 else "black"
                ax.text(j, i, f"{100 * together[i, j]:.0f}", ha="center", va="center", fontsize=7, color=color)
    fig.colorbar(picture, ax=ax, shrink=0.8, label="probability of one view (numbers: percent)")
    return fig


def labels(names):
    with open("new-tickets.csv", encoding="utf-8") as file:
        truth = list(csv.DictReader(file))
    with open("predicted.csv", encoding="utf-8") as file:
        predicted = list(csv.DictReader(file))
    names = [name for name in truth[0] if name.startswith("to_")]
    fig, ax = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
    ax.plot([0, 1], [0, 1], color="#999999", linewidth=1)
    known = np.array([[float(row[name]) for name in names] for row in truth]).ravel()
    said = np.array([[float(row[f"p_{name}"]) for name in names] for row in predicted]).ravel()
    bins = np.digitize(said, [0.05, 0.2, 0.4, 0.6, 0.8, 0.95])
    for b in np.unique(bins):
        here = bins == b
        share, count = known[here].mean(), here.sum()
        error = np.sqrt(max(share * (1 - share), 0.25 / count) / count)
        ax.errorbar(said[here].mean(), share, yerr=1.64 * error, fmt="o", color=PALETTE[0], capsize=2)
        ax.annotate(str(count), (said[here].mean(), share), xytext=(7, -9), textcoords="offset points", fontsize=8)
    ax.set(xlabel="predicted probability", ylabel="share that has the label", xlim=(-0.03, 1.03), ylim=(-0.06, 1.06))
    ax.set_title("new letters; numbers: predictions in the bin")
    return fig


def unusual(names):
    flowers, density, hidden = names["flowers"], names["density"], names["hidden"]
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.7), layout="constrained")
    colors = [PALETTE[k] for k in names["labels"]]
    left.scatter(flowers["sepal length (cm)"], flowers["sepal width (cm)"], s=14, c=colors, alpha=0.7)
    for k, row in enumerate(density.sort_values().index[:5]):
        x, y = flowers.loc[row, ["sepal length (cm)", "sepal width (cm)"]]
        left.plot(x, y, "o", markersize=11, markerfacecolor="none", color="black")
        left.annotate(row, (x, y), xytext=(8, 5 - 3 * (k % 2)), textcoords="offset points", fontsize=8)
    left.set(xlabel="sepal length in cm", ylabel="sepal width in cm", title="five flowers of lowest density")
    right.plot([0, 8], [0, 8], color="#999999", linewidth=1)
    for place, (column, cells) in enumerate(hidden.groupby("column")):
        error = [cells["mean"] - cells["low"], cells["high"] - cells["mean"]]
        words = column.removesuffix(" (cm)")
        right.errorbar(
            cells["truth"], cells["mean"], yerr=error, fmt="o", markersize=4, color=PALETTE[place], label=words
        )
    right.set(xlabel="measured, hidden from the fit", ylabel="imputed, with 90 % interval", title="hidden cells, cm")
    right.legend(frameon=False)
    return fig


def main(wanted):
    pages = {page.stem: page for page in sorted((ROOT / "docs" / "gallery").glob("*.md"))}
    for name in wanted or pages:
        with tempfile.TemporaryDirectory() as folder:
            names = run_page(pages[name], pathlib.Path(folder))
            figure = globals()[name](names)
            figure.savefig(FIGURES / f"gallery-{name}.png")
            os.chdir(ROOT)
        print(f"docs/figures/gallery-{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
