"""One table in several files: the same draws as from one file, roles and errors, and files that change."""

import os
import pathlib
import signal
import time

import numpy as np
import pytest
from conftest import BINARY, blobs
from test_data_parallel import children, mpirun, needs_mpi, wait_for_draws

ROWS, CUTS = 1050, (0, 300, 301, 777, 1050)
MODULE = pathlib.Path(BINARY).parent / "libcoppice_arrow.so"
needs_arrow = pytest.mark.skipif(not MODULE.exists(), reason="this build has no Arrow")


def fit_command(data, run, draws=40, block=100):
    return (
        *("fit", "nrmm", *data, "--sampler", "data-parallel", "--block-size", block, "--chains", 1),
        *("--warmup", 10, "--draws", draws, "--seed", 7, "-o", run),
    )


def lines_of(seed=5):
    """A header and rows of two numbers, a color and a word, with gaps; one level of color is late."""
    rng = np.random.default_rng(seed)
    points, groups = blobs(seed, rows=ROWS)
    colors = np.array(["red", "green", "blue"])[np.where(rng.random(ROWS) < 0.8, groups, rng.integers(3, size=ROWS))]
    colors[-40:-20] = "late"
    cells = [
        [repr(float(x)), repr(round(float(y), 1)), color, rng.choice(["no", "yes"])]
        for (x, y), color in zip(points, colors)
    ]
    for row in range(0, ROWS, 29):
        cells[row][rng.integers(4)] = ""
    return ["x,y,color,answer", *(",".join(row) for row in cells)]


@pytest.fixture
def parts(coppice):
    """whole.csv and the same rows in four files of unequal lengths, one of a single row."""
    header, *rows = lines_of()
    coppice.write("whole.csv", "\n".join([header, *rows]) + "\n")
    names = []
    for i, (begin, end) in enumerate(zip(CUTS, CUTS[1:])):
        names.append(coppice.write(f"part-{i}.csv", "\n".join([header, *rows[begin:end]]) + "\n"))
    return names


def drawn(coppice, run, draw=39):
    """Traces, and the labels of all rows in the last draw."""
    trace = coppice("export", run, "--what", "trace", "-q").stdout
    folder = run.replace(".coppice", "-labels")
    coppice("export", run, "--what", "labels", "--draw", draw, "--to", "npy", "-o", f"{folder}/")
    return trace, np.concatenate([np.load(path) for path in sorted((coppice.folder / folder).iterdir())]).tolist()


def test_they_are_read_as_one_table(coppice, parts):
    coppice(*fit_command(["whole.csv"], "whole.coppice"))
    whole = drawn(coppice, "whole.coppice")
    assert len(whole[1]) == ROWS and len(set(whole[1])) > 1
    for threads in (1, 2):
        said = coppice(*fit_command(parts, f"t{threads}.coppice"), "--threads", threads, "--answer-rows", 200).stderr
        assert "nrmm on 1050 rows" in said
        assert drawn(coppice, f"t{threads}.coppice") == whole
    summary = coppice("summary", "t1.coppice").stdout
    assert "a random sample of 200 of the 1050 rows" in summary
    # Rows are named by their numbers in the whole table, and keep their cells.
    kept = coppice("export", "t1.coppice", "--what", "data", "-q").stdout.splitlines()
    rows = lines_of()
    for line in kept[1:20]:
        number, *cells = line.split(",")
        assert cells[2] == rows[int(number)].split(",")[2]
    table = coppice("export", "t1.coppice", "--what", "labels", "--draw", 39, "-q").stdout.splitlines()
    assert [int(line.split(",")[1]) for line in table[1:]] == whole[1] and table[-1].startswith(f"{ROWS},")


def test_arrays(coppice):
    points, _ = blobs(3, rows=ROWS)
    np.save(coppice.folder / "whole.npy", points)
    names = []
    for i, (begin, end) in enumerate(zip(CUTS, CUTS[1:])):
        names.append(f"part-{i}.npy")
        np.save(coppice.folder / names[-1], points[begin:end])
    coppice(*fit_command(["whole.npy"], "whole.coppice"))
    coppice(*fit_command(names, "parts.coppice"))
    assert drawn(coppice, "parts.coppice") == drawn(coppice, "whole.coppice")


@needs_arrow
def test_parquet(coppice):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    points, _ = blobs(3, rows=ROWS)
    table = pa.table({"x": points[:, 0], "y": points[:, 1]})
    parquet.write_table(table, coppice.folder / "whole.parquet")
    names = []
    for i, (begin, end) in enumerate(zip(CUTS, CUTS[1:])):
        names.append(f"part-{i}.parquet")
        parquet.write_table(table.slice(begin, end - begin), coppice.folder / names[-1])
    coppice(*fit_command(["whole.parquet"], "whole.coppice"))
    coppice(*fit_command(names, "parts.coppice"))
    assert drawn(coppice, "parts.coppice") == drawn(coppice, "whole.coppice")


@needs_mpi
def test_each_process_reads_its_own_rows(coppice, parts):
    coppice(*fit_command(["whole.csv"], "whole.coppice"))
    whole = drawn(coppice, "whole.coppice")
    for ranks in (1, 2, 4):
        process = mpirun(coppice, ranks, *fit_command(parts, f"r{ranks}.coppice"))
        _, errors = process.communicate(timeout=900)
        assert process.returncode == 0, errors
        assert drawn(coppice, f"r{ranks}.coppice") == whole


def test_what_cannot_be_one_table_is_refused(coppice, parts):
    coppice.write("other.csv", "x,z,color,answer\n1,2,red,no\n")
    said = coppice(*fit_command([*parts, "other.csv"], "r.coppice"), code=65).stderr
    assert "other.csv: its columns are x, z, color, answer, but those of part-0.csv are x, y, color, answer" in said
    said = coppice(*fit_command([*parts, "gone.csv"], "r.coppice"), code=66).stderr
    assert "gone.csv: cannot be read" in said
    said = coppice("fit", "nrmm", *parts, "-o", "r.coppice", code=78).stderr
    assert "part-0.csv and 3 more" in said and "--sampler data-parallel" in said
    for flag in ("--id", "--truth", "--weights"):
        assert (
            f"{flag} is for a table in one file"
            in coppice(*fit_command(parts, "r.coppice"), flag, "answer", code=78).stderr
        )
    coppice.write("bad.csv", "x,y,color,answer\n1,ten,red,no\n")
    book = '[[column]]\nname = "y"\nkind = "real"\n'
    said = coppice(
        *fit_command([*parts, "bad.csv"], "r.coppice"), "--codebook", coppice.write("book.toml", book), code=65
    ).stderr
    assert "bad.csv:2: column 'y': value 'ten'" in said
    assert not (coppice.folder / "r.coppice").exists()


def test_a_resumed_run_reads_the_same_files_or_names_the_one_that_is_not(coppice, parts):
    coppice(*fit_command(parts, "whole.coppice"))
    coppice(*fit_command(parts, "r.coppice", draws=20))
    unchanged = (coppice.folder / "part-2.csv").read_bytes()
    coppice.write("part-2.csv", unchanged.replace(b"red", b"rot", 1))
    said = coppice("resume", "r.coppice", "--draws", 40, code=65).stderr
    assert "part-2.csv: the file has changed since the fit began" in said
    (coppice.folder / "part-2.csv").unlink()
    said = coppice("resume", "r.coppice", "--draws", 40, code=66).stderr
    assert "part-2.csv: the file of the fit is not there any more" in said
    export = ("export", "r.coppice", "--what", "labels", "--draw", 0, "--to", "npy", "-o", "l/")
    assert "part-2.csv" in coppice(*export, code=66).stderr
    coppice.write("part-2.csv", unchanged)
    coppice("resume", "r.coppice", "--draws", 40)
    assert drawn(coppice, "r.coppice") == drawn(coppice, "whole.coppice")


def test_a_file_that_changes_during_the_fit_ends_it(coppice, parts):
    process = coppice.start(*fit_command(parts, "r.coppice", draws=1_000_000))
    wait_for_draws(process, coppice.folder / "r.coppice")
    os.utime(coppice.folder / "part-1.csv", (1, 1))
    _, errors = process.communicate(timeout=900)
    assert process.returncode == 65 and "part-1.csv: the file has changed since the fit began" in errors


@needs_mpi
@pytest.mark.parametrize("ranks", [2])
def test_a_killed_process_and_resume(coppice, parts, ranks):
    coppice(*fit_command(parts, "whole.coppice", draws=1000))
    process = mpirun(coppice, ranks, *fit_command(parts, "k.coppice", draws=1000))
    wait_for_draws(process, coppice.folder / "k.coppice")
    os.kill(children(process.pid)[-1], signal.SIGKILL)
    process.communicate(timeout=900)
    assert process.returncode != 0
    time.sleep(0.1)
    process = mpirun(coppice, ranks, "resume", "k.coppice")
    _, errors = process.communicate(timeout=900)
    assert process.returncode == 0, errors
    assert drawn(coppice, "k.coppice", 999) == drawn(coppice, "whole.coppice", 999)
