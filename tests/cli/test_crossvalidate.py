"""Cells held out fold by fold: models on the same cells, settings of their own, what is refused."""

import csv

import pytest
from conftest import blobs, write_table


@pytest.fixture
def table(coppice):
    points, labels = blobs(3, rows=60)
    write_table(coppice.folder / "blobs.csv", points, labels)
    return "blobs.csv"


FLAGS = ("--truth", "truth", "--chains", "1", "--warmup", "20", "--draws", "20")


def test_clusters_foretell_cells(coppice, table):
    answer = coppice.json("crossvalidate", table, "--models", "bhc,nrmm", "--folds", "5", *FLAGS, "-o", "folds.csv")
    assert answer["folds"] == 5
    one, bhc, nrmm = answer["models"]
    assert (one["model"], bhc["model"], nrmm["model"]) == ("one cluster", "bhc", "nrmm")
    assert len(bhc["log_predictive"]["folds"]) == 5
    gain = nrmm["log_predictive"]["mean"] - one["log_predictive"]["mean"]
    assert gain > 0.5 and gain > 4 * nrmm["log_predictive"]["standard_error"]
    for model in (bhc, nrmm):
        assert model["rmse"]["mean"] < 0.75 * one["rmse"]["mean"]
    assert bhc["lower_bound"]["mean"] < 0 and nrmm["lower_bound"]["mean"] is None
    lines = list(csv.DictReader((coppice.folder / "folds.csv").open()))
    assert len(lines) == 15 and sum(int(line["cells"]) for line in lines) == 3 * 60 * 2
    assert float(lines[5]["log_predictive"]) == pytest.approx(bhc["log_predictive"]["folds"][0], rel=1e-12)


def test_the_seed_decides_everything(coppice, table):
    def figures(seed):
        answer = coppice.json("crossvalidate", table, "--models", "nrmm", "--folds", "3", "--seed", seed, *FLAGS)
        return [model["log_predictive"]["folds"] for model in answer["models"]]

    assert figures("1") == figures("1")
    assert figures("1") != figures("2")


def test_settings_of_one_model(coppice, table):
    text = coppice(
        "crossvalidate",
        table,
        "--models",
        "nrmm:alpha=5:sampler=gibbs,bhc-randomized",
        "--folds",
        "4",
        "--most-folds",
        "2",
        *FLAGS,
    ).stdout
    assert "nrmm:alpha=5:sampler=gibbs" in text and "bhc-randomized" in text
    assert "2 of 4 folds" in text


@pytest.mark.parametrize(
    "models, words",
    [
        ("nrmm:sise=1", "no setting 'sise'"),
        ("bhc-unlikely", "there is no such model"),
        ("nrmm:alpha", "not SETTING=VALUE"),
    ],
)
def test_what_is_refused(coppice, table, models, words):
    result = coppice("crossvalidate", table, "--models", models, *FLAGS, code=2)
    assert words in result.stderr and result.stderr.count("\n") == 1


def test_no_runs_are_left_behind(coppice, table, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    coppice("crossvalidate", table, "--models", "bhc", "--folds", "2", *FLAGS[:2])
    assert list(tmp_path.glob("coppice-folds-*")) == []


def test_the_largest_count_may_be_held_out(coppice):
    """The trials of a binomial column come from all of its cells: no fold calls its largest count impossible."""
    rows = [[i % 4, (3 * i) % 5] for i in range(24)] + [[11, 9]]
    (coppice.folder / "counts.csv").write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in rows))
    options = ("--family", "binomial", "--models", "nrmm,crosscat", "--folds", "5", "--hyper", "fixed")
    answer = coppice.json("crossvalidate", "counts.csv", *options, *FLAGS[2:])
    for model in answer["models"]:
        folds = model["log_predictive"]["folds"]
        assert len(folds) == 5 and None not in folds, model
        assert model["log_predictive"]["mean"] == pytest.approx(sum(folds) / 5)
