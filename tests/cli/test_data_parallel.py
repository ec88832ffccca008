"""The data-parallel sampler: the same draws on any number of threads and processes, runs that keep parameters."""

import contextlib
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import time

import numpy as np
import pytest
from conftest import BINARY, blobs, write_table


def fit_command(run, draws=60, block=100):
    return (
        *("fit", "nrmm", "data.csv", "--sampler", "data-parallel", "--block-size", block, "--chains", 1),
        *("--warmup", 20, "--draws", draws, "--seed", 7, "--truth", "truth", "-o", run),
    )


MODULE = pathlib.Path(BINARY).parent / "libcoppice_mpi.so"


def prepare(coppice, rows=1050, missing=0.03):
    points, labels = blobs(5, rows=rows)
    write_table(coppice.folder / "data.csv", points, labels)
    lines = (coppice.folder / "data.csv").read_text().splitlines()
    rng = np.random.default_rng(1)
    for i in range(1, len(lines)):  # some cells are missing: they are filled in from the parameters, too
        if rng.uniform() < missing:
            cells = lines[i].split(",")
            cells[rng.integers(2)] = ""
            lines[i] = ",".join(cells)
    coppice.write("data.csv", "\n".join(lines) + "\n")


def fit(coppice, run, *more, **length):
    coppice(*fit_command(run, **length), *more)


def answers(coppice, run):
    exports = tuple(coppice("export", run, "--what", what, "-q").stdout for what in ("labels", "trace"))
    return *exports, coppice("impute", run, "-q").stdout


def test_threads_do_not_matter(coppice):
    prepare(coppice)
    fit(coppice, "one.coppice", "--threads", 1)
    fit(coppice, "two.coppice", "--threads", 2)
    assert answers(coppice, "one.coppice") == answers(coppice, "two.coppice")


def test_the_block_size_matters_and_is_kept(coppice):
    prepare(coppice)
    fit(coppice, "one.coppice")
    fit(coppice, "other.coppice", block=70)
    assert answers(coppice, "one.coppice")[1] != answers(coppice, "other.coppice")[1]


def test_killed_runs_continue_with_the_same_draws(coppice):
    prepare(coppice)
    fit(coppice, "whole.coppice", draws=2000)
    whole = answers(coppice, "whole.coppice")
    process = coppice.start(*fit_command("k.coppice", draws=2000))
    for _ in range(3):
        while not (coppice.folder / "k.coppice").exists():
            time.sleep(0.01)
        time.sleep(0.7)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=900)
        process = coppice.start("resume", "k.coppice")
    _, errors = process.communicate(timeout=900)
    assert process.returncode == 0, errors
    assert answers(coppice, "k.coppice") == whole


def test_labels_of_a_draw_are_made_again_by_blocks_of_rows(coppice):
    prepare(coppice)
    fit(coppice, "r.coppice")
    lines = coppice("export", "r.coppice", "--what", "labels", "-q").stdout.splitlines()
    last = np.array(lines[-1].split(",")[3:], dtype=int)
    coppice("export", "r.coppice", "--what", "labels", "--draw", 59, "--to", "npy", "-o", "shards/")
    shards = sorted((coppice.folder / "shards").iterdir())
    assert [path.name for path in shards] == ["labels-00000.npy"]
    assert np.array_equal(np.concatenate([np.load(path) for path in shards]), last)
    table = coppice("export", "r.coppice", "--what", "labels", "--draw", 59, "-q").stdout.splitlines()
    assert table[0] == "row,cluster" and len(table) == 1051
    assert [int(line.split(",")[1]) for line in table[1:]] == list(last)
    assert "there is no draw 60" in coppice("export", "r.coppice", "--what", "labels", "--draw", 60, code=2).stderr
    # The run is small: parameters of sixty draws, not their labels.
    with_labels = len(lines) * 1050
    assert (coppice.folder / "r.coppice").stat().st_size < with_labels + 200_000


def test_answers_about_a_sample_of_rows_say_so(coppice):
    prepare(coppice)
    fit(coppice, "r.coppice", "--answer-rows", 200)
    said = coppice.json("summary", "r.coppice")
    assert (said["rows"], said["answer_rows"]) == (1050, 200)
    assert "a random sample of 200 of the 1050 rows" in said["sample_note"]
    shown = coppice("summary", "r.coppice")
    assert "a random sample of 200 of the 1050 rows" in shown.stdout and "1050 rows" in shown.stdout
    consensus = coppice("export", "r.coppice", "--what", "consensus")
    assert len(consensus.stdout.splitlines()) == 201 and "a random sample" in consensus.stderr
    matrix = coppice("export", "r.coppice", "--what", "coclustering", "-q").stdout.splitlines()
    assert len(matrix) == 201
    assert coppice.json("score", "r.coppice", "--truth", "truth")["scores"][0]["levels"][0]["ari"] > 0.9
    coppice("report", "r.coppice", "-o", "report.html")
    assert "a random sample of 200 of the 1050 rows" in (coppice.folder / "report.html").read_text()
    # Labels and predictions are about all rows, and those of the sample are the same as ever.
    assert len(coppice("export", "r.coppice", "--what", "labels", "-q").stdout.splitlines()[0].split(",")) == 1053
    fit(coppice, "all.coppice", "--answer-rows", 0)
    assert answers(coppice, "r.coppice") == answers(coppice, "all.coppice")
    assert "answer_rows" not in coppice.json("summary", "all.coppice")


def test_new_rows_mean_a_fit_from_scratch(coppice):
    prepare(coppice, missing=0.0)
    fit(coppice, "r.coppice")
    said = coppice("update", "r.coppice", "data.csv", "-o", "n.coppice", "--truth", "truth").stderr
    assert "inserts no rows: everything is learned again, from all 2100 rows" in said
    assert coppice.json("summary", "n.coppice")["rows"] == 2100


def test_auto_takes_it_for_many_rows(coppice):
    points, _ = blobs(3, rows=100_001)
    np.save(coppice.folder / "many.npy", points)
    short = ("--chains", 1, "--warmup", 1, "--draws", 2)
    said = coppice("fit", "nrmm", "many.npy", "-o", "m.coppice", *short).stderr
    assert "sampler auto: data-parallel, because there are 100001 rows" in said
    said = coppice("fit", "nrmm", "many.npy", "-o", "s.coppice", *short, "--block-moves", 1).stderr
    assert "data-parallel" not in said


needs_mpi = pytest.mark.skipif(
    not MODULE.exists() or shutil.which("mpirun") is None, reason="this build has no MPI, or there is no mpirun"
)
MPIRUN = ("mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none")


def mpirun(coppice, ranks, *arguments):
    # Processes that wait give way: on a busy machine they share a core.
    waiting = {"OMPI_MCA_btl_base_warn_component_unused": "0", "OMPI_MCA_mpi_yield_when_idle": "1"}
    return subprocess.Popen(
        [*MPIRUN, "-n", str(ranks), BINARY, *map(str, arguments)],
        cwd=coppice.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **waiting},
    )


def children(process):
    """The numbers of the processes that this one started."""
    tasks = pathlib.Path(f"/proc/{process}/task").glob("*/children")
    return sorted(int(child) for task in tasks for child in task.read_text().split())


def wait_for_draws(process, run):
    """Until the run file holds draws while the process still works on it."""
    while process.poll() is None:
        if run.exists():
            with contextlib.closing(sqlite3.connect(f"{run.as_uri()}?mode=ro", uri=True)) as database:
                with contextlib.suppress(sqlite3.OperationalError):  # nothing is committed yet
                    if database.execute("SELECT count(*) FROM draws").fetchone()[0] > 0:
                        return
        time.sleep(0.01)
    raise AssertionError(f"the job ended before it was interrupted: {process.stderr.read()}")


@needs_mpi
def test_processes_do_not_matter(coppice):
    prepare(coppice)
    fit(coppice, "alone.coppice")
    alone = answers(coppice, "alone.coppice")
    for ranks in (1, 2, 4):
        process = mpirun(coppice, ranks, *fit_command(f"r{ranks}.coppice"))
        _, errors = process.communicate(timeout=900)
        assert process.returncode == 0, errors
        assert answers(coppice, f"r{ranks}.coppice") == alone


@needs_mpi
def test_a_killed_process_ends_the_job_and_resume_continues_it(coppice):
    prepare(coppice)
    fit(coppice, "whole.coppice", draws=4000)
    process = mpirun(coppice, 3, *fit_command("k.coppice", draws=4000))
    wait_for_draws(process, coppice.folder / "k.coppice")
    ranks = children(process.pid)
    assert len(ranks) == 3
    os.kill(ranks[-1], signal.SIGKILL)
    process.communicate(timeout=900)
    assert process.returncode != 0
    process = mpirun(coppice, 2, "resume", "k.coppice")
    _, errors = process.communicate(timeout=900)
    assert process.returncode == 0, errors
    assert answers(coppice, "k.coppice") == answers(coppice, "whole.coppice")


@needs_mpi
def test_other_samplers_are_refused_under_mpirun(coppice):
    prepare(coppice)
    process = mpirun(coppice, 2, "fit", "nrmm", "data.csv", "--drop", "truth", "-o", "g.coppice", "--sampler", "gibbs")
    _, errors = process.communicate(timeout=900)
    assert process.returncode == 78 and "--sampler data-parallel" in errors
