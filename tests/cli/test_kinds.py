"""What columns are taken for, and what is said before a fit: codebook, check and the first lines of fit."""

import json
import math

import numpy as np
import pytest
import tomllib
from conftest import ROOT

DATA = ROOT.parent / "shared" / "data"


def column(answer, name):
    """The entry of a column in codebook --json; for a column that is left out, its reason."""
    for entry in answer["columns"]:
        if entry["name"] == name:
            return entry
    return next(entry for entry in answer["left_out"] if entry["name"] == name)


def mixed_table(rows=60):
    """A bit of everything that a table may have."""
    rng = np.random.default_rng(5)
    lines = ["id,height,income,visits,class,zip,when,score,copy,group"]
    for i in range(rows):
        height = rng.normal(170, 8)
        score = rng.integers(1, 6)
        group = "abc"[rng.integers(3)]
        height_text = "-999" if i in (7, 31) else f"{height:.1f}"
        lines.append(
            f"p{i},{height_text},{math.exp(rng.normal(10, 0.8)):.2f},{rng.poisson(3)},{score},"
            f"{rng.integers(1000, 9999):05d},2024-{1 + i % 12:02d}-{1 + i % 28:02d},{height / 2.54:.6f},"
            f"{height / 2.54 * 3 + 1:.6f},{group}"
        )
    return "\n".join(lines) + "\n"


def test_the_table_gives_every_decision_with_its_reason(coppice):
    coppice.write("d.csv", mixed_table())
    shown = coppice("codebook", "d.csv", "--truth", "group").stdout
    lines = {line.split()[0]: line for line in shown.splitlines()}
    assert "identifier" in lines["id"] and "identifier" in lines["zip"]
    assert "real" in lines["income"] and "log" in lines["income"] and "right-skewed" in lines["income"]
    assert "count" in lines["visits"] and "mean" in lines["visits"]
    assert "category ?" in lines["class"] and "5 levels" in lines["class"]
    assert "days since 2024-01-01" in lines["when"]
    assert "duplicate" in lines["copy"] and "'score'" in lines["copy"]
    assert any(block in lines["income"] for block in "▁▂▃▄▅▆▇█")
    assert "? class: a scale from 1" in shown


def test_the_file_can_be_edited_and_given_back(coppice):
    coppice.write("d.csv", mixed_table())
    coppice("codebook", "d.csv", "--truth", "group", "-o", "book.toml")
    text = (coppice.folder / "book.toml").read_text(encoding="utf-8")
    assert "# measurements; right-skewed" in text and "# Column 'zip' is left out" in text
    book = {entry["name"]: entry for entry in tomllib.loads(text)["column"]}
    assert book["income"]["transform"] == "log" and book["when"]["unit"] == "days since 2024-01-01"
    assert "reason" not in book["income"]
    again = coppice.json("codebook", "d.csv", "--truth", "group", "--codebook", "book.toml")
    assert column(again, "income")["transform"] == "log"
    changed = text.replace('kind = "category"\nlevels = ["1", "2", "3", "4", "5"]', 'kind = "real"')
    assert changed != text
    coppice.write("changed.toml", changed)
    assert (
        column(coppice.json("codebook", "d.csv", "--codebook", "changed.toml", "--drop", "group"), "class")["kind"]
        == "real"
    )
    assert coppice("codebook", "d.csv", "--truth", "group", "-o", "-").stdout == text


def test_check_lists_what_to_look_at_with_remedies(coppice):
    coppice.write("d.csv", mixed_table())
    shown = coppice("check", "d.csv", "--truth", "group").stdout
    assert shown.startswith("size: 60 rows, 6 columns (")
    assert "fit: nrmm would model" in shown and "of memory" in shown
    order = [shown.index(word) for word in ("\nwarning:", "\nambiguous:", "\nnote:")]
    assert order == sorted(order)
    assert "-999" in shown and "missing_values = [-999] in the codebook, or --na-values -999" in shown
    answer = coppice.json("check", "d.csv", "--truth", "group")
    topics = {(f["topic"], f["columns"][0]) for f in answer["findings"]}
    assert {("sentinel", "height"), ("kind", "class"), ("identifier", "id"), ("duplicate", "copy")} <= topics
    assert answer["fine"] is False and answer["rows"] == 60 and answer["bytes"] > 0
    assert coppice("check", "d.csv", "--truth", "group", "--strict", code=1).stdout == shown


def test_check_is_content_with_a_plain_table(coppice):
    rng = np.random.default_rng(1)
    rows = "\n".join(f"{a:.5f},{b:.5f}" for a, b in rng.normal(size=(50, 2)))
    coppice.write("d.csv", f"x,y\n{rows}\n")
    assert "nothing needs attention" in coppice("check", "d.csv", "--strict").stdout
    assert coppice.json("check", "d.csv")["fine"] is True


def test_fit_says_in_a_few_lines_what_it_assumed(coppice):
    coppice.write("d.csv", mixed_table())
    said = coppice(
        "fit",
        "nrmm",
        "d.csv",
        "--truth",
        "group",
        "--draws",
        "5",
        "--warmup",
        "5",
        "--chains",
        "1",
        "-o",
        "r.coppice",
        "--progress",
        "none",
    ).stderr.splitlines()
    assert said[0].startswith("columns: 4 real (")
    assert said[0].endswith("; coppice codebook d.csv says why, --codebook changes it")
    assert sum(line.startswith(("columns:", "note:", "ambiguous:")) for line in said) <= 5
    assert any(line.startswith("ambiguous: 'visits', 'class' (") for line in said)
    assert any("-999" in line for line in said)


def test_missing_values_by_flag_and_by_codebook_hold_for_new_rows(coppice):
    coppice.write("d.csv", mixed_table())
    answer = coppice.json("codebook", "d.csv", "--drop", "group", "--na-values", "-999,unknown")
    assert column(answer, "height")["missing"] == 2
    assert column(answer, "height")["missing_values"] == ["-999", "unknown"]
    coppice(
        "fit",
        "nrmm",
        "d.csv",
        "--truth",
        "group",
        "--na-values",
        "-999",
        "--draws",
        "5",
        "--warmup",
        "5",
        "--chains",
        "1",
        "-o",
        "r.coppice",
    )
    header, first, *_ = mixed_table().splitlines()
    cells = first.split(",")
    cells[1] = "-999.0"
    coppice.write("new.csv", header + "\n" + ",".join(cells) + "\n")
    lines = coppice("predict", "r.coppice", "new.csv").stdout.splitlines()
    cells[1] = ""
    coppice.write("blank.csv", header + "\n" + ",".join(cells) + "\n")
    assert lines == coppice("predict", "r.coppice", "blank.csv").stdout.splitlines()


def test_an_odd_cell_among_numbers_is_named(coppice):
    cells = [f"{i}.5" for i in range(1000)]
    cells[700] = "abc"
    coppice.write("d.csv", "x,y\n" + "\n".join(f"{c},{i % 7}.25" for i, c in enumerate(cells)) + "\n")
    for command in (["codebook", "d.csv"], ["check", "d.csv"], ["fit", "nrmm", "d.csv", "-o", "r.coppice"]):
        said = coppice(*command, code=65).stderr
        assert said.startswith("coppice: d.csv:702: column 'x': value 'abc' is not a number where 999 of 1000 cells")
        assert "--na-values 'abc'" in said and said.count("\n") == 1
    assert column(coppice.json("codebook", "d.csv", "--na-values", "abc"), "x")["missing"] == 1


@pytest.mark.parametrize(
    "cells, value, unit",
    [
        (["12%", "7.5%", "33%", "41%", "58%", "6%"], 7.5, "%"),
        (["$12", '"$1,234.50"', "$7", "$800", "$41", "$9"], 1234.5, "$"),
        (["1_000", "2_500", "3_250", "750", "800", "10"], 2500, None),
        (['"1,234"', '"12,345"', "999", '"7,001"', "42", "77"], 12345, None),
        (
            ["2024-01-05", "2024-01-01", "2023-12-31", "2024-02-29", "2024-03-01", "2024-01-02"],
            "2024-01-01",
            "days since 2023-12-31",
        ),
        (
            [
                "2024-01-01T10:00:00Z",
                "2024-01-01T10:00:30Z",
                "2024-01-01T10:02:00Z",
                "2024-01-02T00:00:00Z",
                "2024-01-01T11:00:00Z",
                "2024-01-01T12:00:00Z",
            ],
            "2024-01-01T10:00:30",
            "seconds since 2024-01-01T10:00:00",
        ),
    ],
)
def test_numbers_in_other_spellings_are_understood(coppice, cells, value, unit):
    coppice.write("d.csv", "v,x\n" + "\n".join(f"{c},{i}.5" for i, c in enumerate(cells * 3)) + "\n")
    answer = coppice.json("codebook", "d.csv")
    assert column(answer, "v")["kind"] == "real" and column(answer, "v")["unit"] == unit
    coppice("fit", "nrmm", "d.csv", "--draws", "2", "--warmup", "2", "--chains", "1", "-o", "r.coppice")
    data = coppice("export", "r.coppice", "--what", "data", "--to", "csv").stdout.splitlines()
    place = data[0].split(",").index("v")
    cell = data[2].split(",")[place]
    assert cell == value if isinstance(value, str) else float(cell) == value


def test_decimal_commas_with_semicolons(coppice):
    rows = ["1,5;10", "2,25;20,5", "0,75;7", "1.234,5;8", "3,5;9", "4,5;1"]
    coppice.write("d.csv", "a;b\n" + "\n".join(rows * 2) + "\n")
    answer = coppice.json("codebook", "d.csv")
    assert column(answer, "a")["kind"] == column(answer, "b")["kind"] == "real"


@pytest.mark.parametrize("text", ["a|b\n{}", "a b\n{}", "  a    b\n{}"])
def test_bars_and_blanks_separate_columns(coppice, text):
    sign = "|" if "|" in text else "   "
    coppice.write("d.txt", text.format("\n".join(f"{i}.5{sign}{(i * 7) % 11}.25" for i in range(20)) + "\n"))
    assert [c["name"] for c in coppice.json("codebook", "d.txt")["columns"]] == ["a", "b"]


def test_dates_with_short_years_are_refused(coppice):
    coppice.write("d.csv", "d,x\n" + "\n".join(f"0{1 + i % 9}/1{i % 10}/24,{i}.5" for i in range(20)) + "\n")
    assert "write the dates of the column as yyyy-mm-dd" in coppice("codebook", "d.csv", code=65).stderr


def test_a_copy_of_the_truth_is_refused_unless_kept(coppice):
    rng = np.random.default_rng(2)
    rows = [f"{rng.normal():.4f},{'abc'[i % 3]},{10 * (i % 3)}" for i in range(60)]
    coppice.write("d.csv", "x,group,code\n" + "\n".join(rows) + "\n")
    said = coppice("check", "d.csv", "--truth", "group", code=78).stderr
    assert "column 'code' of d.csv is a copy of --truth group" in said and "--keep-column 'code'" in said
    coppice("fit", "nrmm", "d.csv", "--truth", "group", "-o", "r.coppice", code=78)
    answer = coppice.json("check", "d.csv", "--truth", "group", "--keep-column", "code")
    assert answer["findings"][0]["topic"] == "truth"
    coppice("check", "d.csv", "--truth", "group", "--drop", "code")


def test_gaps_that_are_information_become_a_column(coppice):
    rng = np.random.default_rng(3)
    x = rng.normal(size=200)
    rows = [f"{a:.4f},{'' if a + rng.normal() > 1 else f'{rng.normal():.4f}'}" for a in x]
    coppice.write("d.csv", "x,y\n" + "\n".join(rows) + "\n")
    findings = coppice.json("check", "d.csv")["findings"]
    assert [f["columns"] for f in findings if f["topic"] == "missing"] == [["y"]]
    coppice.write("book.toml", '[[column]]\nname = "y"\nkind = "real"\nmissing = "informative"\n')
    answer = coppice.json("codebook", "d.csv", "--codebook", "book.toml")
    assert [c["name"] for c in answer["columns"]] == ["x", "y", "y_missing"]
    assert column(answer, "y_missing")["kind"] == "binary"
    assert not [
        f for f in coppice.json("check", "d.csv", "--codebook", "book.toml")["findings"] if f["topic"] == "missing"
    ]
    coppice(
        "fit",
        "nrmm",
        "d.csv",
        "--codebook",
        "book.toml",
        "--draws",
        "3",
        "--warmup",
        "3",
        "--chains",
        "1",
        "-o",
        "r.coppice",
    )
    coppice.write("new.csv", "x,y\n0.5,\n0.5,0.1\n")
    assert len(coppice("predict", "r.coppice", "new.csv").stdout.splitlines()) == 3


@pytest.mark.parametrize(
    "text, problem",
    [
        ('transform = "sqrt"', "line 4|transform 'sqrt' is not one of log, none"),
        ('hurdle = "zero"', 'hurdle = "zero" is not a finite number'),
        ("hurdle = nan", "is not a finite number"),
        ("resolution = 0", "resolution = 0 is not a step above 0"),
        ('missing = "maybe"', "missing 'maybe' is not one of informative, ignorable"),
        ("missing_values = -999", "missing_values is not an array"),
        ("missing_values = [[1]]", "is neither a number nor a text"),
        ("unit = 3", "unit is 3, not a text"),
    ],
)
def test_faults_of_a_codebook_are_named(coppice, text, problem):
    coppice.write("d.csv", "x\n1.5\n2.5\n3.5\n")
    coppice.write("book.toml", f'[[column]]\nname = "x"\nkind = "real"\n{text}\n')
    said = coppice("codebook", "d.csv", "--codebook", "book.toml", code=65).stderr
    assert "book.toml:4: column 'x': " in said
    assert problem.rsplit("|", maxsplit=1)[-1] in said


@pytest.mark.parametrize("kind", ["count", "binary", "category"])
def test_only_real_columns_have_a_transform(coppice, kind):
    coppice.write("d.csv", "x\n1\n0\n1\n")
    coppice.write("book.toml", f'[[column]]\nname = "x"\nkind = "{kind}"\ntransform = "log"\n')
    assert (
        f"a {kind} column has no transform" in coppice("codebook", "d.csv", "--codebook", "book.toml", code=65).stderr
    )


def test_a_named_family_wins_over_what_was_inferred(coppice):
    rows = "\n".join(f"{i % 3},{i % 5}" for i in range(60))
    coppice.write("d.csv", f"x,y\n{rows}\n")
    assert column(coppice.json("codebook", "d.csv"), "x")["kind"] == "category"
    for family in ("poisson", "gaussian-diagonal", "categorical"):
        said = coppice(
            "fit",
            "nrmm",
            "d.csv",
            "--family",
            family,
            "--draws",
            "2",
            "--warmup",
            "2",
            "--chains",
            "1",
            "-o",
            f"{family}.coppice",
        ).stderr
        assert f"{family} on 2 columns" in said


# Real tables, where they are at hand.


def real(name):
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} is not here")
    return path


def kinds_of(coppice, name, *flags):
    answer = coppice.json("codebook", real(name), *flags)
    return answer, {c["name"]: c["kind"] for c in answer["columns"]}


def test_penguins(coppice):
    answer, kinds = kinds_of(coppice, "penguins.csv", "--truth", "species")
    assert kinds == {
        "island": "category",
        "bill_length_mm": "real",
        "bill_depth_mm": "real",
        "flipper_length_mm": "real",
        "body_mass_g": "real",
        "sex": "binary",
    }
    assert column(answer, "body_mass_g")["resolution"] == 25


def test_wine(coppice):
    answer, kinds = kinds_of(coppice, "wine.csv", "--truth", "label")
    assert set(kinds.values()) == {"real"} and len(kinds) == 13
    assert column(answer, "color_intensity")["transform"] == "log" and column(answer, "alcohol")["transform"] is None


def test_soybean(coppice):
    answer, kinds = kinds_of(coppice, "soybean.csv", "--truth", "label")
    assert len(kinds) == 35
    assert all(kind in ("binary", "category") for kind in kinds.values())
    assert column(answer, "date")["ambiguous"]


def test_zoo(coppice):
    answer, kinds = kinds_of(coppice, "zoo.csv", "--id", "name", "--truth", "label")
    assert kinds.pop("legs") == "category" and set(kinds.values()) == {"binary"}
    assert "count" in column(answer, "legs")["ambiguous"]


def test_ecoli(coppice):
    _, kinds = kinds_of(coppice, "uci_ecoli.csv", "--truth", "label")
    assert kinds["x2"] == kinds["x3"] == "binary" and kinds["x0"] == "real"


def test_wdbc(coppice):
    answer, kinds = kinds_of(coppice, "uci_wdbc.csv", "--truth", "label")
    assert set(kinds.values()) == {"real"}
    assert sum(c["transform"] == "log" for c in answer["columns"]) == 18


def test_statlog(coppice):
    answer, kinds = kinds_of(coppice, "uci_statlog.csv", "--truth", "label")
    why = {entry["name"]: entry["why"] for entry in answer["left_out"]}
    assert why == {"x2": "constant", "x12": "collinear", "x13": "collinear", "x14": "collinear", "x15": "collinear"}
    assert "'x9'" in column(answer, "x12")["reason"]
    assert kinds["x3"] == "category" and column(answer, "x3")["ambiguous"]


def test_house_votes(coppice):
    _, kinds = kinds_of(coppice, "housevotes84.csv", "--truth", "label")
    assert set(kinds.values()) == {"binary"} and len(kinds) == 16


def test_all_tables_are_read_without_a_refusal(coppice):
    if not DATA.exists():
        pytest.skip(f"{DATA} is not here")
    for path in sorted(DATA.glob("*.csv")):
        if path.name.startswith("bibtex"):
            continue  # lists of names, not tables
        answer = json.loads(coppice("codebook", path, "--json").stdout)
        assert answer["columns"], path.name
