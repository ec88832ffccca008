"""Small tables of documents with labels, for the tests of the classifier."""

import numpy as np

SMALL = ("--truncation", 8, "--restarts", 1, "--min-positives", 3)


def documents(rows, seed):
    """Counts of words of two topics, and labels: two of each topic, one of both."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, 2, rows)
    rates = np.array([[4, 4, 4, 0.4, 0.4, 0.4], [0.4, 0.4, 0.4, 4, 4, 4]])
    chances = np.array([[0.95, 0.9, 0.05, 0.5], [0.05, 0.05, 0.95, 0.5]])
    return rng.poisson(rates[topic]), (rng.uniform(size=(rows, 4)) < chances[topic]).astype(int)


def write(path, words, labels, gap=None):
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join([f"w{j}" for j in range(6)] + [f"label_{c}" for c in range(4)]) + "\n")
        for i, (row, known) in enumerate(zip(words, labels)):
            cells = ["" if gap == (i, c) else str(y) for c, y in enumerate(known)]
            file.write(",".join([*map(str, row), *cells]) + "\n")


def write_svmlight(path, words, labels):
    with open(path, "w", encoding="utf-8") as file:
        for row, known in zip(words, labels):
            file.write(
                ",".join(str(c) for c in np.flatnonzero(known))
                + " "
                + " ".join(f"{j + 1}:{x}" for j, x in enumerate(row) if x)
                + "\n"
            )
