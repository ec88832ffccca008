"""Greedy trees beside SciPy's Ward linkage on the same tables, in processor seconds, and how they grow with the rows;
with --cross, trees of views: how long they take, what two threads gain, and how they grow with the columns.

    trees.py BENCH_TREES [WORKLOADS.py] [--cross]

The binary tables are W3a, W3b and W3d; W3c and W6 are measured if the file that makes them is given.
"""

import importlib.util
import subprocess
import sys
import tempfile
import time

import numpy as np
from scipy.cluster.hierarchy import linkage

PROGRAM = sys.argv[1]


def binary(seed, rows, columns, clusters):
    rng = np.random.RandomState(seed)
    probabilities = rng.beta(0.5, 0.5, size=(clusters, columns))
    labels = rng.choice(clusters, rows, p=rng.dirichlet(np.full(clusters, 10.0)))
    return (rng.uniform(size=(rows, columns)) < probabilities[labels]).astype(float)


def gaussian(seed, rows, columns, clusters):
    rng = np.random.RandomState(seed)
    centers = rng.uniform(-5, 5, size=(clusters, columns))
    return centers[rng.randint(clusters, size=rows)] + rng.normal(size=(rows, columns))


def ours(data, family, how, folder):
    np.save(f"{folder}/data.npy", data)
    repeats = 20 if len(data) <= 200 else 5 if len(data) <= 2000 else 2
    out = subprocess.run(
        [PROGRAM, f"{folder}/data.npy", family, how, str(repeats), "1", f"{folder}/labels.txt"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return float(out[0]), float(out[1]), int(out[2])


def agreement(a, b):
    """Adjusted Rand index of two clusterings."""
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)
    pairs = lambda counts: (counts * (counts - 1) / 2).sum()
    both, left, right = pairs(table), pairs(table.sum(1)), pairs(table.sum(0))
    chance = left * right / pairs(np.array(float(len(a))))
    return (both - chance) / ((left + right) / 2 - chance)


def workload_lines(path, folder):
    """W3c and W6 beside Ward, and the clusters that were found beside the true ones."""
    spec = importlib.util.spec_from_file_location("workloads", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("w3c", "w6"):
        data, truth = getattr(module, name)()
        for how in ("keep", "recompute"):
            seconds, bound, clusters = ours(data, "gaussian-diagonal", how, folder)
            found = np.loadtxt(f"{folder}/labels.txt", dtype=int)
            print(
                f"{name}, {how}: {1000 * seconds:.1f} ms, Ward {1000 * ward(data):.1f} ms, {clusters} clusters, "
                f"ARI {agreement(found, truth):.3f}",
                flush=True,
            )


def views(seed, rows, columns, sizes=(4, 5, 6, 8), shares=(30, 50, 50, 70)):
    """Binomial columns of 50 trials in several views, each with its own balanced clusters of the rows; columns shuffled."""
    rng = np.random.RandomState(seed)
    view = np.repeat(
        np.arange(len(shares)), np.diff(np.rint(np.cumsum((0,) + shares) / sum(shares) * columns).astype(int))
    )
    labels = [rng.permutation(np.arange(rows) % size) for size in sizes]
    table = np.empty((rows, columns))
    for j in range(columns):
        table[:, j] = rng.binomial(50, rng.beta(0.5, 0.5, size=sizes[view[j]])[labels[view[j]]])
    return table[:, rng.permutation(columns)]


def cross(data, how, folder, threads=1, repeats=3):
    np.save(f"{folder}/data.npy", data)
    out = subprocess.run(
        [PROGRAM, f"{folder}/data.npy", "binomial", f"cross-{how}", str(repeats), str(threads)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return float(out[0]), float(out[1]), int(out[2]), float(out[3])


def cross_lines(folder):
    print(f"{'binomial columns':<26}{'how':>12}{'processor':>12}{'two threads':>14}{'views':>7}{'bound':>14}")
    for rows, columns, how in (
        (100, 100, "full"),
        (100, 200, "reuse"),
        (100, 200, "randomized"),
        (100, 2000, "randomized"),
    ):
        data = views(1, rows, columns)
        seconds, bound, found, wall = cross(data, how, folder)
        both = cross(data, how, folder, threads=2)
        assert both[1] == bound, "threads changed the answer"
        print(
            f"{f'{rows} x {columns}':<26}{how:>12}{seconds:>10.2f} s{wall / both[3]:>12.2f} x{found:>7}{bound:>14.1f}",
            flush=True,
        )
    sizes = [200, 400, 800, 1600, 3200, 6400]
    times = [cross(views(1, 100, n), "randomized", folder, repeats=1)[0] for n in sizes]
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    print(
        f"growth in columns, randomized: slope {slope:.2f} over {sizes[0]} to {sizes[-1]} columns "
        f"({', '.join(f'{t:.2f}' for t in times)} s)",
        flush=True,
    )


def ward(data):
    best = np.inf
    for _ in range(3):
        begin = time.process_time()
        linkage(data, method="ward")
        best = min(best, time.process_time() - begin)
    return best


def line(name, data, family, folder, hows):
    cells = [f"{name:<26}"]
    for how in ("keep", "recompute", "randomized"):
        if how not in hows:
            cells.append(f"{'-':>12}")
            continue
        seconds, bound, clusters = ours(data, family, how, folder)
        cells.append(f"{1000 * seconds:>9.1f} ms")
    print("".join(cells) + f"{1000 * ward(data):>9.1f} ms{clusters:>10}{bound:>14.1f}", flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        if "--cross" in sys.argv:
            cross_lines(folder)
            return
        for path in sys.argv[2:]:
            workload_lines(path, folder)
        for how in ("keep", "search"):
            seconds, bound, clusters = ours(binary(304, 500, 50, 8), "bernoulli", how, folder)
            print(
                f"binary 500 x 50, {how}: {1000 * seconds:.1f} ms, bound {bound:.1f}, {clusters} clusters", flush=True
            )
        print(f"{'table':<26}{'kept':>12}{'recomputed':>12}{'randomized':>12}{'Ward':>12}{'clusters':>10}{'bound':>14}")
        every = ("randomized", "recompute", "keep")
        line("binary 100 x 100", binary(303, 100, 100, 6), "bernoulli", folder, every)
        line("binary 500 x 50", binary(304, 500, 50, 8), "bernoulli", folder, every)
        line("binary 2000 x 50", binary(306, 2000, 50, 12), "bernoulli", folder, every)
        line("gaussian 500 x 10", gaussian(305, 500, 10, 8), "gaussian-diagonal", folder, every)
        line("gaussian 1000 x 10", gaussian(307, 1000, 10, 8), "gaussian-diagonal", folder, every)
        line("gaussian 5000 x 10", gaussian(308, 5000, 10, 20), "gaussian-diagonal", folder, every)
        for family, make in (
            ("bernoulli", lambda n: binary(1, n, 50, 12)),
            ("gaussian-diagonal", lambda n: gaussian(1, n, 10, 12)),
        ):
            sizes = [250, 500, 1000, 2000, 4000]
            for how in ("keep", "recompute", "randomized"):
                times = [ours(make(n), family, how, folder)[0] for n in sizes]
                slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
                print(
                    f"growth in rows, {family}, {how}: slope {slope:.2f} over {sizes[0]} to {sizes[-1]} rows "
                    f"({', '.join(f'{1000 * t:.1f}' for t in times)} ms)",
                    flush=True,
                )


main()
