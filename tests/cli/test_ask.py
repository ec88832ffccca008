"""coppice ask: answers as text and JSON, and refusals with a remedy."""

import json

import pytest

SHORT = ("--chains", 2, "--warmup", 40, "--draws", 40)


def table(rows=60):
    lines = ["id,x,color,visits"]
    for i in range(rows):
        left = i % 2 == 0
        x = (-3.0 if left else 3.0) + ((i * 7) % 11 - 5) / 8
        lines.append(
            f"r{i},{40.0 if i == 9 else x:.2f},{'red' if left == (i % 10 != 4) else 'blue'},{i % 3 + 6 * left}"
        )
    return "\n".join(lines) + "\n"


@pytest.fixture
def run(coppice):
    coppice.write("data.csv", table())
    coppice("fit", "crosscat", "data.csv", "--id", "id", *SHORT, "-o", "run.coppice")
    return "run.coppice"


def test_all_four_questions(coppice, run):
    pairs = json.loads(coppice("ask", "depend", run, "--json").stdout)
    assert len(pairs) == 3 and pairs[0]["mutual_information"] >= pairs[-1]["mutual_information"] >= 0.0
    assert all(pair["low"] <= pair["mutual_information"] <= pair["high"] for pair in pairs)
    rows = json.loads(coppice("ask", "anomalies", run, "--top", 2, "--json").stdout)
    assert rows[0]["row"] == "r9" and rows[0]["cells"][0]["column"] == "x" and rows[0]["cells"][0]["value"] == 40.0
    near = json.loads(coppice("ask", "similar", run, "r0", "--json").stdout)
    assert len(near) == 10 and all(0.0 <= entry["similarity"] <= 1.0 for entry in near)
    cell = json.loads(coppice("ask", "predict", run, "color", "--given", "x=-3.1", "--json").stdout)[0]
    assert cell["mode"] == "red" and cell["probability"] > cell["without"]["probabilities"]["red"]
    for words in (["depend", run], ["anomalies", run], ["similar", run, "r0", "r2"], ["predict", run, "x"]):
        assert len(coppice("ask", *words).stdout.splitlines()) >= 2


def test_new_rows_are_judged_too(coppice, run):
    coppice.write("new.csv", "id,x,color,visits\na,-3.0,red,7\nb,-90.0,red,7\n")
    rows = json.loads(coppice("ask", "anomalies", run, "new.csv", "--json").stdout)
    assert [row["row"] for row in rows] == ["b", "a"] and rows[0]["cells"][0]["column"] == "x"


@pytest.mark.parametrize(
    ("words", "code", "remedy"),
    [
        (["depend", "run.coppice", "colr"], 2, "color"),
        (["similar", "run.coppice", "r99x"], 2, "no such row"),
        (["similar", "run.coppice"], 2, "names of one or two rows"),
        (["predict", "run.coppice", "x", "--given", "color"], 2, "COLUMN=VALUE"),
        (["predict", "run.coppice", "x", "--given", "color=green"], 65, "green"),
        (["predict", "run.coppice", "x", "--given", "x=1"], 2, "both known and asked for"),
        (["predict", "run.coppice", "x", "--given", "color=red", "--given", "color=blue"], 2, "twice"),
        (["nonsense", "run.coppice"], 2, "depend"),
    ],
)
def test_refusals(coppice, run, words, code, remedy):
    error = coppice("ask", *words, code=code).stderr
    assert remedy in error and len(error.splitlines()) == 1


def test_greedy_models_judge_new_rows_only(coppice):
    coppice.write("data.csv", table())
    coppice("fit", "bhc", "data.csv", "--id", "id", "-o", "tree.coppice")
    assert "nrmm" in coppice("ask", "anomalies", "tree.coppice", code=78).stderr
    assert coppice("ask", "anomalies", "tree.coppice", "data.csv").stdout
