"""Views of columns from the command line: what a new user gets from one command, and the answers about it."""

import csv
import io
import math

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
        # Rows with the third color may be a cluster of their own.
        assert views[names]["clusters"] in (2, 3) and views[names]["cohesion"] > 0.9
        assert all(len(set(truth[labels == cluster])) == 1 for cluster in set(labels))
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


@pytest.mark.parametrize(
    "flags, code, words",
    [
        (["--temperatures", "0.9,0.5"], 78, "begin with 1"),
        (["--temperatures", "1,1"], 78, "fall"),
        (["--family", "gaussian", "--drop", "c"], 78, "gaussian-diagonal"),
        (["--alpha-columns", "-1"], 2, "alpha-columns"),
    ],
)
def test_mistakes_are_told_in_one_line(coppice, flags, code, words):
    coppice.write("real.csv", "a,b,c\n" + "".join(f"{i}.5,{i * i}.25,x{i % 2}\n" for i in range(12)))
    assert words in coppice("fit", "crosscat", "real.csv", "-o", "no.coppice", *flags, code=code).stderr


def test_models_of_one_view_say_so(coppice):
    coppice.write("tiny.csv", "x,y\n1,1\n0,0\n1,0\n")
    coppice("fit", "bhc", "tiny.csv", "-o", "tiny.coppice")
    assert "one view" in coppice("views", "tiny.coppice", code=78).stderr
    assert "one view" in coppice("export", "tiny.coppice", "--what", "columns", code=78).stderr


@pytest.fixture(name="tree_of_views")
def tree_of_views_fixture(coppice):
    text, first, second = two_views()
    coppice.write("table.csv", text)
    # Under the weights that it chooses a rare level may be a cluster of its own; what is asked for here is the plumbing.
    coppice("fit", "bhcc", "table.csv", "-o", "run.coppice", "--hyper", "fixed")
    return coppice, first, second


def test_a_tree_of_views_finds_views_and_clusters(tree_of_views):
    coppice, first, second = tree_of_views
    summary = coppice.json("summary", "run.coppice")
    assert summary["model"] == "bhcc" and summary["exact"] is False and summary["complete"] is True
    assert summary["trees"] == 1 and len(summary["merges"]) == 11 and math.isfinite(summary["lower_bound"])
    assert [merge["node"] for merge in summary["merges"]] == list(range(12, 23))
    members = {column: {column} for column in range(12)}
    for merge in summary["merges"]:
        members[merge["node"]] = members[merge["left"]] | members[merge["right"]]
        assert merge["size"] == len(members[merge["node"]])
        assert min(members[merge["left"]]) < min(members[merge["right"]]), "the left child has the smallest column"
    assert summary["merges"][-1]["log_odds"] < 0 < min(merge["log_odds"] for merge in summary["merges"][:-1])
    views = {frozenset(view["columns"]): view for view in summary["views"]}
    for letter, truth in (("a", first), ("b", second)):
        view = views[frozenset(f"{letter}{j}" for j in range(6))]
        labels = np.array(view["labels"])
        assert view["clusters"] == 2 and (labels == truth).all() or (labels == 1 - truth).all()
    assert "View 2" in coppice("views", "run.coppice").stdout
    assert "One greedy tree of views" in coppice("summary", "run.coppice").stdout


def test_trees_over_columns_and_over_the_rows_of_a_view(tree_of_views):
    coppice, first, second = tree_of_views
    columns = coppice.json("tree", "run.coppice", "--columns")
    assert (
        columns["leaves"] == [f"a{j}" for j in range(6)] + [f"b{j}" for j in range(6)] and len(columns["merges"]) == 11
    )
    views = coppice.json("views", "run.coppice")["views"]
    for number, view in enumerate(views, start=1):
        rows = coppice.json("tree", "run.coppice", "--view", str(number))
        assert len(rows["merges"]) == 39
        together = list(
            csv.reader(
                io.StringIO(coppice("export", "run.coppice", "--what", "coclustering", "--view", str(number)).stdout)
            )
        )
        matrix = np.array([[float(cell) for cell in row[1:]] for row in together[1:]])
        truth = first if "a0" in view["columns"] else second
        assert ((matrix > 0.5) == (truth[:, None] == truth[None, :])).all()
    linkage = list(
        csv.DictReader(io.StringIO(coppice("export", "run.coppice", "--what", "linkage", "--columns").stdout))
    )
    heights = [float(row["height"]) for row in linkage]
    assert len(linkage) == 11 and heights == sorted(heights) and "log_odds" in linkage[0]
    matrix = list(csv.reader(io.StringIO(coppice("export", "run.coppice", "--what", "columns").stdout)))
    assert float(matrix[1][2]) > 0.9 > 0.1 > float(matrix[1][8])
    assert "1 to 2" in coppice("tree", "run.coppice", "--view", "3", code=2).stderr


def test_blanks_are_imputed_from_their_view(tree_of_views):
    coppice, first, _ = tree_of_views
    cells = [cell for cell in coppice.json("impute", "run.coppice") if cell["column"] in ("a0", "a1", "a2")]
    assert cells
    for cell in cells:
        assert abs(cell["mean"] - 6.0 * first[int(cell["row"]) - 1]) < 1.5
    predicted = list(csv.DictReader(io.StringIO(coppice("predict", "run.coppice", "table.csv").stdout)))
    assert len(predicted) == 40 and all(math.isfinite(float(row["log_density"])) for row in predicted)
    assert len(coppice.json("profile", "run.coppice")["clusters"]) == 2


def test_a_stopped_cross_fit_keeps_its_forest_and_goes_on(coppice):
    rng = np.random.default_rng(5)
    bits = (rng.uniform(size=(150, 60)) < 0.5).astype(int)
    np.savetxt(
        coppice.folder / "big.csv",
        bits,
        fmt="%d",
        delimiter=",",
        header=",".join(f"v{j}" for j in range(60)),
        comments="",
    )
    for flags in (["--inner", "reuse"], ["--randomized", "--inner", "full"]):
        coppice(
            "fit", "bhcc", "big.csv", "-o", "stopped.coppice", "--overwrite", *flags, "--time-limit", "0.02s", code=75
        )
        summary = coppice.json("summary", "stopped.coppice")
        assert summary["complete"] is False and summary["trusted"] is False and summary["trees"] > 1
        assert "trees over columns" in coppice("summary", "stopped.coppice").stderr
        coppice("resume", "stopped.coppice")
        coppice("fit", "bhcc", "big.csv", "-o", "whole.coppice", "--overwrite", "--threads", "2", *flags)
        stopped, whole = (coppice.json("summary", name) for name in ("stopped.coppice", "whole.coppice"))
        assert stopped["merges"] == whole["merges"] and stopped["lower_bound"] == whole["lower_bound"]


@pytest.mark.parametrize(
    "flags, code, words",
    [
        (["--chains", "2"], 78, "greedy"),
        (["--filter-levels", "3"], 78, "--randomized"),
        (["--consolidate", "off"], 78, "--randomized"),
        (["--randomized", "--subset", "30"], 78, "--threshold"),
        (["--alpha-columns", "0"], 2, "alpha-columns"),
        (["--family", "gaussian"], 78, "views"),
    ],
)
def test_mistakes_of_cross_fits_are_told(coppice, flags, code, words):
    coppice.write("real.csv", "x,y\n1.5,2.5\n2.5,4.5\n3.5,1.5\n")
    assert words in coppice("fit", "bhcc", "real.csv", "-o", "no.coppice", *flags, code=code).stderr


def test_a_named_family_takes_whole_numbers(coppice):
    coppice.write("whole.csv", "x,y\n" + "".join(f"{20 + i % 4},{2 * i + 1}\n" for i in range(24)))
    for model in ("bhc", "bhcc"):
        told = coppice(
            "fit", model, "whole.csv", "-o", f"{model}.coppice", "--family", "binomial", "--set", "trials=50"
        )
        assert "binomial on 2 columns" in told.stderr
    assert (
        "neither 0 nor 1"
        in coppice("fit", "bhc", "whole.csv", "-o", "no.coppice", "--family", "bernoulli", code=78).stderr
    )


def test_columns_that_look_like_labels_are_hinted_at(coppice):
    coppice.write("labels.csv", "x,y,label\n" + "".join(f"{i % 2},{i % 2},{'ab'[i % 2]}{i % 3}\n" for i in range(12)))
    assert "--truth label" in coppice("fit", "bhc", "labels.csv", "-o", "a.coppice").stderr
    assert "--truth label" not in coppice("fit", "bhc", "labels.csv", "-o", "b.coppice", "--truth", "label").stderr


@pytest.mark.parametrize(
    "flags", [["crosscat", *SHORT], ["nrmm", *SHORT], ["bhc"], ["bhcc"]], ids=lambda flags: flags[0]
)
def test_cells_of_new_rows_and_drawn_rows(coppice, flags):
    text, _, _ = two_views()
    coppice.write("table.csv", text)
    coppice("fit", flags[0], "table.csv", "-o", "run.coppice", *flags[1:])
    cells = coppice.json("impute", "run.coppice", "table.csv")
    assert {(cell["row"], cell["column"]) for cell in cells} == {
        (cell["row"], cell["column"]) for cell in coppice.json("impute", "run.coppice")
    }
    drawn = coppice("sample", "run.coppice", "--n", "50").stdout
    assert drawn == coppice("sample", "run.coppice", "--n", "50", "--threads", "1").stdout
    assert drawn.splitlines()[0].split(",")[-1] == text.splitlines()[0].split(",")[-1] and len(drawn.splitlines()) == 51


def test_cells_of_new_rows_are_predicted_given_the_columns_they_are_joined_with(coppice):
    coppice.write("real.csv", "x,y\n" + "".join(f"{i * 0.7 % 3},{i * 1.3 % 2}\n" for i in range(40)))
    coppice(
        "fit",
        "nrmm",
        "real.csv",
        "-o",
        "run.coppice",
        "--family",
        "gaussian",
        "--chains",
        "1",
        "--warmup",
        "5",
        "--draws",
        "5",
    )
    coppice.write("new.csv", "x,y\n1,\n")
    answer = coppice("impute", "run.coppice", "new.csv").stdout.splitlines()
    assert answer[0].startswith("row,column,mean") and len(answer) == 2


def test_threads_do_not_change_a_draw(coppice):
    """Rows of different views are updated at once, each view with numbers of its own."""
    text, _, _ = two_views(seed=6, rows=2400)
    coppice.write("long.csv", text)
    said = {}
    for threads in (1, 2):
        run = f"t{threads}.coppice"
        coppice(
            *("fit", "crosscat", "long.csv", "-o", run, "--chains", 1, "--warmup", 4, "--draws", 4, "--seed", 4),
            *("--temperatures", "1,0.9", "--threads", threads),
        )
        exports = [coppice("export", run, "--what", what, "-q").stdout for what in ("labels", "trace", "columns")]
        said[threads] = [*exports, coppice.json("views", run)["views"]]
    assert said[1] == said[2]
    assert len(said[1][3]) > 1
