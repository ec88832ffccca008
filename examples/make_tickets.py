#!/usr/bin/env python3
"""Writes tickets.csv and new-tickets.csv: letters to a shop as word counts, with the departments that handled them.

    python examples/make_tickets.py [FOLDER]

A letter is about one or two of four matters. A matter has words of its own and usually, but not always, goes to its
departments; a tenth of the labels of tickets.csv are blank. The same files come out every time.
"""

import csv
import pathlib
import random
import sys

WORDS = {
    "money": ["invoice", "paid", "card", "charged", "refund"],
    "parcel": ["parcel", "courier", "late", "address", "tracking"],
    "broken": ["broken", "screen", "cracked", "warranty", "repair"],
    "account": ["password", "login", "email", "locked", "code"],
}
DEPARTMENTS = {
    "money": ["billing"],
    "parcel": ["shipping"],
    "broken": ["repairs", "shipping"],
    "account": ["it"],
}
LABELS = ["billing", "shipping", "repairs", "it"]
COMMON = ["hello", "please", "order", "thanks"]


def letter(draw):
    """Counts of words, and labels as 0 and 1."""
    matters = draw.sample(list(WORDS), draw.choice([1, 1, 1, 2]))
    counts = dict.fromkeys([word for words in WORDS.values() for word in words] + COMMON, 0)
    for _ in range(draw.randint(8, 25)):
        chance = draw.random()
        if chance < 0.55:
            counts[draw.choice(WORDS[draw.choice(matters)])] += 1
        elif chance < 0.85:
            counts[draw.choice(COMMON)] += 1
        else:
            counts[draw.choice(list(counts))] += 1
    to = {name for matter in matters for name in DEPARTMENTS[matter] if draw.random() < 0.92}
    return counts, [int(name in to) for name in LABELS]


def write(path, draw, rows, prefix, blanks):
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        for number in range(1, rows + 1):
            counts, labels = letter(draw)
            if number == 1:
                table.writerow(["ticket", *counts, *(f"to_{name}" for name in LABELS)])
            cells = [label if draw.random() >= blanks else "" for label in labels]
            table.writerow([f"{prefix}{number:03}", *counts.values(), *cells])


def main(folder):
    draw = random.Random(11)
    write(pathlib.Path(folder) / "tickets.csv", draw, 400, "t", 0.1)
    write(pathlib.Path(folder) / "new-tickets.csv", draw, 200, "n", 0.0)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path.cwd())
