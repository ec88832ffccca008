#!/usr/bin/env python3
"""Writes examples/mixed.csv: 120 visitors of a museum in three planted groups, with every kind of column and blanks.

    python examples/make_mixed.py [FILE]

Real: minutes_stayed, euros_spent, kilometres_travelled (log-normal). Count: visits_last_year, people_in_party.
Category: arrived_by and the hall liked best. Yes/no: member, took_tour, bought_online. The column `group` is the truth.
The same file comes out every time.
"""

import csv
import pathlib
import sys

import numpy as np

BLANKS = 0.05  # chance that a cell has no value
TRAVEL = ["bicycle", "bus", "car", "train"]
HALLS = ["dinosaurs", "minerals", "ships", "space"]

# minutes and euros: mean, sd; kilometres: median, log sd; visits and extra people: Poisson means; then the
# probabilities of TRAVEL, of HALLS and of the three yes/no columns.
GROUPS = {
    "family": dict(
        rows=45,
        minutes=(150, 25),
        euros=(46, 9),
        kilometres=(18, 0.5),
        visits=1.6,
        extra=2.4,
        travel=(0.08, 0.20, 0.65, 0.07),
        hall=(0.62, 0.06, 0.10, 0.22),
        yes=(0.25, 0.15, 0.70),
    ),
    "tourist": dict(
        rows=40,
        minutes=(95, 20),
        euros=(27, 7),
        kilometres=(420, 0.6),
        visits=0.1,
        extra=0.9,
        travel=(0.03, 0.30, 0.12, 0.55),
        hall=(0.25, 0.15, 0.45, 0.15),
        yes=(0.02, 0.75, 0.55),
    ),
    "regular": dict(
        rows=35,
        minutes=(55, 15),
        euros=(6, 2.5),
        kilometres=(4, 0.5),
        visits=9.0,
        extra=0.2,
        travel=(0.55, 0.30, 0.10, 0.05),
        hall=(0.08, 0.47, 0.15, 0.30),
        yes=(0.90, 0.08, 0.10),
    ),
}
COLUMNS = [
    "minutes_stayed",
    "euros_spent",
    "kilometres_travelled",
    "visits_last_year",
    "people_in_party",
    "arrived_by",
    "favourite_hall",  # words: ok
    "member",
    "took_tour",
    "bought_online",
]


def cells(rng, group):
    """One visitor of the group, in the order of COLUMNS."""
    return [
        f"{max(5.0, rng.normal(*group['minutes'])):.1f}",
        f"{max(0.0, rng.normal(*group['euros'])):.2f}",
        f"{group['kilometres'][0] * np.exp(rng.normal(0.0, group['kilometres'][1])):.1f}",
        str(rng.poisson(group["visits"])),
        str(1 + rng.poisson(group["extra"])),
        TRAVEL[rng.choice(len(TRAVEL), p=group["travel"])],
        HALLS[rng.choice(len(HALLS), p=group["hall"])],
        *("yes" if rng.random() < p else "no" for p in group["yes"]),
    ]


def main(path):
    rng = np.random.default_rng(20260)
    rows = [[name, *cells(rng, group)] for name, group in GROUPS.items() for _ in range(group["rows"])]
    rows = [rows[i] for i in rng.permutation(len(rows))]
    for row in rows:
        for column in range(1, len(row)):
            if rng.random() < BLANKS:
                row[column] = ""
    with open(path, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["visitor", "group", *COLUMNS])
        writer.writerows([f"v{i:03d}", *row] for i, row in enumerate(rows, start=1))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("mixed.csv"))
