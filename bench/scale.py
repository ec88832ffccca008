"""What a sweep of the data-parallel sampler costs, and what it would cost on many machines.

Usage:
  bench/scale.py measure BENCH OUTPUT.json     CPU seconds of a sweep by size on one thread (BENCH is
                                               bench_data_parallel), and of what the driver does with the answers
  bench/scale.py engines COPPICE ROWS [INPUT.json OUTPUT.json]
                                               seconds of a sweep of ROWS x 10 on two threads, two MPI processes and two
                                               Dask workers, the memory of their drivers, and rounds that do nothing;
                                               added to what measure has written
  bench/scale.py peers ROWS                    scikit-learn and this sampler on the same table, CPU seconds of one thread
  bench/scale.py figure INPUT.json OUTPUT.svg  fits the cost model and draws it, with 10^9 rows on 100 machines

The cost model of a sweep on W cores, whose answers come in P parts:
  seconds = (a N K d^2 + b N) / W + rounds (latency + P (per_part + bytes / bandwidth))
a and b are fitted to the CPU seconds of sweeps. latency and per_part are those of rounds on Dask that do nothing, and the
merging of an answer by the driver; on MPI only the latter, with an assumed latency.
"""

import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

SIZES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
ROUNDS = 7  # of a sweep: tally, locate, launch four or five times, propose
BANDWIDTH = 1e9  # bytes a second of the client's network, assumed
HOP = 20e-6  # seconds of a message between machines, assumed
TARGET = {"rows": 10**9, "columns": 10, "clusters": 20, "machines": 100, "cores": 32}


def measure(program, output):
    found = {"sweeps": []}
    for rows in SIZES:
        # Two columns are measured up to 10^6 rows: they are cheap, and their sizes in between say little.
        printed = subprocess.run([program, str(rows)], check=True, capture_output=True, text=True).stdout
        print(printed, end="", flush=True)
        for line in printed.splitlines():
            n, d, k, sweep = re.search(r"(\d+) x (\d+) +(\d+) clusters.*a sweep ([0-9.]+) s", line).groups()
            found["sweeps"].append({"rows": int(n), "columns": int(d), "clusters": int(k), "cpu_seconds": float(sweep)})
    printed = subprocess.run([program, "merge"], check=True, capture_output=True, text=True).stdout
    print(printed, end="", flush=True)
    found["merge_seconds"] = float(re.search(r"([0-9.e+-]+) s to merge", printed).group(1))
    with open(output, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)


def rounds(client):
    """Seconds of rounds of tasks that do nothing, by the number of tasks."""
    found = []
    for tasks in (2, 8, 32, 128):
        times = []
        for turn in range(20):
            begin = time.perf_counter()
            client.gather([client.submit(len, b"x" * 10_000, key=f"{tasks}-{turn}-{i}") for i in range(tasks)])
            times.append(time.perf_counter() - begin)
        found.append({"tasks": tasks, "seconds": sorted(times)[len(times) // 2]})
        print(f"{tasks} tasks: {found[-1]['seconds']:.4f} s a round", file=sys.stderr, flush=True)
    return found


def clusters_of(rng, rows):
    """What bench_data_parallel has: 20 clusters with covariances of their own in 10 columns."""
    import numpy as np

    centers = rng.uniform(-6, 6, (20, 10))
    roots = 0.25 * rng.normal(size=(20, 10, 10)) * np.tri(10, k=-1) + np.eye(10) * rng.uniform(0.6, 1.4, (20, 1, 10))
    while True:
        truth = rng.integers(20, size=rows)
        points = rng.normal(size=(rows, 10))
        for cluster in range(20):
            own = truth == cluster
            points[own] = centers[cluster] + points[own] @ roots[cluster].T
        yield truth, points


def memory_of(process):
    """Largest resident memory so far, in bytes, of the first process that mpirun has started, or of the process."""
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    try:
        pid = min(map(int, children.read_text().split()), default=process.pid)
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    peak = re.search(r"VmHWM:\s+(\d+)", status)
    return 1024 * int(peak.group(1)) if peak else 0


SWEEPS = 8


def seconds_of_sweeps(seen):
    """Mean over the sweeps after the first two; `seen` are (time, sweeps done)."""
    first = next((moment, done) for moment, done in seen if done >= 2)
    last = seen[-1]
    return (last[0] - first[0]) / (last[1] - first[1])


def on_command_line(launcher, coppice, files, folder, *more):
    run = folder / "run.coppice"
    command = [*launcher, coppice, "fit", "nrmm", *files, "-o", run, "--overwrite", "--sampler", "data-parallel"]
    length = ["--chains", "1", "--warmup", "1", "--draws", str(SWEEPS - 1), "--progress", "json", *more]
    seen, peak = [], 0
    with subprocess.Popen([*map(str, command), *length], stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if line.startswith("{"):
                seen.append((time.perf_counter(), json.loads(line)["sweeps"]))
                peak = max(peak, memory_of(process))
    assert process.returncode == 0
    return {"seconds": seconds_of_sweeps(seen), "driver_bytes": peak}


def on_dask(files):
    """In a process of its own, whose memory is that of the client."""
    from distributed import Client, LocalCluster

    import coppice
    from coppice import _dask

    class Model(coppice.NRMMixture):
        def _adopt(self, run):  # no consensus: that is not what is measured
            self.run_ = run

    ends = []
    ask = _dask.PartedTable.ask

    def timed(table, slot, message):
        answers = ask(table, slot, message)
        if int.from_bytes(message[:8], "little") == 0:  # the tally, with which a sweep ends, and the start too
            ends.append((time.perf_counter(), len(ends)))
        return answers

    _dask.PartedTable.ask = timed
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        idle = rounds(client)
        Model(sampler="data-parallel", chains=1, warmup=1, draws=SWEEPS - 1, random_state=1, verbose=0).fit(
            files, client=client
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = {
        "seconds": seconds_of_sweeps(ends),
        "driver_bytes": 1024 * peak,
        "driver_bytes_before_the_fit": 1024 * before,
    }
    print(json.dumps({"dask": found, "rounds": idle}))


def engines(program, rows, source=None, output=None):
    import numpy as np

    rows = int(rows)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        files = []
        table = clusters_of(np.random.default_rng(1), 500_000)
        for i in range(rows // 500_000):
            files.append(str(folder / f"part-{i:03}.npy"))
            np.save(files[-1], next(table)[1])
        mpirun = ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n", "2"]
        found = {"rows": rows}
        found["threads"] = on_command_line([], program, files, folder, "--threads", "2")
        found["mpi"] = on_command_line(mpirun, program, files, folder)
        said = subprocess.run([sys.executable, __file__, "dask", *files], check=True, capture_output=True, text=True)
        of_dask = json.loads(said.stdout.splitlines()[-1])
        found["dask"] = of_dask["dask"]
    say_engines(found)
    if source is None:
        return
    with open(source, encoding="utf-8") as file:
        measured = json.load(file)
    with open(output, "w", encoding="utf-8") as file:
        json.dump({**measured, "engines": found, "rounds": of_dask["rounds"]}, file, indent=1)


def say_engines(found):
    base = found["threads"]["seconds"]
    for name in ("threads", "mpi", "dask"):
        spent, used = found[name]["seconds"], found[name]["driver_bytes"]
        print(
            f"{found['rows']} x 10, two workers, {name}: {spent:.3f} s a sweep ({100 * (spent / base - 1):+.1f} %), "
            f"driver {used / 1e6:.0f} MB",
            flush=True,
        )


def peers(rows):
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    import warnings

    import numpy as np
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.metrics import adjusted_rand_score
    from sklearn.mixture import BayesianGaussianMixture

    import coppice

    warnings.simplefilter("ignore")
    truth, points = next(clusters_of(np.random.default_rng(1), rows))
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
        return model.run_.labels()[0][-1]

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
    idle = measured.get("rounds", [])  # there are none without Dask
    per_task, latency = np.polyfit([r["tasks"] for r in idle], [r["seconds"] for r in idle], 1) if idle else (0, 0)
    latency = max(latency, 0.0)
    fitted = np.array([work(s) for s in sweeps]) @ [per_cell, per_row]
    wide = [s for s in sweeps if s["columns"] == 10]
    slope = np.polyfit(np.log([s["rows"] for s in wide]), np.log([s["cpu_seconds"] for s in wide]), 1)[0]
    merge = TARGET["clusters"] * measured["merge_seconds"]
    print(f"a = {per_cell:.3g} s, b = {per_row:.3g} s")
    if idle:
        print(f"Dask: latency {latency:.4f} s, {per_task:.5f} s a task")
    print(f"largest error of the fit: {100 * np.max(np.abs(fitted / seconds - 1)):.0f} %; slope in N: {slope:.3f}")
    print(f"merging one answer of {TARGET['clusters']} clusters: {1e6 * merge:.1f} us")

    stats = TARGET["clusters"] * (TARGET["columns"] * (TARGET["columns"] + 3) // 2 + 5) * 8

    def parts_of(rows, cores, of_core, block):
        blocks, of_part = max(1, rows // block), 1
        while of_part < 16 and blocks / (2 * of_part) >= of_core * cores:
            of_part *= 2
        return -(-blocks // of_part)

    def own_work(rows, cores, block=65_536):
        busy = min(cores, max(1, rows // block))  # a block is not divided
        return float(np.array([rows * TARGET["clusters"] * TARGET["columns"] ** 2, rows]) @ [per_cell, per_row]) / busy

    def on_dask_cluster(rows, cores):
        parts = parts_of(rows, cores, 2, 65_536)
        return own_work(rows, cores) + ROUNDS * (latency + parts * (per_task + merge + stats / BANDWIDTH))

    def on_mpi(rows, cores, block=65_536):
        # The first process gathers and merges the answers of all parts: of all clusters once in a sweep, of the sides
        # of at most five pairs, half as much, in the other rounds.
        parts = parts_of(rows, cores, 4, block)
        hops = ROUNDS * 2 * np.log2(2 * cores) * HOP
        answers = parts * (1 + (ROUNDS - 1) / 2)
        return own_work(rows, cores, block) + hops + answers * (merge + stats / BANDWIDTH)

    if "engines" in measured:
        say_engines(measured["engines"])
    cores = TARGET["machines"] * TARGET["cores"]
    alone = own_work(TARGET["rows"], cores)
    models = {"MPI": on_mpi, **({"Dask": on_dask_cluster} if idle else {})}
    for name, model in models.items():
        predicted = model(TARGET["rows"], cores)
        print(
            f"10^9 rows x 10, 20 clusters, {cores} cores, {name}: {predicted:.2f} s a sweep, {alone:.2f} s of it work"
        )
    large = TARGET["rows"] // cores
    print(f"the same on MPI with blocks of {large} rows: {on_mpi(TARGET['rows'], cores, large):.2f} s a sweep")
    grid = np.logspace(4.8, 9, 80)
    figure, axes = plt.subplots(figsize=(6.4, 4))
    points = [s["rows"] for s in wide], [s["cpu_seconds"] for s in wide]
    axes.loglog(*points, "o", color="black", label="measured, one core")
    axes.loglog(grid, [own_work(int(n), 1) for n in grid], label="model, one core")
    axes.loglog(grid, [on_mpi(int(n), 32) for n in grid], label="model, MPI, 32 cores")
    axes.loglog(grid, [on_mpi(int(n), cores) for n in grid], label=f"model, MPI, {cores} cores")
    if idle:
        axes.loglog(grid, [on_dask_cluster(int(n), cores) for n in grid], label=f"model, Dask, {cores} cores")
    axes.plot([TARGET["rows"]], [on_mpi(TARGET["rows"], cores)], "*", color="black", markersize=12)
    axes.set_xlabel("rows (10 columns, 20 clusters)")
    axes.set_ylabel("seconds of a sweep")
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(output, metadata={"Date": None})


if __name__ == "__main__":
    commands = {"measure": measure, "engines": engines, "peers": lambda rows: peers(int(rows)), "figure": figure}
    if sys.argv[1:2] == ["dask"]:  # of engines
        on_dask(sys.argv[2:])
    elif len(sys.argv) > 2 and sys.argv[1] in commands:
        commands[sys.argv[1]](*sys.argv[2:])
    else:
        sys.exit(__doc__)
