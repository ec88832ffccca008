"""Stopping, killing, resuming: what is drawn does not depend on it."""

import os
import random
import signal
import sqlite3
import subprocess
import time

from conftest import BINARY, blobs, write_table

KILLS = int(os.environ.get("COPPICE_TEST_KILLS", "12"))
FIT = ("fit", "nrmm", "data.csv", "--chains", 2, "--warmup", 200, "--draws", 30000, "--seed", 7)


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
    _, errors = process.communicate(timeout=900)
    assert process.returncode == 75, errors
    assert "coppice resume i.coppice" in errors
    coppice("resume", "i.coppice")
    assert exports(coppice, "i.coppice") == whole


def test_whoever_stops_a_command_that_still_reads_gets_the_exit_code_of_that(coppice):
    write_table(coppice.folder / "data.csv", blobs(1)[0])
    short = ("--chains", 1, "--warmup", 5, "--draws", 10)
    coppice("fit", "nrmm", "data.csv", "-o", "old.coppice", *short)
    pipe = coppice.folder / "pipe.csv"
    os.mkfifo(pipe)
    for command in (
        ("fit", "nrmm", "pipe.csv", "-o", "new.coppice"),
        ("update", "old.coppice", "pipe.csv", "-o", "new.coppice"),
        ("crossvalidate", "pipe.csv", "--models", "nrmm"),
    ):
        for sent in (signal.SIGINT, signal.SIGTERM):
            process = coppice.start(*command)
            with open(pipe, "wb"):  # waits until the command has opened it too
                process.send_signal(sent)
                _, errors = process.communicate(timeout=900)
            assert process.returncode == 75, (command, errors)
            assert errors == "coppice: stopped before the first step\n"
            assert not list(coppice.folder.glob("new.coppice*"))


def test_resuming_a_run_that_is_complete_says_so(coppice):
    write_table(coppice.folder / "data.csv", blobs(1)[0])
    for fit in (("nrmm", "--chains", 2, "--warmup", 5, "--draws", 57), ("bhc",)):
        coppice("fit", *fit, "data.csv", "-o", "r.coppice", "--overwrite")
        before = exports(coppice, "r.coppice") if fit[0] == "nrmm" else None
        said = coppice("resume", "r.coppice").stderr
        assert "nothing is left to do" in said and "wrote" not in said
        assert before is None or exports(coppice, "r.coppice") == before
    coppice("fit", "nrmm", "data.csv", "-o", "r.coppice", "--overwrite", "--draws", 20)
    assert "wrote r.coppice" in coppice("resume", "r.coppice", "--draws", "+10").stderr


def test_time_limit_then_resume(coppice):
    whole = prepare(coppice)
    coppice(*FIT, "-o", "l.coppice", "--time-limit", "0.1s", code=75)
    coppice("resume", "l.coppice")
    assert exports(coppice, "l.coppice") == whole


def test_more_draws_continue_the_same_chain(coppice):
    whole = prepare(coppice)
    short = [*FIT]
    short[short.index("--draws") + 1] = 10000
    coppice(*short, "-o", "e.coppice")
    coppice("resume", "e.coppice", "--draws", "+20000")
    assert exports(coppice, "e.coppice") == whole


def test_kill_at_random_moments(coppice):
    whole = prepare(coppice)
    whole_labels = whole[0].splitlines()
    clock = random.Random(1)
    killed = 0
    for attempt in range(KILLS):
        name = f"k{attempt}.coppice"
        process = coppice.start(*FIT, "-o", name)
        time.sleep(clock.uniform(0.0, 1.4))
        process.kill()
        process.communicate(timeout=900)
        if not (coppice.folder / name).exists():
            assert not list(coppice.folder.glob(f"{name}-*"))
            continue
        killed += 1
        summary = coppice.start("summary", name, "-q")
        _, errors = summary.communicate(timeout=900)
        assert summary.returncode in (0, 75), errors
        if summary.returncode == 75:
            assert "not every chain of the run has draws" in errors
        else:
            drawn = exports(coppice, name)[0].splitlines()
            assert set(drawn) <= set(whole_labels)
        coppice("resume", name, "-q")
        assert exports(coppice, name) == whole
    assert killed > KILLS // 3


def test_the_log_of_a_killed_run_does_not_enter_a_new_one_of_that_name(coppice):
    write_table(coppice.folder / "data.csv", blobs(5, rows=90)[0])
    process = coppice.start("fit", "nrmm", "data.csv", "--alpha", 50, "--draws", 2000000, "-o", "r.coppice")
    while not (coppice.folder / "r.coppice-wal").exists():
        time.sleep(0.01)
    time.sleep(1.2)
    process.kill()
    process.communicate(timeout=900)
    (coppice.folder / "r.coppice").unlink()
    coppice("fit", "nrmm", "data.csv", "--alpha", 0.5, "--chains", 2, "--draws", 30, "--warmup", 5, "-o", "r.coppice")
    lines = coppice("export", "r.coppice", "--what", "trace").stdout.splitlines()
    assert len(lines) == 61 and all(line.split(",")[lines[0].split(",").index("alpha")] == "0.5" for line in lines[1:])


def test_a_reader_at_the_end_of_a_fit_does_no_harm(coppice):
    write_table(coppice.folder / "data.csv", blobs(5, rows=90)[0])
    process = coppice.start(*FIT, "-o", "r.coppice")
    while not (coppice.folder / "r.coppice-wal").exists():
        time.sleep(0.005)
    reader = sqlite3.connect(coppice.folder / "r.coppice")
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM draws").fetchall()
    _, errors = process.communicate(timeout=900)
    reader.close()
    assert process.returncode == 0, errors
    assert coppice.json("summary", "r.coppice")["complete"]


def test_a_failed_overwrite_keeps_the_old_run(coppice):
    write_table(coppice.folder / "data.csv", blobs(1)[0])
    coppice("fit", "nrmm", "data.csv", "-o", "r.coppice", "--chains", 2, "--draws", 30)
    before = exports(coppice, "r.coppice")
    coppice("fit", "nrmm", "data.csv", "-o", "r.coppice", "--overwrite", "--family", "poisson", code=78)
    assert exports(coppice, "r.coppice") == before


def test_a_reader_that_has_seen_enough_is_no_error(coppice):
    write_table(coppice.folder / "data.csv", blobs(5, rows=90)[0])
    coppice(*FIT, "-o", "r.coppice")
    shell = f"{BINARY} export r.coppice --what labels | head -1 > /dev/null; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", shell], cwd=coppice.folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
