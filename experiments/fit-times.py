"""How long default fits of everyday sizes take: simulated tables of 1,000 x 30 and 5,000 x 20, real columns alone and mixed ones.

Clusters have correlated columns (a few common factors), sizes that differ, and overlap; of mixed tables a third of the columns are categories,
yes/no columns and counts, one in eight real columns is skewed, and two cells in a hundred are missing. Each table is fitted with the default (until
the run can be trusted or its time is over) and with --until length (4 x 1,500 sweeps).

usage: fit-times.py [ROWSxCOLUMNS...]
Prints Markdown: seconds by the clock, processor seconds, clusters, worst R-hat."""

import os
import sys
import time

import numpy as np
from shared import common


def simulated(rows, columns, mixed, seed):
    """Header and rows (texts) of a table."""
    rng = np.random.default_rng(seed)
    clusters, factors = 8, 3
    cluster = rng.choice(clusters, rows, p=rng.dirichlet(np.full(clusters, 3.0)))
    discrete = columns // 3 if mixed else 0
    header, cells = [], []
    for j in range(columns - discrete):
        loads = 0.6 * rng.normal(size=(clusters, factors))
        center = 1.5 * rng.normal(size=clusters)
        if j == 0:
            common_factors = rng.normal(size=(rows, factors))
        values = center[cluster] + (loads[cluster] * common_factors).sum(1) + 0.7 * rng.normal(size=rows)
        if mixed and j % 8 == 7:
            values = np.exp(values)
        header.append(f"x{j + 1}")
        cells.append([f"{value:.4g}" for value in values])
    for j in range(discrete):
        header.append(f"d{j + 1}")
        if j % 3 == 2:
            rates = rng.gamma(1.5, 3.0, size=clusters)
            cells.append([str(value) for value in rng.poisson(rates[cluster])])
        else:
            levels = 2 + (3 + j % 4) * (j % 3)
            law = rng.dirichlet(np.full(levels, 0.6), size=clusters)
            drawn = (law[cluster].cumsum(1) < rng.random((rows, 1))).sum(1)
            cells.append([f"level{min(value, levels - 1) + 1}" for value in drawn])
    table = [list(row) for row in zip(*cells, strict=True)]
    for i, j in zip(*np.nonzero(mixed * rng.random((rows, columns)) > 0.98), strict=True):
        table[i][j] = ""
    return header, table


def main():
    sizes = [tuple(map(int, size.split("x"))) for size in sys.argv[1:]] or [(1000, 30), (5000, 20)]
    print("| table | columns | fit | s | CPU s | clusters | worst R-hat |\n|---|---|---|---|---|---|---|")
    for rows, columns in sizes:
        for mixed in (False, True):
            with common.scratch() as folder:
                path, run = f"{folder}/table.csv", f"{folder}/run.coppice"
                common.write_table(path, *simulated(rows, columns, mixed, 1))
                for name, options in (("default", ()), ("--until length", ("--until", "length"))):
                    start, before = time.monotonic(), os.times()
                    common.coppice("fit", "nrmm", path, *options, "-q", "--overwrite", "-o", run)
                    seconds, after = time.monotonic() - start, os.times()
                    cpu = after.children_user + after.children_system - before.children_user - before.children_system
                    summary = common.coppice("summary", run, "--json", parse="json")
                    r_hat = max((t["rhat"] for t in summary["traces"] if t.get("rhat")), default=float("nan"))
                    print(
                        f"| {rows} x {columns} | {'mixed' if mixed else 'real'} | {name} | {seconds:.1f} | {cpu:.1f} "
                        f"| {summary['clusters'][0]:.1f} | {r_hat:.2f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
