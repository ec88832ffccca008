"""The published protocol for BHMC and RBHMC on one data set: inner and outer distances over a grid of (C, eps0)
against the plain mixture, F-measure per level of the tree of highest (R)CDLL, sharpness of the co-clustering, and
traces, for the exact target (hinge), its centered form and the two published procedures (own, paper).

Laptop scale by default; `full` repeats it with 25,000 + 50,000 sweeps, 30 repeats and 15 chains. Writes a table in
Markdown to standard output and figures to build/experiments/."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from shared import common

REGULARIZERS = ["hinge", "own", "paper", "centered"]
COLORS = {"bhmc": "#777777", "hinge": "#0072b2", "own": "#e69f00", "paper": "#d55e00", "centered": "#009e73"}


class Protocol:
    def __init__(self, name, file, options, levels, penalties, margins, shown):
        self.name, self.levels, self.penalties, self.margins, self.shown = name, levels, penalties, margins, shown
        full = "full" in sys.argv[1:]
        self.warmup, self.draws, self.thin, self.repeats = (25000, 10000, 5, 30) if full else (2000, 800, 5, 5)
        self.data = common.DATA / file
        if not self.data.exists():
            raise SystemExit(f"{self.data} is not there: set COPPICE_DATA to the folder of data sets")
        self.options = [*options, "--truth", "label", "--levels", str(levels)]
        header, rows = common.read_table(self.data)
        self.classes = np.array([row[header.index("label")] for row in rows])
        self.features = None

    def run(self, folder, seed, penalty, margin, regularizer):
        run = common.fit(
            self.data,
            [
                *self.options,
                "--penalty",
                penalty,
                "--margin",
                margin,
                "--regularizer",
                regularizer,
                "--chains",
                "1",
                "--warmup",
                self.warmup,
                "--draws",
                self.draws,
                "--thin",
                self.thin,
                "--seed",
                seed,
            ],
            folder,
            "run",
        )
        if self.features is None:
            table = common.coppice("export", run.path, "--what", "data", "--to", "csv", parse="csv")
            self.features = np.array([[float(x) for x in row[1:]] for row in table[1:]])
        return run

    def measure(self, run):
        """Averages over the draws, and F of the tree of highest density."""
        step = max(1, len(run.labels[0]) // 200)
        draws = range(0, len(run.labels[0]), step)
        pairs = np.array([common.distances(self.features, [level[d] for level in run.labels]) for d in draws])
        best = int(np.argmax(run.traces["rcdll"]))
        sharp = []
        for level in run.labels:
            together = np.mean([level[d][:, None] == level[d] for d in draws], axis=0)
            upper = together[np.triu_indices(len(together), 1)]
            sharp.append(float(np.mean(4 * upper * (1 - upper))))
        return {
            "AID": pairs[:, 0].mean(),
            "AOD": np.nanmean(pairs[:, 1]) if np.isfinite(pairs[:, 1]).any() else np.nan,
            "single": float(np.mean(~np.isfinite(pairs[:, 1]))),
            "nodes": [run.traces[f"clusters_{l + 1}"].mean() for l in range(self.levels)],
            "F": [common.f_measure(self.classes, level[best]) for level in run.labels],
            "uncertainty": sharp,
        }

    def repeat(self, folder, penalty, margin, regularizer):
        return [
            self.measure(self.run(folder, seed, penalty, margin, regularizer)) for seed in range(1, self.repeats + 1)
        ]

    def line(self, name, results, plain):
        def cell(values, digits=2):
            mean, error = common.mean_and_error(values)
            return f"{mean:.{digits}f} ± {error:.{digits}f}"

        aid = [100 * (p["AID"] - r["AID"]) / p["AID"] for p, r in zip(plain, results)]
        aod = [100 * (r["AOD"] - p["AOD"]) / p["AOD"] for p, r in zip(plain, results)]
        nodes = " / ".join(f"{np.mean([r['nodes'][l] for r in results]):.1f}" for l in range(self.levels))
        scores = " ".join(f"{np.mean([r['F'][l] for r in results]):.2f}" for l in range(self.levels))
        uncertainty = np.mean([r["uncertainty"][0] for r in results])
        single = np.mean([r["single"] for r in results])
        print(
            f"| {name} | {cell([r['AID'] for r in results])} | {cell(aid, 1)} | {cell([r['AOD'] for r in results])} "
            f"| {cell(aod, 1)} | {nodes} | {scores} | {uncertainty:.2f} | {single:.2f} |",
            flush=True,
        )
        return np.mean(aid), np.nanmean(aod) if np.isfinite(aod).any() else np.nan

    def main(self):
        common.OUT.mkdir(parents=True, exist_ok=True)
        with common.scratch() as folder:
            print(
                f"{self.name}: {self.repeats} repeats of {self.warmup} + {self.draws * self.thin} sweeps, every "
                f"{self.thin}th kept. Gains in AID and AOD in percent of BHMC's.\n"
            )
            print(
                "| setting | AID | gain % | AOD | gain % | nodes per level | F per level | pairwise uncertainty, level 1 | single path |"
            )
            print("|---|---|---|---|---|---|---|---|---|")
            plain = self.repeat(folder, 0, 1, "hinge")
            self.line("BHMC", plain, plain)
            chosen = {"bhmc": plain}
            gains = {}
            for regularizer in REGULARIZERS:
                for penalty in self.penalties:
                    for margin in self.margins:
                        results = self.repeat(folder, penalty, margin, regularizer)
                        gain = self.line(f"{regularizer}, C = {penalty}, eps0 = {margin}", results, plain)
                        gains[regularizer, penalty, margin] = gain
                        if (penalty, margin) == self.shown:
                            chosen[regularizer] = results
            self.figure_of_gains(gains)
            self.figure_of_f(chosen)
            self.figure_of_coclustering(folder)

    def figure_of_gains(self, gains):
        figure, axes = plt.subplots(2, len(REGULARIZERS), figsize=(11, 5), layout="constrained")
        limit = max(5.0, np.nanmax(np.abs([value for gain in gains.values() for value in gain])))
        limit = min(limit, 60.0)
        for column, regularizer in enumerate(REGULARIZERS):
            for row, what in enumerate(["AID", "AOD"]):
                table = [[gains[regularizer, p, m][row] for p in self.penalties] for m in self.margins]
                image = axes[row, column].imshow(table, cmap="RdBu", vmin=-limit, vmax=limit, origin="lower")
                for (y, x), value in np.ndenumerate(np.array(table)):
                    axes[row, column].text(
                        x, y, "-" if np.isnan(value) else f"{value:.0f}", ha="center", va="center", fontsize=8
                    )
                axes[row, column].set_xticks(range(len(self.penalties)), self.penalties, fontsize=7)
                axes[row, column].set_yticks(range(len(self.margins)), self.margins, fontsize=7)
                axes[row, column].set_title(f"{regularizer}: gain in {what}, %", fontsize=9)
        figure.supxlabel("C")
        figure.supylabel("eps0")
        figure.colorbar(image, ax=axes, shrink=0.6)
        figure.savefig(common.OUT / f"{self.name}-gains.svg")

    def figure_of_f(self, chosen):
        figure, axis = plt.subplots(figsize=(7, 3.2), layout="constrained")
        names = list(chosen)
        for i, name in enumerate(names):
            for level in range(self.levels):
                values = [result["F"][level] for result in chosen[name]]
                x = level + 0.15 * (i - (len(names) - 1) / 2)
                axis.plot(
                    [x] * len(values),
                    values,
                    "o",
                    color=COLORS[name],
                    alpha=0.5,
                    markersize=4,
                    label=name if level == 0 else None,
                )
                axis.plot([x - 0.05, x + 0.05], [np.mean(values)] * 2, color=COLORS[name], linewidth=2)
        axis.set_xticks(range(self.levels), [f"level {l + 1}" for l in range(self.levels)])
        axis.set_ylabel("F-measure of the best draw")
        axis.legend(fontsize=8, ncols=len(names), loc="lower right")
        axis.set_title(f"{self.name}, (C, eps0) = {self.shown}", fontsize=10)
        figure.savefig(common.OUT / f"{self.name}-f.svg")

    def figure_of_coclustering(self, folder):
        settings = [("bhmc", 0, "hinge")] + [(r, self.shown[0], r) for r in REGULARIZERS]
        order = np.argsort(self.classes, kind="stable")
        figure, axes = plt.subplots(
            self.levels,
            len(settings),
            figsize=(2.1 * len(settings), 2.1 * self.levels),
            layout="constrained",
            squeeze=False,
        )
        trace_figure, trace_axes = plt.subplots(
            len(settings), 1, figsize=(8, 1.5 * len(settings)), sharex=True, layout="constrained"
        )
        for column, (name, penalty, regularizer) in enumerate(settings):
            run = self.run(folder, 1, penalty, self.shown[1], regularizer)
            for level, labels in enumerate(run.labels):
                together = np.mean(labels[:, :, None] == labels[:, None, :], axis=0)[order][:, order]
                axes[level, column].imshow(together, cmap="Greys", vmin=0, vmax=1)
                axes[level, column].set_xticks([])
                axes[level, column].set_yticks([])
                if level == 0:
                    axes[level, column].set_title(name, fontsize=9)
            axes[0, column].set_title(name, fontsize=9)
            trace_axes[column].plot(run.traces["cdll"], linewidth=0.6, color="#777777", label="CDLL")
            trace_axes[column].plot(run.traces["rcdll"], linewidth=0.6, color=COLORS[name], label="RCDLL")
            trace_axes[column].set_ylabel(name, fontsize=8)
            trace_axes[column].legend(fontsize=6, loc="upper right")
        for level in range(self.levels):
            axes[level, 0].set_ylabel(f"level {level + 1}", fontsize=9)
        figure.savefig(common.OUT / f"{self.name}-coclustering.png", dpi=110)
        trace_figure.savefig(common.OUT / f"{self.name}-traces.svg")
