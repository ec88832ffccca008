"""crosscat on the workload W4 (100 x 200, four views, a tenth of the cells hidden), and lace beside it if its package is
there: processor time of a sweep, and until hidden cells are predicted with accuracy 0.855.

    views.py BENCH_VIEWS [WORKLOADS.py [CHAINS [ITERATIONS]]]

Without the workloads only mixed tables are measured.
"""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

GOAL = 0.855
WORKLOADS = pathlib.Path(__file__).resolve().parents[2] / "shared" / "peers" / "workloads.py"


def workload(path, trials):
    spec = importlib.util.spec_from_file_location("workloads", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.w4(trials)


def write(path, table, hidden=None):
    with open(path, "w") as out:
        out.write(",".join(f"c{j}" for j in range(table.shape[1])) + "\n")
        for i, row in enumerate(table):
            out.write(",".join("" if hidden is not None and hidden[i, j] else str(x) for j, x in enumerate(row)) + "\n")


def ours(program, data, family, folder):
    write(f"{folder}/seen.csv", data["X"], data["miss"])
    write(f"{folder}/full.csv", data["X"])
    subprocess.run([program, "held-out", f"{folder}/seen.csv", f"{folder}/full.csv", family], check=True)


def lace(data, chains, iterations):
    """Predictions are those of the chain's last state: the package averages over chains, not over draws."""
    try:
        import polars as pl
        from lace import Engine
    except ImportError as error:
        print(f"lace: {error}")
        return
    table, hidden = data["X"], data["miss"]
    columns = {"ID": [f"r{i}" for i in range(len(table))]}
    for j in range(table.shape[1]):
        columns[f"c{j}"] = [None if hidden[i, j] else bool(x) for i, x in enumerate(table[:, j])]
    frame = pl.DataFrame(columns)
    for chain in range(chains):
        engine = Engine.from_df(frame, n_states=1, rng_seed=chain + 1)
        spent, reached, done, accuracy = 0.0, None, 0, 0.0
        while done < iterations:
            begin = time.process_time()
            engine.update(10)
            spent += time.process_time() - begin
            done += 10
            if done % 20 != 0:
                continue
            right = 0
            for j in range(table.shape[1]):
                rows = np.flatnonzero(hidden[:, j])
                if len(rows):
                    guess = engine.impute(f"c{j}", rows=[f"r{i}" for i in rows], with_uncertainty=False)
                    right += sum(int(bool(g)) == table[i, j] for g, i in zip(guess[f"c{j}"], rows))
            accuracy = right / hidden.sum()
            if reached is None and accuracy >= GOAL:
                reached = spent
        print(
            f"lace chain {chain}: {1000 * spent / done:.2f} ms an iteration, "
            f"{'not reached' if reached is None else f'{reached:.2f} s'}, accuracy of the last state {accuracy:.4f}",
            flush=True,
        )


def main():
    program = sys.argv[1]
    path = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else WORKLOADS
    subprocess.run([program], check=True)
    if not path.exists():
        print(f"W4 is left out: {path} is not there")
        return
    chains = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    iterations = int(sys.argv[4]) if len(sys.argv) > 4 else 600
    with tempfile.TemporaryDirectory() as folder:
        print("binary", flush=True)
        ours(program, workload(path, 1), "bernoulli", folder)
        lace(workload(path, 1), chains, iterations)
        print("binomial, 10 trials", flush=True)
        ours(program, workload(path, 10), "binomial", folder)


if __name__ == "__main__":
    main()
