"""Rows that come later, and rows with weights."""

import numpy as np
import pandas as pd
import pytest
from conftest import blobs, command_line, fitted, short

import coppice

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def write_csv(path, X):
    pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).to_csv(path, index=False)


def test_partial_fit_is_an_update(tmp_path):
    X, truth = blobs(90)
    first, more, last = X[:50], X[50:75], X[75:]
    grown = short(coppice.NRMMixture).partial_fit(first)
    np.testing.assert_array_equal(grown.labels_, fitted(coppice.NRMMixture, first).labels_)
    grown.partial_fit(more).partial_fit(last)
    assert grown.run_.rows == 90 and len(set(grown.run_.row_ids)) == 90 and len(grown.labels_) == 90
    assert len(set(zip(grown.labels_, truth))) == 3
    write_csv(tmp_path / "first.csv", first)
    write_csv(tmp_path / "more.csv", more)
    write_csv(tmp_path / "last.csv", last)
    flags = ("--chains", 2, "--warmup", 60, "--draws", 60, "--seed", 1, "-q")
    command_line(tmp_path, "fit", "nrmm", "first.csv", *flags, "-o", "run.coppice")
    command_line(tmp_path, "update", "run.coppice", "more.csv", "-q")
    command_line(tmp_path, "update", "run.coppice", "last.csv", "-q")
    opened = coppice.open(tmp_path / "run.coppice")
    np.testing.assert_array_equal(opened.run_.labels(), grown.run_.labels())
    np.testing.assert_array_equal(opened.predict_proba(X), grown.predict_proba(X))


def test_partial_fit_follows_the_conventions(tmp_path):
    X, _ = blobs(60)
    model = short(coppice.NRMMixture, output=tmp_path / "run.coppice")
    assert model.partial_fit(X[:40], y=None) is model
    model.partial_fit(X[40:])
    assert model.run_.rows == 60 and model.run_.path == str(tmp_path / "run.coppice")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.coppice"]
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :1])
    assert model.run_.rows == 60
    # fit() forgets what was there.
    assert short(coppice.NRMMixture).partial_fit(X).fit(X[:30]).run_.rows == 30
    frame = pd.DataFrame(X, columns=["a", "b"])
    named = short(coppice.NRMMixture).partial_fit(frame[:40]).partial_fit(frame[40:])
    assert named.run_.row_ids == [str(row) for row in range(60)]
    assert not hasattr(coppice.BHC(), "partial_fit")


@pytest.mark.parametrize("cls", [coppice.NRMMixture, coppice.CrossCat, coppice.BHC, coppice.BHCC])
def test_sample_weight_is_the_weights_of_the_command_line(cls, tmp_path):
    table = pd.DataFrame({"color": ["red", "red", "blue", "blue", "green"], "visits": [0, 1, 6, 7, 3]})
    weights = [40, 25, 30, 22, 12]
    model = short(cls).fit(table, sample_weight=weights)
    assert "5 rows count as 129" in " ".join(model.run_.notes)
    table.assign(people=weights).to_csv(tmp_path / "table.csv", index=False)
    length = ("--chains", 2, "--warmup", 60, "--draws", 60) if cls in (coppice.NRMMixture, coppice.CrossCat) else ()
    command_line(
        tmp_path,
        "fit",
        model._model,
        "table.csv",
        "--weights",
        "people",
        *length,
        "--seed",
        1,
        "-q",
        "-o",
        "run.coppice",
    )
    opened = coppice.open(tmp_path / "run.coppice")
    np.testing.assert_array_equal(opened.run_.labels(), model.run_.labels())
    np.testing.assert_array_equal(opened.predict_proba(table), model.predict_proba(table))
    # Weights of one are no weights, but that hyper-parameters are fixed.
    ones = short(cls, hyper="fixed").fit(table, sample_weight=np.ones(5))
    plain = short(cls, hyper="fixed").fit(table)
    np.testing.assert_allclose(ones.predict_proba(table), plain.predict_proba(table), atol=1e-9)


def test_sample_weight_of_rows_in_sub_clusters():
    X, _ = blobs(20)
    X = np.round(X)
    weights = 1 + np.arange(20) % 4
    model = short(coppice.NHCM).fit(X, sample_weight=weights)
    assert "20 rows count as 50" in " ".join(model.run_.notes)
    assert model.predict_proba(X).shape[0] == 20
    ones = short(coppice.NHCM, hyper="fixed").fit(X, sample_weight=np.ones(20))
    plain = short(coppice.NHCM, hyper="fixed").fit(X)
    np.testing.assert_array_equal(ones.run_.labels(), plain.run_.labels())
    with pytest.raises(ValueError, match="published"):
        short(coppice.NHCM, sampler="published").fit(X, sample_weight=weights)


def test_sample_weights_that_are_none_are_refused():
    X, _ = blobs(12)
    for weights, message in [
        (np.full(12, 0.5), "whole number"),
        (np.zeros(12), "leave the row out"),
        (np.ones(11), "inconsistent numbers of samples"),
        (np.ones((12, 2)), "1D"),
    ]:
        with pytest.raises(ValueError, match=message):
            short(coppice.NRMMixture).fit(X, sample_weight=weights)
    model = short(coppice.NRMMixture).fit(X, sample_weight=np.full(12, 2))
    with pytest.raises(ValueError, match="row weights"):
        model.partial_fit(X)
    with pytest.raises(TypeError):
        short(coppice.RBHMC).fit(X, sample_weight=np.ones(12))
