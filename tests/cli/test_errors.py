"""What goes wrong is said in one line, with place and remedy, and the right exit code."""

import gzip
import os
import shutil
import sqlite3

import pytest
from conftest import blobs, write_table


def one_line(result):
    """The error; what the columns were taken for may have been said before it."""
    lines = [line for line in result.stderr.strip().splitlines() if not line.startswith("columns: ")]
    assert len(lines) == 1, result.stderr
    return lines[0]


@pytest.mark.parametrize(
    "content, expected",
    [
        ("a,b\n1,2\n3\n", ["bad.csv:3"]),
        ("a,b\n1,2\n3,inf\n", ["bad.csv:3", "'b'", "inf"]),
        ("a,a\n1,2\n", ["bad.csv:1", "'a'"]),
        ("", ["bad.csv"]),
        ("a,b\n", ["bad.csv"]),
        ('a,b\n1,"2\n', ["bad.csv:2"]),
        ("a,b\n1,\x002\n", ["bad.csv:2"]),
    ],
)
def test_bad_tables(coppice, content, expected):
    message = one_line(coppice("fit", "nrmm", coppice.write("bad.csv", content), "-o", "r.coppice", code=65))
    for part in expected:
        assert part in message
    assert not (coppice.folder / "r.coppice").exists()


def test_bad_cell_of_a_declared_column(coppice):
    coppice.write("book.toml", '[[column]]\nname = "b"\nkind = "count"\n')
    coppice.write("bad.csv", "a,b\n1.5,2\n2.5,many\n")
    message = one_line(coppice("fit", "nrmm", "bad.csv", "--codebook", "book.toml", "-o", "r.coppice", code=65))
    assert "bad.csv:3" in message and "'b'" in message and "many" in message


def test_damaged_compression(coppice):
    whole = gzip.compress(b"a,b\n" + b"1.5,2\n" * 1000)
    one_line(coppice("fit", "nrmm", coppice.write("bad.csv.gz", whole[:-20]), "-o", "r.coppice", code=65))


def test_usage_and_configuration(coppice):
    write_table(coppice.folder / "data.csv", blobs(1)[0])
    fit = ("fit", "nrmm", "data.csv", "-o", "r.coppice")
    assert "no command 'nonsense'" in one_line(coppice("nonsense", code=2))
    assert "nrmm" in one_line(coppice("fit", "nonsense", "data.csv", "-o", "r.coppice", code=2))
    assert "a number > 0" in one_line(coppice(*fit, "--alpha", "-1", code=2))
    assert "gibbs" in one_line(coppice(*fit, "--sampler", "nuts", code=2))
    assert "mean_strength" in one_line(coppice(*fit, "--set", "nothing=1", code=78))
    assert "poisson" in one_line(coppice(*fit, "--family", "poisson", code=78))
    assert "gaussian" in one_line(coppice(*fit, "--family", "nothing", code=78))
    assert "2 x 2" in one_line(coppice(*fit, "--family", "gaussian", "--set", "scale=[[1,2]]", code=78))
    assert "nothing" in one_line(coppice(*fit, "--id", "nothing", code=78))
    assert "-o" in one_line(coppice("fit", "nrmm", "-", code=2))
    assert "standard output" in coppice("fit", "nrmm", "data.csv", "-o", "-", code=2).stderr
    assert "give one of them" in one_line(coppice(*fit, "--alpha", 1, "--alpha-prior", "2,1", code=78))
    expect = [*fit, "--expect-clusters"]
    assert "give one of them" in one_line(coppice(*expect, 2, "--alpha", 1, code=78))
    assert "give one of them" in one_line(coppice(*expect, 2, "--alpha-prior", "1,1", code=78))
    assert "Dirichlet process" in one_line(coppice(*expect, 2, "--process", "ngg", code=78))
    assert "1 or 2 numbers" in one_line(coppice(*expect, "2,1,1", code=2))
    assert "lies between 1 and" in one_line(coppice(*expect, 1000, code=78))
    assert "standard deviation can be between" in one_line(coppice(*expect, "2,50", code=78))
    assert "is not for bhc" in one_line(coppice("fit", "bhc", *fit[2:], "--expect-clusters", 2, code=78))
    assert "does not apply" in one_line(coppice(*fit, "--sampler", "gibbs", "--split-merge-moves", 3, code=78))
    assert "sweeps" in one_line(coppice(*fit, "--draws", 10**12, "--thin", 10**9, code=2))
    coppice.write("huge.csv", "a,b\n1e300,2\n-1e300,3\n0,1\n")
    assert "'a'" in one_line(coppice("fit", "nrmm", "huge.csv", "-o", "r.coppice", code=65))
    assert "5 parsecs" in one_line(coppice(*fit, "--time-limit", "5 parsecs", code=2))
    assert "coppice fit has no flag --bogus" in one_line(coppice(*fit, "--bogus", 3, code=2))
    assert not (coppice.folder / "r.coppice").exists()


def test_a_bad_value_of_a_configuration_file_has_its_place(coppice):
    write_table(coppice.folder / "data.csv", blobs(1)[0])
    head = 'model = "nrmm"\ndata = "data.csv"\noutput = "r.coppice"\n'
    for line, words, code in (
        ("draws = -5", ":4:9: --draws takes", 65),
        ('sampler = "gibs"', ":4:11: --sampler takes", 65),
        ("penalty = 1", ":4:11: --penalty is not a parameter of nrmm", 65),
        ("[set]\nshape = 3", ":5:9: --set shape", 78),
        ('[set]\ndof = "x"', ":5:7: --set dof", 78),
        (
            'family = "gaussian-diagonal"\n[set]\nwithin_fraction = -1',
            ":6:19: --set within_fraction=-1 for column 'x'",
            78,
        ),
        ('id = "name"', ":4:6: --id name: data.csv has no such column", 78),
        ('truth = ["nothing"]', ":4:9: --truth nothing: data.csv has no such column", 78),
        ('family = "normal"', ":4:10: family normal: there is no such family", 78),
        ('family = "poisson"', ":4:10: family poisson cannot model", 78),
        ('time-limit = "5 parsecs"', ":4:14: --time-limit: '5 parsecs'", 65),
        ('codebook = "nowhere.toml"', ":4:12: nowhere.toml: No such file", 66),
    ):
        coppice.write("run.toml", head + line + "\n")
        assert "run.toml" + words in one_line(coppice("fit", "--config", "run.toml", code=code))
    for text, words, code in (
        ('model = "nrm"\ndata = "data.csv"\noutput = "r.coppice"\n', ":1:9: model nrm: there is no such model", 65),
        ('model = "nrmm"\ndata = "none.csv"\noutput = "r.coppice"\n', ":2:8: none.csv: cannot be read", 66),
        ('model = "nrmm"\ndata = "data.csv"\noutput = "no/r.coppice"\n', ":3:10: no/r.coppice: ", 74),
    ):
        coppice.write("run.toml", text)
        assert "run.toml" + words in one_line(coppice("fit", "--config", "run.toml", code=code))
    # The command line wins, and is then the one to speak of.
    coppice.write("run.toml", head + "draws = 5\n")
    assert "coppice: --draws takes" in one_line(coppice("fit", "--config", "run.toml", "--draws", 0, code=2))


def test_files_that_are_not_there(coppice):
    assert "nothing.csv" in one_line(coppice("fit", "nrmm", "nothing.csv", "-o", "r.coppice", code=66))
    assert "nothing.coppice" in one_line(coppice("summary", "nothing.coppice", code=66))
    write_table(coppice.folder / "data.csv", blobs(1)[0])
    assert "no folder 'nowhere'" in one_line(coppice("fit", "nrmm", "data.csv", "-o", "nowhere/r.coppice", code=74))
    if os.path.isdir("/sys"):  # where not even root may write
        refusal = coppice("fit", "nrmm", "data.csv", "-o", "/sys/r.coppice", code=74).stderr.splitlines()[-1]
        assert "/sys/r.coppice: " in refusal and "No such file" not in refusal


def small_run(coppice, name="r.coppice"):
    write_table(coppice.folder / "data.csv", blobs(1)[0])
    coppice("fit", "nrmm", "data.csv", "-o", name, "--chains", 2, "--warmup", 10, "--draws", 30)


def test_an_existing_file_is_not_replaced(coppice):
    small_run(coppice)
    before = (coppice.folder / "r.coppice").read_bytes()
    fit = ("fit", "nrmm", "data.csv", "-o", "r.coppice", "--chains", 1, "--draws", 5)
    assert "exists" in coppice(*fit, code=74).stderr
    assert (coppice.folder / "r.coppice").read_bytes() == before
    coppice(*fit, "--overwrite")
    coppice.write("letter.txt", "dear aunt")
    coppice("fit", "nrmm", "data.csv", "-o", "letter.txt", "--overwrite", code=65)
    assert (coppice.folder / "letter.txt").read_text() == "dear aunt"


def test_damaged_and_foreign_run_files(coppice):
    small_run(coppice)
    good = (coppice.folder / "r.coppice").read_bytes()
    coppice.write("cut.coppice", good[: len(good) // 2])
    one_line(coppice("summary", "cut.coppice", code=65))
    one_line(coppice("summary", coppice.write("text.coppice", "hello"), code=65))
    one_line(coppice("summary", coppice.write("empty.coppice", ""), code=65))
    shutil.copy(coppice.folder / "r.coppice", coppice.folder / "future.coppice")
    with sqlite3.connect(coppice.folder / "future.coppice") as database:
        database.execute("PRAGMA user_version = 99")
    assert "newer" in one_line(coppice("summary", "future.coppice", code=65))
    assert "newer" in one_line(coppice("resume", "future.coppice", code=65))


def test_strict_diagnosis_of_a_hopeless_run(coppice):
    small_run(coppice)
    coppice("diagnose", "r.coppice", "--strict", code=1)
    coppice("diagnose", "r.coppice")


def test_write_errors_of_outputs(coppice):
    small_run(coppice)
    coppice("export", "r.coppice", "--what", "labels", "-o", "nowhere/x.csv", code=74)
    assert "trace" in one_line(
        coppice("export", "r.coppice", "--what", "trace", "--to", "netcdf", "-o", "x.nc", code=2)
    )


def test_columns_of_bits_that_are_called_a_class_are_asked_about(coppice):
    coppice.write("bits.csv", "x,class\n" + "".join(f"{i}.5,{i % 2}\n" for i in range(12)))
    note = coppice("fit", "nrmm", "bits.csv", "--chains", 1, "--warmup", 2, "--draws", 2, "-o", "bits.coppice").stderr
    assert "--truth class" in note


def test_deep_toml_is_refused(coppice):
    coppice.write("d.csv", "x,y\n1.5,2\n2.5,3\n3.5,5\n")
    coppice.write("deep.toml", "a = " + "[" * 100_000)
    for flags in (("--codebook", "deep.toml"), ("--config", "deep.toml")):
        error = coppice("fit", "nrmm", "d.csv", *flags, "-o", "r.coppice", code=65).stderr
        assert "deep.toml:1" in error and "nested too deeply" in error and len(error.splitlines()) == 1


def test_flags_as_people_write_them(coppice):
    coppice.write("d.csv", "x,y,z\n" + "".join(f"{i}.5,{i % 3}.25,{i * i}.5\n" for i in range(12)))
    short = ("--chains", 1, "--warmup", 2, "--draws", 2, "-q")
    coppice("fit", "nrmm", "d.csv", "--alpha", ".3", "--drop", "y,z", *short, "-o", "r.coppice")
    summary = coppice.json("summary", "r.coppice")
    assert summary["columns"] == 1
    assert "--drop w:" in coppice("fit", "nrmm", "d.csv", "--drop", "y,w", *short, "-o", "s.coppice", code=78).stderr
