"""Runs that last until they can be trusted: the default, its budget, its sketch, and what fixes the length instead."""

import signal
import time

import pytest
from conftest import blobs, write_table


@pytest.fixture
def table(coppice):
    points, labels = blobs(1)
    write_table(coppice.folder / "data.csv", points, labels)
    return coppice


def labels_of(coppice, run):
    return coppice("export", run, "--what", "labels", "--to", "csv").stdout


def test_default_ends_when_it_can_be_trusted(table):
    said = table("fit", "nrmm", "data.csv", "--truth", "truth", "-o", "r.coppice", "--time-limit", "10m").stderr
    assert "4 chains until trusted, 10 min 0 s at most" in said
    answer = table.json("summary", "r.coppice")
    assert answer["trusted"] and answer["until"] == "trusted" and answer["complete"]
    assert answer["warmup"] > 0 and answer["draws"] >= 250
    assert "nothing is left to do" in table("resume", "r.coppice").stderr
    # The length it had, asked for, gives the same draws.
    length = ("--warmup", answer["warmup"], "--draws", answer["draws"], "--thin", answer["thin"])
    table("fit", "nrmm", "data.csv", "--truth", "truth", *length, "-o", "fixed.coppice", "--threads", 1)
    assert labels_of(table, "fixed.coppice") == labels_of(table, "r.coppice")
    assert not table.json("summary", "fixed.coppice")["until"] == "trusted"
    # More draws fix the length.
    table("resume", "r.coppice", "--draws", "+20")
    assert table.json("summary", "r.coppice")["draws"] == answer["draws"] + 20
    assert table.json("summary", "r.coppice")["until"] == "length"


def test_the_default_budget_is_said(table):
    said = table("fit", "nrmm", "data.csv", "--quick", "--time-limit", "0.001s", "-o", "r.coppice").stderr
    assert "a sketch by 4 chains" in said and "continue with: coppice resume r.coppice" in said
    assert "4 chains until trusted, 60 s at most (--time-limit)" in table("resume", "r.coppice").stderr


def test_used_budget_is_an_answer_and_is_resumed_to_the_same_run(table):
    fit = ("fit", "nrmm", "data.csv", "--truth", "truth")
    said = table(*fit, "-o", "cut.coppice", "--time-limit", "0.02s").stderr
    assert "20 ms are used and the run is not trusted yet" in said
    answer = table.json("summary", "cut.coppice")
    assert answer["complete"] and answer["draws"] >= 1
    table("resume", "cut.coppice", "--time-limit", "10m", "--threads", 1)
    table(*fit, "-o", "whole.coppice", "--time-limit", "10m")
    assert labels_of(table, "cut.coppice") == labels_of(table, "whole.coppice")


LONG_SWEEP = ("--sampler", "split-merge", "--split-merge-moves", 1_000_000)


def test_a_time_limit_ends_a_sweep_that_lasts(table):
    fit = ("fit", "nrmm", "data.csv", "--truth", "truth", *LONG_SWEEP)
    for limit in ("--time-limit", "0.3s"), ("--time-limit", "0.3s", "--draws", 10):
        begin = time.monotonic()
        said = table(*fit, *limit, "-o", "long.coppice", "--overwrite", code=75).stderr
        # A second when nothing else runs; without looking at the clock in the sweep it would be a minute.
        assert time.monotonic() - begin < 300
        assert "time limit reached" in said and "coppice resume long.coppice" in said
        assert "coppice resume long.coppice" in table("export", "long.coppice", "--what", "labels", code=75).stderr


def test_an_interrupt_ends_a_sweep_that_lasts(table):
    process = table.start("fit", "nrmm", "data.csv", "--truth", "truth", *LONG_SWEEP, "-o", "long.coppice")
    while not (table.folder / "long.coppice-wal").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 75 and "stopped: " in errors


def test_sketch_says_so_and_is_the_beginning_of_the_run(table):
    fit = ("fit", "nrmm", "data.csv", "--truth", "truth")
    begin = time.process_time()
    table(*fit, "-o", "sketch.coppice", "--quick", "--time-limit", "0.02s")
    assert time.process_time() - begin < 2.0
    answer = table.json("summary", "sketch.coppice")
    assert not answer["trusted"] and answer["verdict"].startswith("A sketch: ")
    table("resume", "sketch.coppice", "--time-limit", "10m")
    table(*fit, "-o", "whole.coppice", "--time-limit", "10m")
    assert labels_of(table, "sketch.coppice") == labels_of(table, "whole.coppice")


def test_fixed_lengths_keep_their_exit_codes(table):
    fit = ("fit", "nrmm", "data.csv", "--truth", "truth", "--chains", 2)
    assert "2 chains of 20 + 1000 sweeps" in table(*fit, "--warmup", 20, "-o", "a.coppice").stderr
    assert "2 chains of 500 + 30 sweeps" in table(*fit, "--draws", 30, "-o", "b.coppice").stderr
    assert "2 chains of 500 + 1000 sweeps" in table(*fit, "--until", "length", "-o", "c.coppice").stderr
    table(*fit, "--draws", 10**7, "--time-limit", "0.2s", "-o", "d.coppice", code=75)
    for contradiction in (("--until", "trusted", "--draws", 10), ("--quick", "--warmup", 10)):
        assert "--" in table(*fit, *contradiction, "-o", "e.coppice", code=78).stderr
    assert "MCMC" in table("fit", "bhc", "data.csv", "--quick", "-o", "e.coppice", code=78).stderr
    table.write(
        "run.toml", 'model = "nrmm"\ndata = "data.csv"\noutput = "t.coppice"\nuntil = "trusted"\ntime-limit = 0.001\n'
    )
    assert "until trusted, 1 ms at most" in table("fit", "--config", "run.toml").stderr


def test_runs_of_different_lengths_merge(table):
    for seed in (1, 2):
        table(
            "fit",
            "nrmm",
            "data.csv",
            "--truth",
            "truth",
            "--seed",
            seed,
            "-o",
            f"{seed}.coppice",
            "--time-limit",
            "10m",
        )
    table("merge", "1.coppice", "2.coppice", "-o", "both.coppice")
    answer = table.json("summary", "both.coppice")
    assert answer["chains"] == 8 and answer["complete"]
