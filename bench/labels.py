"""bnmc beside scikit-learn's one-vs-rest and classifier chains, in one run: kernels (bench_labels), then whole fits of
bibtex and of the workload W5, each predicting held-out rows. Times are CPU seconds, with wall-clock seconds in brackets; bnmc uses
two threads, scikit-learn one.

    labels.py [BENCH_LABELS]

Data are looked for in ../shared; what is not there is left out, in a sentence."""

import gzip
import importlib.util
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")  # another gains regressions of this size nothing, and its time counts

import numpy as np

SHARED = pathlib.Path(__file__).resolve().parents[2] / "shared"
BIBTEX = SHARED / "data" / "bibtex.svm.gz"
WORKLOADS = SHARED / "peers" / "workloads.py"


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def ours(name, train, test, flags):
    with tempfile.TemporaryDirectory() as folder:
        run = f"{folder}/run.coppice"
        begin, wall = children_seconds(), time.time()
        subprocess.run(
            [os.environ["COPPICE_BIN"], "fit", "bnmc", train, *flags, "--threads", "2", "-o", run, "-q"], check=True
        )
        seconds, wall = children_seconds() - begin, time.time() - wall
        answer = subprocess.run(
            [os.environ["COPPICE_BIN"], "score", run, test, "--json"], check=True, capture_output=True, text=True
        )
    scores = json.loads(answer.stdout)
    print(
        f"{name}, bnmc with calibration, file read and run written: {seconds:.2f} s ({wall:.2f}); micro F1 {scores['micro_f1']:.4f}, "
        f"macro F1 {scores['macro_f1']:.4f}, log loss {scores['log_loss']:.4f}",
        flush=True,
    )


def theirs(name, x, y, x_test, y_test):
    try:
        from sklearn.linear_model import LogisticRegression
        from sklearn.metrics import f1_score
        from sklearn.multiclass import OneVsRestClassifier
        from sklearn.multioutput import ClassifierChain
    except ImportError as error:
        print(f"{name}: scikit-learn is not here ({error})")
        return
    for title, model in (
        ("one-vs-rest", OneVsRestClassifier(LogisticRegression(max_iter=1000))),
        ("one chain", ClassifierChain(LogisticRegression(max_iter=1000), order="random", random_state=1)),
    ):
        begin, wall = time.process_time(), time.time()
        model.fit(x, y)
        seconds, wall = time.process_time() - begin, time.time() - wall
        p = np.clip(model.predict_proba(x_test), 1e-12, 1 - 1e-12)
        print(
            f"{name}, scikit-learn {title}, threshold 0.5: {seconds:.2f} s ({wall:.2f}); "
            f"micro F1 {f1_score(y_test, p >= 0.5, average='micro'):.4f}, "
            f"macro F1 {f1_score(y_test, p >= 0.5, average='macro', zero_division=0):.4f}, "
            f"log loss {-np.mean(y_test * np.log(p) + (1 - y_test) * np.log(1 - p)):.4f}",
            flush=True,
        )


def bibtex(folder):
    if not BIBTEX.exists():
        print("bibtex.svm.gz is not here: its fits are left out")
        return
    from scipy.sparse import csr_matrix

    lines = gzip.open(BIBTEX, "rt").read().splitlines()
    y, rows, columns, values = np.zeros((len(lines), 159)), [], [], []
    for row, line in enumerate(lines):
        known, *cells = line.split()
        y[row, [int(label) for label in known.split(",")]] = 1
        for cell in cells:
            word, value = cell.split(":")
            rows.append(row)
            columns.append(int(word) - 1)
            values.append(float(value))
    x = csr_matrix((values, (rows, columns)), shape=(len(lines), 1836))
    ours("bibtex, all 7,395 rows (scored on themselves)", BIBTEX, BIBTEX, [])
    theirs("bibtex, all 7,395 rows (scored on themselves)", x, y, x, y)


def w5(folder):
    if not WORKLOADS.exists():
        print("workloads.py is not here: the fits of W5 are left out")
        return
    spec = importlib.util.spec_from_file_location("workloads", WORKLOADS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x, y = module.w5()
    header = ",".join([f"x{j}" for j in range(x.shape[1])] + [f"label_{c}" for c in range(y.shape[1])])
    for name, part in (("train", slice(0, 1500)), ("test", slice(1500, None))):
        np.savetxt(f"{folder}/{name}.csv", np.hstack([x, y])[part], fmt="%d", delimiter=",", header=header, comments="")
    ours("W5", f"{folder}/train.csv", f"{folder}/test.csv", ["--labels", "label_*"])
    z = np.log1p(x)
    z = z / np.where(z[:1500].std(0) > 0, z[:1500].std(0), 1)
    theirs("W5", z[:1500], y[:1500], z[1500:], y[1500:])


def main():
    if len(sys.argv) > 1:
        subprocess.run([sys.argv[1], *([str(BIBTEX)] if BIBTEX.exists() else [])], check=True)
    with tempfile.TemporaryDirectory() as folder:
        w5(folder)
        bibtex(folder)


if __name__ == "__main__":
    main()
