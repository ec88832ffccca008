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
NUMBERS = [(x, y, 1 + (x * y) % 5) for x in range(6) for y in (0, 1, 7, 8)]
NUMBERS_TOTAL = sum(people for _, _, people in NUMBERS)
SHORT = ("--warmup", 100, "--draws", 60, "--seed", 3)


@pytest.fixture
def table(coppice):
    return coppice.write("counts.csv", COUNTS)


@pytest.fixture
def numbers(coppice):
    """Arguments that name a table of coarse numbers and its kinds."""
    path = coppice.write("numbers.csv", "x,y,people\n" + "".join(f"{x},{y},{n}\n" for x, y, n in NUMBERS))
    kinds = "".join(f'[[column]]\nname = "{name}"\nkind = "real"\n' for name in "xy")
    return path, "--codebook", coppice.write("real.toml", kinds)


def test_answers_say_that_weights_were_used(coppice, table):
    result = coppice("fit", "nrmm", table, "--weights", "people", *SHORT, "-o", "run.coppice")
    assert "row weights 'people': 8 rows count as 152" in result.stderr
    assert "8 rows of weight 152 in all" in result.stderr
    assert "8 rows of weight 152 in all ('people')" in coppice("summary", "run.coppice").stdout
    assert coppice.json("summary", "run.coppice")["weights"] == {"column": "people", "total": 152.0}
    coppice("report", "run.coppice", "-o", "report.html")
    assert "8 rows count as 152" in (coppice.folder / "report.html").read_text(encoding="utf-8")
    assert "--weights people" in (coppice.folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("model", ["nrmm", "crosscat", "bhc", "bhcc"])
def test_every_question_is_answered(coppice, table, model):
    length = SHORT if model in ("nrmm", "crosscat") else ()
    coppice("fit", model, table, "--weights", "people", *length, "-o", "run.coppice")
    profile = coppice.json("profile", "run.coppice")
    assert profile
    # New rows need no weights, and a column of them is passed over.
    coppice.write("new.csv", "color,shape,visits\nred,round,0\nblue,flat,6\n")
    for new in ("new.csv", table):
        lines = coppice("predict", "run.coppice", new).stdout.splitlines()
        assert len(lines) > 2
    coppice.write("column.csv", "size\n" + "\n".join("34352164") + "\n")
    assert "size" in coppice("predict", "run.coppice", "column.csv", "--columns").stdout
    coppice("impute", "run.coppice", coppice.write("gaps.csv", "color,shape,visits\nred,,0\n,flat,\n"))
    assert coppice.json("summary", "run.coppice")["weights"]["total"] == 152.0
    coppice("export", "run.coppice", "--what", "coclustering")
    if model in ("crosscat", "bhcc"):
        assert coppice.json("views", "run.coppice")["views"]
    coppice("report", "run.coppice", "-o", "report.html")
    coppice("sample", "run.coppice", "--n", 5)
    coppice("diagnose", "run.coppice")


@pytest.mark.parametrize("model", ["nrmm", "crosscat"])
def test_copies_weigh_predictions(coppice, model):
    """One cluster for certain: what it predicts are the shares of the copies."""
    coppice.write("two.csv", "x,y,n\n1,a,90\n0,a,10\n1,a,1\n")
    alpha = "--alpha" if model == "nrmm" else "--alpha-rows"
    coppice("fit", model, "two.csv", "--weights", "n", alpha, 1e-9, *SHORT, "-o", "run.coppice")
    lines = coppice("sample", "run.coppice", "--n", 2000, "--seed", 1).stdout.splitlines()
    place = lines[0].split(",").index("x")
    share = np.mean([line.split(",")[place] == "1" for line in lines[1:]])
    assert abs(share - 91.0 / 101.0) < 5 * np.sqrt(0.9 * 0.1 / 2000) + 0.01


@pytest.mark.parametrize("model", ["nrmm", "crosscat", "bhc", "bhcc"])
def test_new_columns_have_the_cells_of_all_copies(coppice, model):
    """One cluster for certain: what a new column is worth is that of the repeated one."""
    coppice.write("rows.csv", "x,y,n\nyes,a,3\nno,b,1\nyes,b,2\nno,a,4\n")
    coppice.write("repeated.csv", "x,y\n" + 3 * "yes,a\n" + "no,b\n" + 2 * "yes,b\n" + 4 * "no,a\n")
    coppice.write("column.csv", "z\nu\nv\nw\nu\n")
    coppice.write("repeated_column.csv", "z\n" + 3 * "u\n" + "v\n" + 2 * "w\n" + 4 * "u\n")
    alpha = "--alpha" if model == "nrmm" else "--alpha-rows"
    length = SHORT if model in ("nrmm", "crosscat") else ()
    settings = (alpha, 1e-30, "--hyper", "fixed", *length)
    coppice("fit", model, "rows.csv", "--weights", "n", *settings, "-o", "weighted.coppice")
    coppice("fit", model, "repeated.csv", *settings, "-o", "plain.coppice")

    def density(run, column):
        return coppice.json("predict", run, column, "--columns")[0]["log_density"]

    found = density("weighted.coppice", "column.csv")
    assert abs(found - density("plain.coppice", "repeated_column.csv")) < 1e-6


@pytest.mark.parametrize("model", ["nrmm", "crosscat", "nhcm"])
def test_a_longer_run_is_the_same_run(coppice, table, numbers, model):
    def labels(name):
        return coppice("export", name, "--what", "labels").stdout

    rows = numbers if model == "nhcm" else (table,)
    coppice("fit", model, *rows, "--weights", "people", *SHORT, "-o", "whole.coppice")
    coppice("fit", model, *rows, "--weights", "people", *SHORT[:2], "--draws", 20, *SHORT[4:], "-o", "part.coppice")
    coppice("resume", "part.coppice", "--draws", 60)
    assert labels("part.coppice") == labels("whole.coppice")
    coppice("fit", model, *rows, "--drop", "people", *SHORT, "-o", "plain.coppice")
    assert labels("plain.coppice") != labels("whole.coppice")


def test_what_cannot_be_done_is_refused(coppice, table):
    result = coppice("fit", "rbhmc", table, "--weights", "people", "-o", "no.coppice", code=78)
    assert "the model rbhmc takes no row weights; nrmm, nhcm, bhc, bhcc, crosscat do" in result.stderr
    result = coppice(
        "fit", "crosscat", table, "--weights", "people", "--auxiliary", "prior", "-o", "no.coppice", code=78
    )
    assert "--auxiliary prior" in result.stderr
    result = coppice("fit", "nrmm", table, "--weights", "peple", "-o", "no.coppice", code=78)
    assert "people" in result.stderr
    coppice("fit", "nrmm", table, "--weights", "people", *SHORT, "-o", "run.coppice")
    assert "row weights" in coppice("update", "run.coppice", table, code=78).stderr
    coppice.write("half.csv", COUNTS.replace(",40", ",0.5"))
    assert (
        "whole number" in coppice("fit", "nrmm", "half.csv", "--weights", "people", "-o", "no.coppice", code=65).stderr
    )


def test_weights_of_one_are_no_weights(coppice):
    rows = [line.rsplit(",", 1)[0] for line in COUNTS.splitlines()]
    ones = coppice.write("ones.csv", f"{rows[0]},people\n" + "".join(f"{row},1\n" for row in rows[1:]))
    plain = coppice.write("plain.csv", "\n".join(rows) + "\n")
    result = coppice("fit", "nrmm", ones, "--weights", "people", *SHORT, "-o", "ones.coppice")
    coppice("fit", "nrmm", plain, *SHORT, "-o", "plain.coppice")
    assert "row weights" not in result.stderr
    assert "weights" not in coppice.json("summary", "ones.coppice")

    def drawn(name):
        return coppice("export", name, "--what", "labels").stdout

    assert drawn("ones.coppice") == drawn("plain.coppice")
    coppice("ask", "anomalies", "ones.coppice")
    for name in ("ones", "plain"):
        coppice("update", f"{name}.coppice", plain, "--draws", 20, "-o", f"{name}_more.coppice")
    assert drawn("ones_more.coppice") == drawn("plain_more.coppice")


def test_questions_about_single_cells_refuse_weights(coppice, table):
    coppice("fit", "nrmm", table, "--weights", "people", *SHORT, "-o", "run.coppice")
    assert "fit without --weights" in coppice("ask", "depend", "run.coppice", code=78).stderr
    assert "fit without --weights" in coppice("ask", "anomalies", "run.coppice", code=78).stderr


@pytest.mark.parametrize(("model", "parts", "unit"), [("bhc", 152, "row"), ("bhcc", 3 * 152, "cell")])
def test_bounds_are_told_per_copy(coppice, table, model, parts, unit):
    coppice("fit", model, table, "--weights", "people", "-o", "run.coppice")
    bound = coppice.json("summary", "run.coppice")["lower_bound"]
    assert f"{bound:.3f} nats ({bound / parts:.4f} per {unit})" in coppice("summary", "run.coppice").stdout


def test_two_levels_of_coarse_numbers(coppice, numbers):
    """Every question about sub-clusters of weighted rows of numbers has an answer."""
    result = coppice("fit", "nhcm", *numbers, "--weights", "people", *SHORT, "-o", "run.coppice")
    assert f"24 rows of weight {NUMBERS_TOTAL} in all" in result.stderr
    assert coppice.json("summary", "run.coppice")["weights"]["total"] == float(NUMBERS_TOTAL)
    assert len(coppice("predict", "run.coppice", "numbers.csv").stdout.splitlines()) == 25
    for command in (("profile",), ("diagnose",), ("export", "--what", "labels"), ("report", "-o", "report.html")):
        coppice(command[0], "run.coppice", *command[1:])
