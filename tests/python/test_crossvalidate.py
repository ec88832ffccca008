"""Crossvalidation from Python: the figures of the command line, estimators as contenders, labels, what is refused."""

import json

import numpy as np
import pytest
from conftest import blobs, command_line

import coppice

LENGTH = {"chains": 1, "warmup": 20, "draws": 20}


def write_table(path, X, names):
    lines = [",".join(names)] + [",".join(repr(float(value)) for value in row) for row in X]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_figures_are_those_of_the_command_line(tmp_path):
    X, _ = blobs(40)
    write_table(tmp_path / "blobs.csv", X, ["x0", "x1"])
    answer = json.loads(
        command_line(
            tmp_path,
            "crossvalidate",
            "blobs.csv",
            "--models",
            "nrmm,bhc",
            "--folds",
            4,
            "--most-folds",
            2,
            "--chains",
            1,
            "--warmup",
            20,
            "--draws",
            20,
            "--seed",
            3,
            "--json",
        )
    )
    folds = coppice.crossvalidate(X, models=["nrmm", "bhc"], folds=4, most_folds=2, random_state=3, **LENGTH)
    assert folds.models == ["one cluster", "nrmm", "bhc"] == [model["model"] for model in answer["models"]]
    assert folds.complete and folds.unit == "cells" and list(folds.held_out) == [20, 20]
    for figure in ("log_predictive", "rmse", "mae"):
        np.testing.assert_array_equal(
            folds.figures[figure], np.array([model[figure]["folds"] for model in answer["models"]], dtype=float)
        )
    for place, name in enumerate(folds.models):
        assert folds.mean()[name] == pytest.approx(answer["models"][place]["log_predictive"]["mean"], rel=1e-12)
        assert folds.standard_error()[name] == pytest.approx(
            answer["models"][place]["log_predictive"]["standard_error"], rel=1e-9
        )
    assert folds.mean("log_predictive")["nrmm"] > folds.mean("log_predictive")["one cluster"] + 0.2
    assert "nrmm" in repr(folds)


def test_estimators_are_contenders_with_their_settings():
    X, _ = blobs(30)
    calls = []
    folds = coppice.crossvalidate(
        X,
        models={
            "plain": "nrmm",
            "one": coppice.NRMMixture(sampler="gibbs", alpha=0.5),
            "two": "nrmm:sampler=gibbs:alpha=0.5",
        },
        folds=3,
        most_folds=1,
        progress=lambda *news: calls.append(news),
        **LENGTH,
    )
    assert folds.models == ["one cluster", "plain", "one", "two"]
    values = folds.figures["log_predictive"][:, 0]
    assert values[2] == values[3] != values[1]
    assert [call[:3] for call in calls] == [(1, 1, "plain"), (1, 1, "one"), (1, 1, "two")]
    assert [call[3] for call in calls] == list(values[1:])
    frame = folds.to_frame()
    assert list(frame["model"]) == folds.models and list(frame["cells"]) == [20] * 4


def test_labels_of_rows_that_are_held_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).round(3)
    Y = np.stack([X[:, 0] > 0, X[:, 1] > 0.3], axis=1).astype(float)
    folds = coppice.crossvalidate(X, Y, models={"bnmc": "bnmc", "base": "rates", "each": "ovr"}, folds=3)
    assert folds.models == ["bnmc", "base", "each"] and folds.unit == "rows" and folds.held_out.sum() == 60
    assert folds.mean("micro_f1")["each"] > 0.8
    assert folds.mean("log_loss")["each"] < folds.mean("log_loss")["base"]


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"models": ["nrmm:sise=1"]}, "no setting 'sise'"),
        ({"models": ["ovr"]}, "give Y"),
        ({"models": []}, "no model"),
        ({"models": ["nrmm"], "folds": 1}, "1"),
        ({"models": ["nrmm"], "chains": 0}, "chains"),
        ({"models": ["nrmm", "rates"]}, "separately"),
    ],
)
def test_what_is_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        coppice.crossvalidate(blobs(20)[0], **settings)
