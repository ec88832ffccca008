"""Ctrl-C, other threads and progress while a fit runs."""

import contextlib
import fcntl
import os
import pathlib
import pickle
import signal
import sqlite3
import struct
import subprocess
import sys
import termios
import textwrap
import threading
import time

import numpy as np
import pytest
from conftest import blobs, fitted

import coppice

LONG = {"output": "run.coppice", "chains": 2, "warmup": 0, "draws": 10_000_000, "random_state": 1, "verbose": 0}


def chains_with_draws(path):
    """How many chains have draws in a run that another process is writing."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as run:
            return run.execute("SELECT COUNT(DISTINCT chain) FROM draws").fetchone()[0]
    except sqlite3.OperationalError:  # not there yet
        return 0


def run_script(folder, text, signals):
    """Runs a script that fits two chains to run.coppice, and interrupts it when both have draws."""
    script = pathlib.Path(folder, "script.py")
    script.write_text(textwrap.dedent(text), encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-u", script], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 100
        while chains_with_draws(pathlib.Path(folder, "run.coppice")) < 2 and time.monotonic() < deadline:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        for _ in range(signals):
            process.send_signal(signal.SIGINT)
            time.sleep(0.02)
        out, err = process.communicate(timeout=900)
    return process.returncode, out, err


def test_ctrl_c_keeps_the_draws(tmp_path):
    code, out, err = run_script(
        tmp_path,
        f"""
        import numpy as np, coppice, pickle
        X = np.random.default_rng(0).normal(size=(400, 2))
        model = coppice.NRMMixture(**{LONG!r}).fit(X)
        pickle.dump(model, open("model.pickle", "wb"))
        print("kept", model.run_.draws)
        """,
        1,
    )
    assert code == 0, err
    assert "stopped after" in err and "resume() continues" in err
    draws = int(out.split()[-1])
    with open(tmp_path / "model.pickle", "rb") as file:
        stopped = pickle.load(file)
    assert stopped.run_.draws == draws > 0
    # What was drawn is what an uninterrupted fit draws.
    X = np.random.default_rng(0).normal(size=(400, 2))
    count = min(draws, 40)
    whole = fitted(coppice.NRMMixture, X, warmup=0, draws=count)
    np.testing.assert_array_equal(stopped.run_.labels()[:, :count], whole.run_.labels())


def test_ctrl_c_twice_is_a_keyboard_interrupt(tmp_path):
    code, out, err = run_script(
        tmp_path,
        f"""
        import signal, numpy as np, coppice
        X = np.random.default_rng(0).normal(size=(30000, 3))
        try:
            coppice.NRMMixture(**{LONG!r}, sampler="gibbs").fit(X)
            print("stopped in time")
        except KeyboardInterrupt:
            print("interrupted")
        """,
        2,
    )
    assert code == 0, err
    # The second signal may come after the sweep has ended; then the first one has done its work.
    assert out.strip() in ("interrupted", "stopped in time")


def test_other_threads_go_on_during_a_fit():
    X, _ = blobs(2000)
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.005):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        begin = time.monotonic()
        fitted(coppice.NRMMixture, X, draws=300, n_jobs=1)
        end = time.monotonic()
    finally:
        stop.set()
        thread.join()
    # A fit that kept the interpreter to itself would let the other thread in at its beginning and end only.
    middle = [time for time in ticks if begin + 0.25 * (end - begin) < time < end - 0.25 * (end - begin)]
    assert len(middle) > 5


@pytest.mark.parametrize("verbose", [0, 1])
def test_progress_in_a_terminal(tmp_path, verbose):
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    script = (
        f"import numpy as np, coppice, warnings; warnings.simplefilter('ignore');"
        f"coppice.NRMMixture(chains=1, warmup=0, draws=10**7, time_limit=2.0, verbose={verbose})"
        f".fit(np.random.default_rng(0).normal(size=(50, 2)))"
    )
    subprocess.run([sys.executable, "-c", script], stderr=slave, cwd=tmp_path, check=True, timeout=60)
    os.close(slave)
    shown = b""
    try:
        while part := os.read(master, 100_000):
            shown += part
    except OSError:  # how a terminal signals that its last writer has closed it
        pass
    os.close(master)
    assert (b"sweep" in shown and b"clusters=" in shown) == bool(verbose), shown
