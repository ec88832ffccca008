"""Times our CSV reader against pandas' C engine on one core, in processor seconds.

Writes a numeric CSV of about 100 MB to a temporary directory, reads it with both, and prints the best of
several runs and the ratio, for each format of the numbers. Our time includes the SHA-256 of the file. Needs numpy and pandas.

    python bench/read_csv.py build/release/bench/bench_read_csv [--megabytes 100] [--format %.6f repr]
"""

import argparse
import os
import pathlib
import subprocess
import tempfile
import time

import numpy
import pandas

COLUMNS = 20


def write_table(path: pathlib.Path, megabytes: float, number_format: str) -> None:
    """Normal deviates in twenty columns, until the file is large enough."""
    generator = numpy.random.default_rng(1)
    with open(path, "w", encoding="ascii") as out:
        out.write(",".join(f"x{i + 1}" for i in range(COLUMNS)) + "\n")
        while out.tell() < megabytes * 1e6:
            block = generator.standard_normal((2000, COLUMNS)) * 10.0
            if number_format == "repr":
                out.writelines(",".join(map(repr, row)) + "\n" for row in block.tolist())
            else:
                rows = (",".join(number_format % cell for cell in row) for row in block.tolist())
                out.writelines(row + "\n" for row in rows)


def time_pandas(path: pathlib.Path) -> float:
    start = time.process_time()
    pandas.read_csv(path, engine="c")
    return time.process_time() - start


def time_ours(command: str, path: pathlib.Path) -> float:
    done = subprocess.run([command, str(path)], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[0])


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__.replace("%", "%%"), formatter_class=raw)
    parser.add_argument("command", help="the bench_read_csv executable")
    parser.add_argument("--megabytes", type=float, default=100.0)
    parser.add_argument(
        "--format", nargs="+", default=["%.3f", "%.6f", "repr"], help="printf formats, or repr for all 17 digits"
    )
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "numbers.csv"
        for number_format in options.format:
            write_table(path, options.megabytes, number_format)
            # In turns, so that both meet the same other work of the machine.
            pairs = [(time_pandas(path), time_ours(options.command, path)) for _ in range(options.repeats)]
            theirs, ours = (min(times) for times in zip(*pairs))
            size = path.stat().st_size / 1e6
            times = f"pandas {theirs:.3f} s, coppice {ours:.3f} s, ratio {theirs / ours:.2f}"
            print(f"{size:.0f} MB, {number_format}: {times}", flush=True)


if __name__ == "__main__":
    main()
