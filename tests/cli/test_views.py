"""Views of columns from the command line: what a new user gets from one command, and the answers about it."""
import csv
import io

import numpy as np
import pytest

SHORT = ["--chains", "2", "--warmup", "60", "--draws", "60", "--seed", "4"]


def two_views(seed=2, rows=40):
    """Six columns that see rows in one way, six that see them in another; blanks and three kinds of columns."""
    rng = np.random.default_rng(seed)
    first, second = np.arange(rows) % 2, (np.arange(rows) // 2) % 2
    lines = [",".join([f"a{j}" for j in range(6)] + [f"b{j}" for j in range(6)])]
    for row in range(rows):
        cells = [f"{rng.normal() + 6 * first[row]:.3f}" for _ in range(3)]
        cells += [str(int(rng.uniform() < (0.95 if first[row] else 0.05))) for _ in range(3)]
        cells += [f"{rng.normal() - 6 * second[row]:.3f}" for _ in range(3)]
        cells += [["red", "blue", "green"][int(second[row] if rng.uniform() < 0.95 else 2)] for _ in range(3)]
        for hole in np.flatnonzero(rng.uniform(size=12) < 0.04):
            cells[hole] = ""
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n", first, second


@pytest.fixture(name="fitted")
def fitted_fixture(coppice):
    text, first, second = two_views()
    coppice.write("table.csv", text)
    coppice("fit", "crosscat", "table.csv", "-o", "run.coppice", *SHORT)
    return coppice, first, second


def test_views_and_clusters_are_found(fitted):
    coppice, first, second = fitted
    answer = coppice.json("views", "run.coppice")
    views = {frozenset(view["columns"]): view for view in answer["views"]}
    assert set(views) == {frozenset(f"a{j}" for j in range(6)), frozenset(f"b{j}" for j in range(6))}
    for names, truth in ((frozenset(f"a{j}" for j in range(6)), first), (frozenset(f"b{j}" for j in range(6)), second)):
        labels = np.array(views[names]["labels"])
        assert views[names]["clusters"] == 2 and views[names]["cohesion"] > 0.9
        assert (labels == truth).all() or (labels == 1 - truth).all()
    text = coppice("views", "run.coppice").stdout
    assert "View 1" in text and "View 2" in text
    assert len(coppice.json("summary", "run.coppice")["views"]) == 2


def test_columns_are_a_matrix_of_probabilities(fitted):
    coppice, _, _ = fitted
    rows = list(csv.reader(io.StringIO(coppice("export", "run.coppice", "--what", "columns").stdout)))
    assert rows[0][0] == "column" and rows[0][1:] == [row[0] for row in rows[1:]]
    matrix = np.array([[float(cell) for cell in row[1:]] for row in rows[1:]])
    assert (matrix == matrix.T).all() and (np.diag(matrix) == 1).all() and matrix[0, 1] > 0.9 > 0.1 > matrix[0, 7]
    coppice("export", "run.coppice", "--what", "columns", "--to", "npy", "-o", "c.npy")
    assert np.allclose(np.load(coppice.folder / "c.npy"), matrix)


def test_blanks_and_new_rows(fitted):
    coppice, _, _ = fitted
    for cell in coppice.json("impute", "run.coppice"):
        assert cell["mode"] or cell["low"] <= cell["mean"] <= cell["high"]
    predicted = list(csv.DictReader(io.StringIO(coppice("predict", "run.coppice", "table.csv").stdout)))
    assert len(predicted) == 40 and all(np.isfinite(float(row["log_density"])) for row in predicted)


def test_resumed_run_equals_uninterrupted(fitted):
    coppice, _, _ = fitted
    short = [flag if flag != "60" or SHORT[i - 1] != "--draws" else "30" for i, flag in enumerate(SHORT)]
    coppice("fit", "crosscat", "table.csv", "-o", "half.coppice", *short)
    coppice("resume", "half.coppice", "--draws", "60")
    whole, halves = (coppice("export", name, "--what", "labels").stdout for name in ("run.coppice", "half.coppice"))
    assert whole == halves


@pytest.mark.parametrize("flags, code, words", [
    (["--temperatures", "0.9,0.5"], 78, "begin with 1"),
    (["--temperatures", "1,1"], 78, "fall"),
    (["--family", "gaussian", "--drop", "c"], 78, "gaussian-diagonal"),
    (["--alpha-columns", "-1"], 2, "alpha-columns"),
])
def test_mistakes_are_told_in_one_line(coppice, flags, code, words):
    coppice.write("real.csv", "a,b,c\n" + "".join(f"{i}.5,{i * i}.25,x{i % 2}\n" for i in range(12)))
    assert words in coppice("fit", "crosscat", "real.csv", "-o", "no.coppice", *flags, code=code).stderr


def test_models_of_one_view_say_so(coppice):
    coppice.write("tiny.csv", "x,y\n1,1\n0,0\n1,0\n")
    coppice("fit", "bhc", "tiny.csv", "-o", "tiny.coppice")
    assert "one view" in coppice("views", "tiny.coppice", code=78).stderr
    assert "one view" in coppice("export", "tiny.coppice", "--what", "columns", code=78).stderr
