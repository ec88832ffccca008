"""rbhmc beside tomotopy's hLDA on documents whose leaf is known: CPU time of a sweep and ARI of the leaves, in one run, in
turns. Usage: rbhmc-hlda.py COUNTS.csv LABELS [SEEDS]: counts without header, one document a line, and the leaves.
Needs `pip install tomotopy` beside the requirements of the other experiments."""

import resource
import sys
import time

import numpy as np
import tomotopy
from shared import common

SWEEPS = 300
FLAGS = [
    "--truth",
    "leaf",
    "--family",
    "multinomial",
    "--levels",
    "2",
    "--gamma",
    "0.1",
    "--penalty",
    "0",
    "--chains",
    "1",
    "--threads",
    "1",
]


def seconds_of_fit(data, seed, warmup, draws, path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    common.coppice(
        "fit",
        "rbhmc",
        data,
        *FLAGS,
        "--warmup",
        warmup,
        "--draws",
        draws,
        "--seed",
        seed,
        "-o",
        path,
        "--overwrite",
        "-q",
    )
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def ours(data, seed, folder):
    """Milliseconds for a sweep after the first 100, and with its draw kept; ARI of the leaves of the reported hierarchy and
    of draws."""
    start = seconds_of_fit(data, seed, 100, 1, f"{folder}/start.coppice")
    sweeps = seconds_of_fit(data, seed, SWEEPS, 1, f"{folder}/sweeps.coppice") - start
    kept = seconds_of_fit(data, seed, 100, SWEEPS - 99, f"{folder}/run.coppice") - start
    score = common.coppice("score", f"{folder}/run.coppice", "--json", parse="json")["scores"][0]["levels"][-1]
    return 1000 * sweeps / (SWEEPS - 100), 1000 * kept / (SWEEPS - 100), score["ari"], score["draws_ari_mean"]


def theirs(counts, leaves, seed):
    model = tomotopy.HLDAModel(depth=3, seed=seed)
    for document in counts:
        model.add_doc([f"w{word}" for word in np.repeat(np.arange(len(document)), document)])
    model.train(0, workers=1)
    begin = time.process_time()
    model.train(SWEEPS, workers=1)
    milliseconds = 1000 * (time.process_time() - begin) / SWEEPS
    # The deepest topic of a document's words: some versions of tomotopy cannot say the path.
    found = [max(set(document.topics), key=model.level) for document in model.docs]
    return milliseconds, common.adjusted_rand(leaves, np.array(found))


def main():
    counts = np.loadtxt(sys.argv[1], delimiter=",", dtype=int)
    leaves = np.loadtxt(sys.argv[2], dtype=int)
    print(
        "| seed | rbhmc, ms for a sweep | and with its draw kept | leaf ARI | of draws | hLDA, ms for a sweep | leaf ARI of the last |"
    )
    print("|---|---|---|---|---|---|---|")
    with common.scratch() as folder:
        header = [f"w{word}" for word in range(counts.shape[1])] + ["leaf"]
        data = f"{folder}/documents.csv"
        common.write_table(data, header, [[*row, f"leaf{leaf}"] for row, leaf in zip(counts, leaves)])
        for seed in range(1, 1 + (int(sys.argv[3]) if len(sys.argv) > 3 else 5)):
            mine, kept, reported, drawn = ours(data, seed, folder)
            peer, last = theirs(counts, leaves, seed)
            print(
                f"| {seed} | {mine:.2f} | {kept:.2f} | {reported:.2f} | {drawn:.2f} | {peer:.2f} | {last:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
