"""The first ten minutes: nothing typed, little typed, something mistyped. Every answer says what to type next."""

import gzip
import pathlib

import pytest
from conftest import ROOT, blobs, write_table

SHORT = ("--chains", 2, "--warmup", 20, "--draws", 30)


@pytest.fixture
def table(coppice):
    write_table(coppice.folder / "points.csv", *blobs(1))
    return "points.csv"


def last_line(result):
    return result.stderr.strip().splitlines()[-1]


def test_the_name_alone_shows_the_first_steps(coppice):
    result = coppice(code=2)
    assert result.stdout == ""
    for command in ("coppice demo", "coppice fit DATA.csv", "coppice summary DATA.coppice", "coppice --help"):
        assert command in result.stderr


def test_demo_runs_what_it_shows(coppice):
    result = coppice("demo", "there")
    folder = coppice.folder / "there"
    assert (folder / "visitors.csv").read_bytes() == (ROOT / "examples" / "mixed.csv").read_bytes()
    assert (folder / "animals.csv").read_bytes() == (ROOT / "examples" / "animals.csv").read_bytes()
    assert "<html" in (folder / "visitors.html").read_text()
    shown = [line[2:].split()[1] for line in result.stderr.splitlines() if line.startswith("$ coppice ")]
    assert shown == ["fit", "summary", "score", "report"]
    assert result.stdout.startswith(("Trust it", "Do not trust"))
    assert coppice.json("summary", "there/visitors.coppice")["rows"] == 120
    coppice("demo", "there", "-q")  # again: its own files may be replaced
    coppice.write("there/visitors.csv", "x\n1\n")
    assert "give another folder: coppice demo there-2" in last_line(coppice("demo", "there", code=74))


def test_a_fit_without_a_model_chooses_one_and_says_why(coppice, table):
    result = coppice("fit", table, "--truth", "truth", *SHORT)
    assert "model: nrmm, because none is named" in result.stderr
    assert coppice.json("summary", "points.coppice")["model"] == "nrmm"
    # Where it was written, and how to look at it.
    assert last_line(result) == "wrote points.coppice; look at it with: coppice summary points.coppice"
    named = coppice("fit", "nrmm", table, "--truth", "truth", *SHORT, "-o", "named.coppice")
    assert "none is named" not in named.stderr
    labels = [coppice("export", run, "--what", "labels").stdout for run in ("points.coppice", "named.coppice")]
    assert labels[0] == labels[1]


def test_a_fit_with_labels_chooses_the_classifier(coppice):
    coppice.write("l.csv", "x,y,one\n" + "".join(f"{i % 2 * 5 + i / 50},{i % 7},{i % 2}\n" for i in range(40)))
    result = coppice("fit", "l.csv", "--labels", "one")
    assert "model: bnmc, because there are labels to learn" in result.stderr
    assert coppice.json("summary", "l.coppice")["model"] == "bnmc"


@pytest.mark.parametrize("name", ["a.csv.gz", "b.tsv", "folder/c.csv", "plain"])
def test_a_run_is_named_after_its_table(coppice, table, name):
    text = (coppice.folder / table).read_text()
    (coppice.folder / "folder").mkdir()
    if name.endswith(".gz"):
        (coppice.folder / name).write_bytes(gzip.compress(text.encode()))
    else:
        coppice.write(name, text.replace(",", "\t") if name.endswith(".tsv") else text)
    coppice("fit", "nrmm", name, *SHORT, "-q")
    assert (coppice.folder / (pathlib.Path(name).name.split(".")[0] + ".coppice")).exists()
    # It is not replaced.
    assert "exists" in coppice("fit", "nrmm", name, *SHORT, "-q", code=74).stderr


@pytest.mark.parametrize(
    "words, code, expected",
    [
        (["sumary", "r.coppice"], 2, "there is no command 'sumary'; did you mean 'summary'?"),
        (["points.csv"], 2, "fit a table with: coppice fit points.csv"),
        (["r.coppice"], 2, "look at a run with: coppice summary r.coppice"),
        (["fit", "nrmm", "points.csv", "--chain", "2"], 2, "coppice fit has no flag --chain; did you mean '--chains'?"),
        (["fit", "nrmm", "points.csv", "--drws=5"], 2, "no flag --drws; did you mean '--draws'?"),
        (["fit", "nrm", "points.csv"], 2, "there is no such model; did you mean 'nrmm'?"),
        (["fit", "nrm"], 2, "there is no model 'nrm'; did you mean 'nrmm'?"),
        (["fit", "points.csv", "nrmm"], 2, "the model comes first: coppice fit nrmm points.csv"),
        (["fit"], 2, "coppice fit needs a table: coppice fit DATA.csv"),
        (["fit", "nrmm"], 2, "coppice fit needs a table: coppice fit nrmm DATA.csv"),
        (["fit", "nrmm", "-"], 2, "add -o RUN.coppice"),
        (["fit", "point.csv"], 66, "No such file or directory; did you mean 'points.csv'?"),
        (["fit", "points.csv", "--truth", "trut"], 78, "did you mean 'truth'?"),
        (["fit", "nrmm", "points.csv", "--penalty", "1"], 2, "--penalty is not a parameter of nrmm"),
        (["summary", "points.csv"], 65, "this is a table, not a run; fit it first: coppice fit points.csv"),
        (["summary", "s.coppice"], 66, "did you mean 'r.coppice'?"),
        (["fit", "r.coppice"], 65, "this is a run, not a table; look at it with: coppice summary r.coppice"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_mistakes_are_answered_with_what_to_type(coppice, table, words, code, expected):
    if "r.coppice" in words or "s.coppice" in words:
        coppice("fit", "nrmm", table, *SHORT, "-q", "-o", "r.coppice")
    assert expected in last_line(coppice(*words, code=code))
    assert not (coppice.folder / "points.coppice").exists()


def test_what_is_far_from_everything_is_not_guessed(coppice):
    assert "did you mean" not in coppice("photosynthesis", code=2).stderr
