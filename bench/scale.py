"""What a sweep of the data-parallel sampler costs, and what it would cost on many machines.

Usage:
  bench/scale.py measure PROGRAM OUTPUT.json   CPU seconds of a sweep by size (PROGRAM is bench_data_parallel), and what
                                               a round costs on a Dask cluster of this machine, beside its work
  bench/scale.py peers ROWS                    scikit-learn and this sampler on the same table, CPU seconds of one thread
  bench/scale.py figure INPUT.json OUTPUT.svg  fits the cost model and draws it, with 10^9 rows on 100 machines

The cost model of a sweep on W cores:
  seconds = a N K d^2 / W + b N / W + rounds (latency + parts per_task) + bytes / bandwidth
a and b are fitted to the CPU seconds; latency and per_task to rounds that do nearly nothing.
"""

import json
import os
import re
import subprocess
import sys
import time

SIZES = (30_000, 100_000, 300_000, 1_000_000)
ROUNDS = 7  # of a sweep: tally, locate, launch four or five times, propose
BANDWIDTH = 1e9  # bytes a second of the client's network, assumed
TARGET = {"rows": 10**9, "columns": 10, "clusters": 20, "machines": 100, "cores": 32}


def measure(program, output):
    found = []
    for rows in SIZES:
        printed = subprocess.run([program, str(rows)], check=True, capture_output=True, text=True).stdout
        print(printed, end="", flush=True)
        for line in printed.splitlines():
            n, d, k, sweep = re.search(r"(\d+) x (\d+) +(\d+) clusters.*a sweep ([0-9.]+) s", line).groups()
            found.append({"rows": int(n), "columns": int(d), "clusters": int(k), "cpu_seconds": float(sweep)})
    with open(output, "w", encoding="utf-8") as file:
        json.dump({"sweeps": found, "rounds": rounds()}, file, indent=1)


def rounds():
    """Seconds of rounds of tasks that do nothing, by the number of tasks."""
    from distributed import Client, LocalCluster

    found = []
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        for tasks in (2, 8, 32, 128):
            times = []
            for turn in range(20):
                begin = time.perf_counter()
                client.gather([client.submit(len, b"x" * 10_000, key=f"{tasks}-{turn}-{i}") for i in range(tasks)])
                times.append(time.perf_counter() - begin)
            found.append({"tasks": tasks, "seconds": sorted(times)[len(times) // 2]})
            print(f"{tasks} tasks: {found[-1]['seconds']:.4f} s a round", flush=True)
    return found


def peers(rows):
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    import warnings

    import numpy as np
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.metrics import adjusted_rand_score
    from sklearn.mixture import BayesianGaussianMixture

    import coppice

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(1)
    centers = rng.uniform(-6, 6, (20, 10))
    truth = rng.integers(20, size=rows)
    roots = 0.25 * rng.normal(size=(20, 10, 10)) * np.tri(10, k=-1) + np.eye(10) * rng.uniform(0.6, 1.4, (20, 1, 10))
    points = centers[truth] + np.einsum("nij,nj->ni", roots[truth], rng.normal(size=(rows, 10)))
    models = {
        "MiniBatchKMeans(20)": lambda: MiniBatchKMeans(20, random_state=1).fit(points).labels_,
        "BayesianGaussianMixture(30)": lambda: BayesianGaussianMixture(n_components=30, random_state=1).fit_predict(
            points
        ),
        "NRMMixture, 30 sweeps": lambda: last_labels(
            coppice.NRMMixture(
                sampler="data-parallel", chains=1, warmup=25, draws=5, random_state=1, n_jobs=1, verbose=0
            )
        ),
    }

    def last_labels(model):
        model._adopt = lambda run: setattr(model, "run_", run)  # no consensus: that is not what is compared
        model.fit(points)
        return model.run_.labels()[-1]

    for name, fit in models.items():
        begin = time.process_time()
        labels = fit()
        spent = time.process_time() - begin
        print(f"{rows} x 10, {name}: {spent:.1f} CPU s, ARI {adjusted_rand_score(truth, labels):.4f}", flush=True)


def figure(source, output):
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    import numpy as np

    with open(source, encoding="utf-8") as file:
        measured = json.load(file)

    def work(s):
        return [s["rows"] * s["clusters"] * s["columns"] ** 2, s["rows"]]

    sweeps = measured["sweeps"]
    # Relative errors count alike at all sizes.
    seconds = np.array([s["cpu_seconds"] for s in sweeps])
    relative = np.array([work(s) for s in sweeps]) / seconds[:, None]
    (per_cell, per_row), *_ = np.linalg.lstsq(relative, np.ones(len(sweeps)), rcond=None)
    per_task, latency = np.polyfit(
        [r["tasks"] for r in measured["rounds"]], [r["seconds"] for r in measured["rounds"]], 1
    )
    latency = max(latency, 0.0)
    fitted = np.array([work(s) for s in sweeps]) @ [per_cell, per_row]
    wide = [s for s in sweeps if s["columns"] == 10]
    slope = np.polyfit(np.log([s["rows"] for s in wide]), np.log([s["cpu_seconds"] for s in wide]), 1)[0]
    print(f"a = {per_cell:.3g} s, b = {per_row:.3g} s; latency {latency:.4f} s, {per_task:.5f} s a task")
    print(f"largest error of the fit: {100 * np.max(np.abs(fitted / seconds - 1)):.0f} %; slope in N: {slope:.3f}")

    stats = TARGET["clusters"] * (TARGET["columns"] * (TARGET["columns"] + 3) // 2 + 5) * 8

    def sweep_time(rows, cores):
        parts = max(1, min(rows // 65_536, max(2 * cores, rows // (16 * 65_536))))
        own = np.array([rows * TARGET["clusters"] * TARGET["columns"] ** 2, rows]) @ [per_cell, per_row]
        return own / cores + ROUNDS * (latency + parts * per_task) + parts * stats / BANDWIDTH

    cores = TARGET["machines"] * TARGET["cores"]
    predicted = sweep_time(TARGET["rows"], cores)
    alone = np.array([TARGET["rows"] * TARGET["clusters"] * 100, TARGET["rows"]]) @ [per_cell, per_row]
    print(f"10^9 rows x 10, 20 clusters, {cores} cores: {predicted:.2f} s a sweep, {alone / cores:.2f} s of it work")
    grid = np.logspace(4.5, 9, 60)
    figure, axes = plt.subplots(figsize=(6.4, 4))
    points = [s["rows"] for s in wide], [s["cpu_seconds"] for s in wide]
    axes.loglog(*points, "o", color="black", label="measured, one core")
    for count in (1, 32, cores):
        axes.loglog(grid, [sweep_time(int(n), count) for n in grid], label=f"model, {count} core{'s' * (count > 1)}")
    axes.plot([TARGET["rows"]], [predicted], "*", color="black", markersize=12)
    axes.set_xlabel("rows (10 columns, 20 clusters)")
    axes.set_ylabel("seconds of a sweep")
    axes.legend()
    figure.tight_layout()
    figure.savefig(output, metadata={"Date": None})


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(*sys.argv[2:4])
    elif sys.argv[1:2] == ["peers"]:
        peers(int(sys.argv[2]))
    elif sys.argv[1:2] == ["figure"]:
        figure(*sys.argv[2:4])
    else:
        sys.exit(__doc__)
