"""What --penalty auto costs or gains: held-out log density of a fit with it against the plain mixture's, on the same
rows, over seeds. Usage: rbhmc-penalty.py [SEEDS]."""

import sys

import numpy as np
from regularizers import load
from shared import common

NAMES = ["animals33", "zoo", "iris", "nested9", "fashion100"]


def held_out(train, test, options, folder):
    common.coppice("fit", "rbhmc", train, *options, "-o", f"{folder}/run.coppice", "--overwrite", "-q")
    chosen = common.coppice("summary", f"{folder}/run.coppice", "--json", parse="json")
    return common.held_out(f"{folder}/run.coppice", test), chosen


def main():
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    print("| data | difference in held-out log density, auto - none | standard error | penalties taken |")
    print("|---|---|---|---|")
    with common.scratch() as folder:
        for name in NAMES:
            differences, taken = [], 0
            for seed in range(1, seeds + 1):
                header, rows, levels, options = load(name, seed)
                train, test, _ = common.write_split(header, rows, seed, folder)
                truth = ["--truth", "label"] if "label" in header else []
                base = [
                    *options,
                    *truth,
                    "--levels",
                    levels,
                    "--chains",
                    "2",
                    "--warmup",
                    "300",
                    "--draws",
                    "300",
                    "--thin",
                    "2",
                    "--seed",
                    seed,
                ]
                plain, _ = held_out(train, test, [*base, "--penalty", "0"], folder)
                chosen, summary = held_out(train, test, [*base, "--penalty", "auto"], folder)
                differences.append(float(np.mean(chosen - plain)))
                taken += not np.array_equal(chosen, plain)
            mean, error = common.mean_and_error(differences)
            print(f"| {name} | {mean:+.4f} | {error:.4f} | {taken} of {seeds} |", flush=True)


if __name__ == "__main__":
    main()
