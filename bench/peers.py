"""Whole jobs beside what Python users have today, in turns in one run: from a table to one partition of the rows, on one
thread, in processor seconds. The workloads W1 (1,000 and 10,000 x 2, ten clusters, some touching) and W2 (2,000 x 10, twenty
clusters) come from a workloads.py, or mixtures of the same shape are drawn. A package that is not installed is named and left
out. Last, the similarity matrix of 500 draws of 1,000 rows next to plain NumPy.

    peers.py [WORKLOADS.py] [--seeds 5]
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):  # before numpy looks
    os.environ[name] = "1"

import argparse
import importlib.util
import json
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time
import warnings

import numpy as np

BINARY = os.environ.get("COPPICE_BIN", "build/release/coppice")
WORKLOADS = pathlib.Path(__file__).resolve().parents[2] / "shared" / "peers" / "workloads.py"


def similar_mixture(seed, rows, columns, clusters, box):
    rng = np.random.RandomState(seed)
    centers = rng.uniform(-box, box, size=(clusters, columns))
    labels = rng.choice(clusters, rows, p=rng.dirichlet(np.full(clusters, 10.0)))
    return centers[labels] + rng.normal(size=(rows, columns)) * rng.uniform(0.6, 1.2, size=clusters)[
        labels, None
    ], labels


def tables(path):
    if path.exists():
        spec = importlib.util.spec_from_file_location("workloads", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return {"w1_1k": module.w1(1000)[:2], "w1_10k": module.w1(10000)[:2], "w2": module.w2()[:2]}
    print(f"{path} is not there: mixtures of the same shape instead")
    return {
        "like w1_1k": similar_mixture(101, 1000, 2, 10, 12.0),
        "like w1_10k": similar_mixture(101, 10000, 2, 10, 12.0),
        "like w2": similar_mixture(202, 2000, 10, 20, 5.0),
    }


def adjusted_rand(a, b):
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)
    pairs = lambda counts: (counts * (counts - 1) / 2).sum()
    both, first, second, all_pairs = pairs(table), pairs(table.sum(1)), pairs(table.sum(0)), pairs(np.array([len(a)]))
    expected = first * second / all_pairs
    return (both - expected) / (0.5 * (first + second) - expected)


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def coppice(sampler):
    def job(data, seed, folder):
        table, run = folder / "table.csv", folder / f"{sampler}-{seed}.coppice"
        np.savetxt(table, data, fmt="%.8g", delimiter=",")
        begin = children_seconds()
        subprocess.run(
            [
                BINARY,
                "-q",
                "fit",
                "nrmm",
                table,
                "--sampler",
                sampler,
                "--chains",
                "1",
                "--warmup",
                "500",
                "--draws",
                "500",
                "--threads",
                "1",
                "--seed",
                str(seed),
                "--overwrite",
                "-o",
                run,
            ],
            check=True,
        )
        answer = subprocess.run(
            [BINARY, "-q", "export", run, "--what", "consensus", "--to", "json"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        spent = children_seconds() - begin
        return spent, np.array(json.loads(answer)["labels"])

    return job


def variational(data, seed, _):
    from sklearn.mixture import BayesianGaussianMixture

    begin = time.process_time()
    model = BayesianGaussianMixture(
        n_components=30, weight_concentration_prior_type="dirichlet_process", max_iter=500, random_state=seed
    )
    labels = model.fit_predict(data)
    return time.process_time() - begin, labels


def density(data, _, __):
    from sklearn.cluster import HDBSCAN

    begin = time.process_time()
    labels = HDBSCAN(min_cluster_size=20, n_jobs=1).fit_predict(data)
    return time.process_time() - begin, labels + 1  # rows it calls noise are a cluster of their own


PROGRAMS = {
    "coppice, default": coppice("auto"),
    "coppice, split-merge": coppice("split-merge"),
    "coppice, gibbs": coppice("gibbs"),
    "sklearn variational DP": variational,
    "sklearn HDBSCAN": density,
}


def similarity(repeats=5):
    rng = np.random.RandomState(1)
    truth = np.arange(1000) % 10
    draws = np.array([np.where(rng.uniform(size=1000) < 0.1, rng.randint(12, size=1000), truth) for _ in range(500)])
    best = np.inf
    for _ in range(repeats):
        begin = time.process_time()
        matrix = np.zeros((1000, 1000))
        for draw in draws:
            matrix += draw[:, None] == draw[None, :]
        matrix /= len(draws)
        best = min(best, time.process_time() - begin)
    print(f"similarity matrix, 500 draws of 1,000 rows: numpy {1000 * best:.0f} ms", end="")
    program = pathlib.Path(BINARY).parent / "bench" / "bench_consensus"
    if not program.exists():
        print(f" ({program} is not built)")
        return
    answer = json.loads(
        subprocess.run(
            [program, "--benchmark_filter=similarity$|vi$", "--benchmark_format=json"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    )
    times = {entry["name"]: entry["cpu_time"] for entry in answer["benchmarks"]}
    print(f", coppice {times['similarity']:.1f} ms; its VI estimate {times['estimate/vi']:.0f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="?", type=pathlib.Path, default=WORKLOADS)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    print(
        f"{'table':<12}{'program':<26}{'CPU s':>9}{'ARI':>8}{'worst':>8}{'clusters':>10}   (medians of {options.seeds} seeds)"
    )
    with tempfile.TemporaryDirectory() as name:
        for table, (data, truth) in tables(options.workloads).items():
            found = {program: [] for program in PROGRAMS}
            for seed in range(1, options.seeds + 1):
                for program, job in PROGRAMS.items():
                    if isinstance(found[program], str):
                        continue
                    try:
                        seconds, labels = job(data, seed, pathlib.Path(name))
                    except ImportError as error:
                        found[program] = str(error)
                        continue
                    found[program].append((seconds, adjusted_rand(labels, truth), len(set(labels))))
            for program, results in found.items():
                if isinstance(results, str):
                    print(f"{table:<12}{program:<26} left out: {results}")
                    continue
                seconds, scores, counts = zip(*results)
                print(
                    f"{table:<12}{program:<26}{statistics.median(seconds):>9.3f}{statistics.median(scores):>8.3f}"
                    f"{min(scores):>8.3f}{statistics.median(counts):>10.0f}",
                    flush=True,
                )
    similarity()


if __name__ == "__main__":
    main()
