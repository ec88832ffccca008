"""--weights: rows that stand for several equal ones."""

import numpy as np
import pytest

COUNTS = """color,shape,visits,people
red,round,0,40
red,round,1,25
red,flat,0,3
blue,flat,6,30
blue,flat,7,22
blue,round,5,2
green,long,2,12
green,long,3,18
"""
SHORT = ("--warmup", 100, "--draws", 60, "--seed", 3)


@pytest.fixture
def table(coppice):
    return coppice.write("counts.csv", COUNTS)


def test_answers_say_that_weights_were_used(coppice, table):
    result = coppice("fit", "nrmm", table, "--weights", "people", *SHORT, "-o", "run.coppice")
    assert "row weights 'people': 8 rows count as 152" in result.stderr
    assert "8 rows of weight 152 in all" in result.stderr
    assert "8 rows of weight 152 in all ('people')" in coppice("summary", "run.coppice").stdout
    assert coppice.json("summary", "run.coppice")["weights"] == {"column": "people", "total": 152.0}
    coppice("report", "run.coppice", "-o", "report.html")
    assert "8 rows count as 152" in (coppice.folder / "report.html").read_text(encoding="utf-8")
    assert "--weights people" in (coppice.folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("model", ["nrmm", "bhc"])
def test_every_question_is_answered(coppice, table, model):
    length = SHORT if model == "nrmm" else ()
    coppice("fit", model, table, "--weights", "people", *length, "-o", "run.coppice")
    profile = coppice.json("profile", "run.coppice")
    assert profile
    # New rows need no weights, and a column of them is passed over.
    coppice.write("new.csv", "color,shape,visits\nred,round,0\nblue,flat,6\n")
    for new in ("new.csv", table):
        lines = coppice("predict", "run.coppice", new).stdout.splitlines()
        assert len(lines) > 2
    coppice("export", "run.coppice", "--what", "coclustering")
    coppice("sample", "run.coppice", "--n", 5)
    coppice("diagnose", "run.coppice")


def test_copies_weigh_predictions(coppice):
    """One cluster for certain: what it predicts are the shares of the copies."""
    coppice.write("two.csv", "x,y,n\n1,a,90\n0,a,10\n1,a,1\n")
    coppice("fit", "nrmm", "two.csv", "--weights", "n", "--alpha", 1e-9, *SHORT, "-o", "run.coppice")
    lines = coppice("sample", "run.coppice", "--n", 2000, "--seed", 1).stdout.splitlines()
    place = lines[0].split(",").index("x")
    share = np.mean([line.split(",")[place] == "1" for line in lines[1:]])
    assert abs(share - 91.0 / 101.0) < 5 * np.sqrt(0.9 * 0.1 / 2000) + 0.01


def test_a_longer_run_is_the_same_run(coppice, table):
    def labels(name):
        return coppice("export", name, "--what", "labels").stdout

    coppice("fit", "nrmm", table, "--weights", "people", *SHORT, "-o", "whole.coppice")
    coppice("fit", "nrmm", table, "--weights", "people", *SHORT[:2], "--draws", 20, *SHORT[4:], "-o", "part.coppice")
    coppice("resume", "part.coppice", "--draws", 60)
    assert labels("part.coppice") == labels("whole.coppice")
    coppice("fit", "nrmm", table, "--drop", "people", *SHORT, "-o", "plain.coppice")
    assert labels("plain.coppice") != labels("whole.coppice")


def test_what_cannot_be_done_is_refused(coppice, table):
    for model in ("crosscat", "nhcm", "rbhmc", "bhcc"):
        result = coppice("fit", model, table, "--weights", "people", "-o", "no.coppice", code=78)
        assert f"the model {model} takes no row weights; nrmm and bhc do" in result.stderr
    result = coppice("fit", "nrmm", table, "--weights", "peple", "-o", "no.coppice", code=78)
    assert "people" in result.stderr
    coppice("fit", "nrmm", table, "--weights", "people", *SHORT, "-o", "run.coppice")
    assert "row weights" in coppice("update", "run.coppice", table, code=78).stderr
    coppice.write("half.csv", COUNTS.replace(",40", ",0.5"))
    assert (
        "whole number" in coppice("fit", "nrmm", "half.csv", "--weights", "people", "-o", "no.coppice", code=65).stderr
    )


def test_questions_about_single_cells_refuse_weights(coppice, table):
    coppice("fit", "nrmm", table, "--weights", "people", *SHORT, "-o", "run.coppice")
    assert "fit without --weights" in coppice("ask", "depend", "run.coppice", code=78).stderr
    assert "fit without --weights" in coppice("ask", "anomalies", "run.coppice", code=78).stderr
