#!/usr/bin/env python3
"""Writes examples/speeds.csv: how fast 90 galaxies in one direction move away, in thousands of kilometers per second.

    python examples/make_speeds.py [FILE]

The galaxies belong to four planted superclusters, of which the two in the middle overlap. The column `supercluster` is the
truth. The same file comes out every time.
"""

import csv
import pathlib
import random
import sys

# rows, mean and standard deviation of the speeds
SUPERCLUSTERS = {"near": (8, 9.8, 0.5), "middle": (44, 20.0, 0.9), "behind": (32, 23.4, 1.2), "far": (6, 33.0, 1.0)}


def main(path):
    draw = random.Random(7)
    rows = [(draw.gauss(mean, sd), name) for name, (count, mean, sd) in SUPERCLUSTERS.items() for _ in range(count)]
    draw.shuffle(rows)
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["galaxy", "supercluster", "speed"])
        for number, (speed, name) in enumerate(rows, 1):
            table.writerow([f"g{number:02}", name, f"{speed:.3f}"])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("speeds.csv"))
