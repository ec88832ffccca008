"""Learned hyper-parameters from one command to the next: whatever continues or answers from a run uses the values of its draws."""

import csv
import io

import numpy as np
import pytest

MODELS = {"nrmm": (), "crosscat": (), "rbhmc": ("--penalty", 0), "nhcm": ()}
SHORT = ("--chains", 2, "--warmup", 40)


def table_text(rows, gaps, numbers_only):
    rng = np.random.default_rng(5)
    lines = ["length,width,events,color,shape" if not numbers_only else "length,width"]
    for i in range(rows):
        group = i % 2
        numbers = [20.0 + 40.0 * group + 3.0 * rng.normal(), 3.0 + 4.0 * group + rng.normal()]
        cells = [f"{x:.5f}" for x in numbers]
        if gaps and i % 12 == 0:
            cells[i % 24 // 12] = ""
        if not numbers_only:
            cells += [str(rng.poisson(1 + 11 * group)), "red" if rng.random() < 0.2 + 0.7 * group else "blue"]
            cells.append(("round", "square", "flat")[rng.choice(3, p=(0.1, 0.1 + 0.7 * group, 0.8 - 0.7 * group))])
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


@pytest.fixture(params=MODELS)
def model(request, coppice):
    """The model, with a table that it takes: gaps where it can have them."""
    alone = request.param == "nhcm"
    coppice.write("data.csv", table_text(80, not alone, alone))
    coppice.write("complete.csv", table_text(80, False, alone))
    return request.param


def fit(coppice, model, run, *options, data="data.csv"):
    return coppice("fit", model, data, *MODELS[model], *SHORT, "-o", run, *options)


def exported(coppice, run):
    return [coppice("export", run, "--what", what, "--to", "csv").stdout for what in ("labels", "trace")]


def densities(coppice, run, data):
    rows = list(csv.DictReader(io.StringIO(coppice("predict", run, data).stdout)))
    return np.array([float(row["log_density"]) for row in rows])


def test_a_resumed_run_is_the_uninterrupted_one(coppice, model):
    fit(coppice, model, "whole.coppice", "--draws", 40)
    fit(coppice, model, "half.coppice", "--draws", 20)
    coppice("resume", "half.coppice", "--draws", "+20")
    assert exported(coppice, "whole.coppice") == exported(coppice, "half.coppice")
    assert coppice.json("predict", "whole.coppice", "data.csv") == coppice.json("predict", "half.coppice", "data.csv")


def test_summary_and_predictions_are_those_of_learned_values(coppice, model):
    fit(coppice, model, "learned.coppice", "--draws", 60)
    fit(coppice, model, "fixed.coppice", "--draws", 60, "--hyper", "fixed")
    learned = coppice.json("summary", "learned.coppice")["learned"]
    sds = {entry["column"]: entry for entry in learned if entry["parameter"] == "cluster_sd"}
    assert 1.0 < sds["length"]["mean"] < 12.0 and sds["length"]["q05"] <= sds["length"]["q95"]
    text = coppice("summary", "learned.coppice").stdout
    assert "cluster_sd" in text
    if model != "nhcm":
        levels = {entry["level"]: entry["mean"] for entry in learned if entry["column"] == "shape" and entry["level"]}
        assert set(levels) == {"round", "square", "flat"} and sum(levels.values()) == pytest.approx(1)
        (line,) = [line for line in text.splitlines() if line.startswith("shape: ")]
        assert line.count("%") == 3 and line.endswith(f"round {100 * levels['round']:.0f} %")
    assert coppice.json("summary", "fixed.coppice")["learned"] == []
    of_learned = densities(coppice, "learned.coppice", "complete.csv")
    of_fixed = densities(coppice, "fixed.coppice", "complete.csv")
    assert np.isfinite(of_learned).all() and not np.allclose(of_learned, of_fixed)
    assert of_learned.mean() > of_fixed.mean() - 0.1


def test_held_out_cells_are_predicted_with_learned_values(coppice, model):
    if model == "nhcm":
        pytest.skip("cells are held out, and nhcm takes complete rows")
    scores = {}
    for hyper in ("learned", "fixed"):
        answer = coppice.json(
            "crossvalidate",
            "complete.csv",
            "--models",
            model,
            "--folds",
            2,
            "--hyper",
            hyper,
            "--warmup",
            40,
            "--draws",
            40,
        )
        scores[hyper] = str(answer)
        assert model in scores[hyper]
    assert scores["learned"] != scores["fixed"]


@pytest.mark.parametrize("model_with_cells", ["nrmm", "crosscat", "rbhmc"])
def test_missing_cells_are_imputed_from_the_same_family(coppice, model_with_cells):
    coppice.write("data.csv", table_text(80, True, False))
    coppice.write("complete.csv", table_text(80, False, False))
    families = []
    for data in ("data.csv", "complete.csv"):
        fit(coppice, model_with_cells, "run.coppice", "--draws", 60, "--overwrite", data=data)
        families.append(coppice.json("summary", "run.coppice")["family"])
    assert families[0] == families[1]
    fit(coppice, model_with_cells, "run.coppice", "--draws", 60, "--overwrite")
    truth = list(csv.DictReader(io.StringIO((coppice.folder / "complete.csv").read_text())))
    cells = [
        cell
        for cell in csv.DictReader(io.StringIO(coppice("impute", "run.coppice").stdout))
        if cell["column"] in ("length", "width")
    ]
    assert len(cells) == 7
    inside = [float(c["low"]) <= float(truth[int(c["row"]) - 1][c["column"]]) <= float(c["high"]) for c in cells]
    assert sum(inside) >= 5


@pytest.mark.parametrize("model_with_rows", ["nrmm", "crosscat"])
def test_sampled_rows_are_as_wide_as_the_clusters(coppice, model_with_rows):
    coppice.write("data.csv", table_text(80, False, False))
    fit(coppice, model_with_rows, "run.coppice", "--draws", 60)
    rows = csv.DictReader(io.StringIO(coppice("sample", "run.coppice", "--n", 400).stdout))
    lengths = np.array([float(row["length"]) for row in rows])
    assert lengths.min() >= 0.0
    middle = np.abs(lengths - 40.0) < 8.0  # between the groups
    assert middle.mean() < 0.15


def test_rows_can_be_added_to_a_learned_run(coppice):
    coppice.write("data.csv", table_text(80, True, False))
    coppice.write("all.csv", table_text(120, True, False))
    fit(coppice, "nrmm", "run.coppice", "--draws", 40)
    more = (coppice.folder / "all.csv").read_text().splitlines()
    coppice.write("more.csv", "\n".join([more[0], *more[81:]]) + "\n")
    coppice("update", "run.coppice", "more.csv", "-o", "grown.coppice")
    answer = coppice.json("summary", "grown.coppice")
    assert answer["rows"] == 120
    assert any(entry["parameter"] == "cluster_sd" for entry in answer["learned"])
