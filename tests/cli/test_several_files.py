"""One table in several files: the same draws as from one file, roles and errors, and files that change."""

import datetime
import decimal
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


def write_parquet(folder):
    """whole.parquet and the same rows in four files; levels come first in another order in each of them."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(3)
    points, groups = blobs(3, rows=ROWS)
    names = np.array(["red", "green", "blue"])[np.where(rng.random(ROWS) < 0.8, groups, rng.integers(3, size=ROWS))]
    late = rng.random(ROWS) < 0.05
    late[: CUTS[2]] = False
    start = datetime.datetime(2024, 2, 28)
    columns = {
        "x": pa.array(points[:, 0], mask=rng.random(ROWS) < 0.05),
        "y": pa.array([decimal.Decimal(f"{y:.2f}") for y in points[:, 1]], pa.decimal128(9, 2)),
        "color": pa.array(np.where(late, "late", names), mask=rng.random(ROWS) < 0.05).dictionary_encode(),
        "answer": pa.array(rng.choice(["no", "yes"], ROWS), pa.large_string()),
        "flag": pa.array(rng.random(ROWS) < 0.3 + 0.5 * (groups == 1), mask=rng.random(ROWS) < 0.05),
        "moment": pa.array([start + datetime.timedelta(hours=h) for h in rng.normal(size=ROWS)], pa.timestamp("us")),
        "empty": pa.nulls(ROWS),
    }
    table = pa.table(columns)
    parquet.write_table(table, folder / "whole.parquet", row_group_size=200)
    parts = [f"part-{i}.parquet" for i in range(len(CUTS) - 1)]
    for part, begin, end in zip(parts, CUTS, CUTS[1:]):
        # A table of its own: its dictionary has the levels in the order in which they occur there.
        cells = {name: column.slice(begin, end - begin) for name, column in columns.items()}
        cells["color"] = cells["color"].dictionary_decode().dictionary_encode()
        parquet.write_table(pa.table(cells), folder / part)
    return parts


@needs_arrow
def test_parquet(coppice):
    parts = write_parquet(coppice.folder)
    said = [
        coppice(*fit_command(data, run)).stderr
        for data, run in ((["whole.parquet"], "whole.coppice"), (parts, "parts.coppice"))
    ]
    for lines in said:
        assert "columns: 3 real (1 date), 2 binary, 1 category" in lines and "column 'empty' is left out" in lines
    assert drawn(coppice, "parts.coppice") == drawn(coppice, "whole.coppice")


@needs_arrow
def test_new_rows_of_parquet_have_the_levels_of_the_fit(coppice):
    csv = pytest.importorskip("pyarrow.csv")
    parquet = pytest.importorskip("pyarrow.parquet")
    parts = write_parquet(coppice.folder)
    coppice(*fit_command(["whole.parquet"], "whole.coppice"))
    table = parquet.read_table(coppice.folder / parts[2])
    csv.write_csv(table, coppice.folder / "rows.csv")
    answers = [coppice("predict", "whole.coppice", rows, "-q").stdout for rows in (parts[2], "rows.csv")]
    assert answers[0] == answers[1] and len(answers[0].splitlines()) == table.num_rows + 1


@needs_mpi
@needs_arrow
def test_each_process_reads_its_own_rows_of_parquet(coppice):
    parts = write_parquet(coppice.folder)
    coppice(*fit_command(["whole.parquet"], "whole.coppice"))
    process = mpirun(coppice, 2, *fit_command(parts, "ranks.coppice"))
    _, errors = process.communicate(timeout=900)
    assert process.returncode == 0, errors
    assert drawn(coppice, "ranks.coppice") == drawn(coppice, "whole.coppice")


@pytest.mark.skipif(MODULE.exists(), reason="this build has Arrow")
def test_without_arrow_the_message_says_how_to_get_it(coppice):
    (coppice.folder / "t.parquet").write_bytes(b"PAR1")
    said = coppice(*fit_command(["t.parquet"], "r.coppice"), code=78).stderr
    assert "t.parquet: this build reads no Parquet" in said and "-DCOPPICE_ARROW" in said and "pyarrow" in said


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
