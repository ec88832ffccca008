"""Stopping, killing, resuming: what is drawn does not depend on it."""
import os
import random
import signal
import time

from conftest import blobs, write_table

KILLS = int(os.environ.get("COPPICE_TEST_KILLS", "12"))
FIT = ("fit", "nrmm", "data.csv", "--chains", 2, "--warmup", 200, "--draws", 6000, "--seed", 7)


def exports(coppice, run):
    return tuple(coppice("export", run, "--what", what, "--to", "csv", "-q").stdout for what in ("labels", "trace"))


def prepare(coppice):
    write_table(coppice.folder / "data.csv", blobs(5, rows=90)[0])
    coppice(*FIT, "-o", "whole.coppice")
    return exports(coppice, "whole.coppice")


def test_threads_do_not_matter(coppice):
    whole = prepare(coppice)
    for threads in (1, 2):
        coppice(*FIT, "-o", f"t{threads}.coppice", "--threads", threads)
        assert exports(coppice, f"t{threads}.coppice") == whole


def test_interrupt_then_resume(coppice):
    whole = prepare(coppice)
    process = coppice.start(*FIT, "-o", "i.coppice")
    while not (coppice.folder / "i.coppice").exists():
        time.sleep(0.005)
    time.sleep(0.15)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 75, errors
    assert "coppice resume i.coppice" in errors
    coppice("resume", "i.coppice")
    assert exports(coppice, "i.coppice") == whole


def test_time_limit_then_resume(coppice):
    whole = prepare(coppice)
    coppice(*FIT, "-o", "l.coppice", "--time-limit", "0.1s", code=75)
    coppice("resume", "l.coppice")
    assert exports(coppice, "l.coppice") == whole


def test_more_draws_continue_the_same_chain(coppice):
    whole = prepare(coppice)
    short = [*FIT]
    short[short.index("--draws") + 1] = 2500
    coppice(*short, "-o", "e.coppice")
    coppice("resume", "e.coppice", "--draws", "+3500")
    assert exports(coppice, "e.coppice") == whole


def test_kill_at_random_moments(coppice):
    whole = prepare(coppice)
    whole_labels = whole[0].splitlines()
    clock = random.Random(1)
    killed = 0
    for attempt in range(KILLS):
        name = f"k{attempt}.coppice"
        process = coppice.start(*FIT, "-o", name)
        time.sleep(clock.uniform(0.0, 0.9))
        process.kill()
        process.communicate(timeout=60)
        if not (coppice.folder / name).exists():
            assert not list(coppice.folder.glob(f"{name}-*"))
            continue
        killed += 1
        summary = coppice.start("summary", name, "-q")
        _, errors = summary.communicate(timeout=60)
        assert summary.returncode in (0, 65), errors
        if summary.returncode == 65:
            assert "no draws" in errors
        else:
            drawn = exports(coppice, name)[0].splitlines()
            assert set(drawn) <= set(whole_labels)
        coppice("resume", name, "-q")
        assert exports(coppice, name) == whole
    assert killed > KILLS // 3
