"""Gibbs, split-merge and tree-guided sampling of the same mixtures: log joint against CPU time from the same kind of start,
time to come within 1 nat per 1,000 rows of the best log joint known, the best partition found, effective draws per second. Usage: tree-guided.py
[SEEDS] [SCALE]; the budgets of CPU seconds below are multiplied by SCALE. Writes build/experiments/tree-guided.csv,
prints tables and draws build/experiments/tree-guided.png."""

import csv
import pathlib
import subprocess
import sys

import numpy as np
from shared import common

BENCH = common.ROOT / "build/release/bench/bench_guided"
# Data, CPU seconds for each chain.
DATA = [("toy1300", 1.0), ("toy10000", 6.0), (common.DATA / "s1.csv", 3.0), (common.DATA / "news800x100.csv", 4.0)]
STARTS = ["single", "guide"]
COLUMNS = (
    "seconds",
    "log_joint",
    "clusters",
    "ess_log_joint",
    "ess_clusters",
    "best_log_joint",
    "best_clusters",
    "best_ari",
)


def race(seeds, scale):
    subprocess.run(
        ["cmake", "--build", str(common.ROOT / "build/release"), "--target", "bench_guided"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    common.OUT.mkdir(parents=True, exist_ok=True)
    path = common.OUT / "tree-guided.csv"
    with open(path, "w", encoding="utf-8") as out:
        for start in STARTS:
            for data, seconds in DATA:
                if "/" in str(data) and not pathlib.Path(data).exists():
                    print(f"skipped: there is no {data}")
                    continue
                done = subprocess.run(
                    [BENCH, "race", str(seconds * scale), str(seeds), start, str(data)],
                    check=True,
                    capture_output=True,
                    text=True,
                )
                lines = done.stdout.splitlines()
                out.write("\n".join(lines if out.tell() == 0 else lines[1:]) + "\n")
                out.flush()
    return path


def load(path):
    """(data, start, sampler, seed) -> rows of COLUMNS; what is known at the end only stands in the last one."""
    chains = {}
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = (pathlib.Path(row["data"]).stem, row["init"], row["sampler"], int(row["seed"]))
            chains.setdefault(key, []).append([float(row[name] or "nan") for name in COLUMNS])
    return {key: np.array(rows) for key, rows in chains.items()}


def rows_of(data):
    if data.startswith("toy"):
        return int(data[3:])
    return sum(1 for _ in open(common.DATA / f"{data}.csv", encoding="utf-8")) - 1


def tables(chains):
    exact = ["gibbs", "split-merge", "tree-guided", "auto"]
    for data in dict.fromkeys(key[0] for key in chains):
        best = max(rows[-1, 5] for key, rows in chains.items() if key[0] == data and key[2] in exact)
        slack = rows_of(data) / 1000
        # What chains have in the second half of their time: equilibrium for those that got there, and the best of them.
        late = {}
        for (name, start, sampler, _), rows in chains.items():
            if name == data and sampler in exact:
                late.setdefault((start, sampler), []).append(np.median(rows[rows[:, 0] > rows[-1, 0] / 2, 1]))
        typical = max(np.median(values) for values in late.values())
        print(
            f"\n**{data}** ({rows_of(data)} rows): best log joint known {best:.1f}; best typical one {typical:.1f}; within {slack:.1f} of "
            "it counts as there.\n"
        )
        print(
            "| start | sampler | at the best | median s | at the typical | median s | last log joint, median (worst) | clusters | best partition: log joint | clusters | ARI (median chain) | eff. draws/s log joint | clusters |"
        )
        print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
        for start in dict.fromkeys(key[1] for key in chains):
            for sampler in exact + ["tree-guided-published"]:
                mine = [rows for key, rows in chains.items() if key[:3] == (data, start, sampler)]
                if not mine:
                    continue
                reached = []
                for level in (best, typical):
                    times = [rows[rows[:, 1] >= level - slack, 0] for rows in mine]
                    there = [t[0] for t in times if len(t)]
                    # The time of the median chain; it is only known if half of them got there.
                    median = sorted(there + [np.inf] * (len(mine) - len(there)))[(len(mine) - 1) // 2]
                    reached.append(f"{len(there)}/{len(mine)} | {'-' if np.isinf(median) else f'{median:.2g}'}")
                last = [rows[-1, 1] for rows in mine]
                speed = [
                    np.nanmedian(column) if np.isfinite(column).any() else np.nan
                    for column in np.array([rows[-1, 3:5] for rows in mine]).T
                ]
                # The partition of highest log joint of all seeds, and how well those of the chains agree with the known classes.
                found = max((rows[-1, 5:] for rows in mine), key=lambda values: values[0])
                print(
                    f"| {start} | {sampler} | {reached[0]} | {reached[1]} "
                    f"| {np.median(last):.1f} ({min(last):.1f}) | {np.mean([rows[-1, 2] for rows in mine]):.1f} "
                    f"| {found[0]:.1f} | {found[1]:.0f} | {found[2]:.3f} ({np.median([rows[-1, 7] for rows in mine]):.3f}) "
                    f"| {speed[0]:.0f} | {'constant' if np.isnan(speed[1]) else f'{speed[1]:.0f}'} |"
                )


def figure(chains):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = list(dict.fromkeys(key[0] for key in chains))
    samplers = list(dict.fromkeys(key[2] for key in chains))
    picture, axes = pyplot.subplots(1, len(names), figsize=(4 * len(names), 3.4), layout="constrained")
    for axis, data in zip(np.atleast_1d(axes), names):
        best = max(rows[:, 1].max() for key, rows in chains.items() if key[0] == data)
        for number, sampler in enumerate(samplers):
            for (name, start, kind, seed), rows in chains.items():
                if (name, start, kind) == (data, "single", sampler):
                    axis.plot(
                        rows[1:, 0],
                        np.maximum(best - rows[1:, 1], 0.3),
                        color=f"C{number}",
                        alpha=0.5,
                        linewidth=0.8,
                        label=sampler if seed == 1 else None,
                    )
        axis.set(xscale="log", yscale="log", title=data, xlabel="CPU seconds")
        axis.invert_yaxis()
        axis.grid(alpha=0.3)
    np.atleast_1d(axes)[0].set_ylabel("nats below the best log joint")
    np.atleast_1d(axes)[0].legend(fontsize=7)
    target = common.OUT / "tree-guided.png"
    picture.savefig(target, dpi=110)
    print(f"\nwrote {target}")


def main():
    if sys.argv[1:2] == ["table"]:
        chains = load(common.OUT / "tree-guided.csv")
    else:
        seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
        scale = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
        chains = load(race(seeds, scale))
    tables(chains)
    figure(chains)


if __name__ == "__main__":
    main()
