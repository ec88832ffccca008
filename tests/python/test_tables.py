"""Frames of pandas, polars and Arrow, kinds of columns, missing cells."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import ROOT, blobs, command_line, fitted, short

import coppice


@pytest.fixture(scope="module")
def mixed():
    return pd.read_csv(ROOT / "examples" / "mixed.csv").drop(columns=["visitor", "group"])


@pytest.fixture(scope="module")
def from_pandas(mixed):
    return fitted(coppice.NRMMixture, mixed)


def test_kinds_and_draws_are_those_of_the_csv(mixed, from_pandas, tmp_path):
    command_line(
        tmp_path,
        "fit",
        "nrmm",
        ROOT / "examples" / "mixed.csv",
        "--drop",
        "group",
        "--drop",
        "visitor",
        "--chains",
        2,
        "--warmup",
        60,
        "--draws",
        60,
        "--seed",
        1,
        "-o",
        "run.coppice",
    )
    read = coppice.open(tmp_path / "run.coppice")
    assert read.run_.columns == from_pandas.run_.columns
    assert {column["kind"] for column in read.run_.columns} >= {"real", "category"}
    np.testing.assert_array_equal(read.run_.labels(), from_pandas.run_.labels())
    assert list(from_pandas.feature_names_in_) == list(mixed.columns)
    np.testing.assert_array_equal(read.predict_proba(mixed), from_pandas.predict_proba(mixed))


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "arrow"])
def test_other_frames_give_the_same(mixed, from_pandas, convert):
    frame = convert(mixed)
    model = fitted(coppice.NRMMixture, frame)
    np.testing.assert_array_equal(model.run_.labels(), from_pandas.run_.labels())
    np.testing.assert_array_equal(model.predict_proba(frame), from_pandas.predict_proba(mixed))


def test_categoricals_booleans_and_nullable_integers():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "letter": pd.Categorical(rng.choice(list("abc"), 30), categories=list("cbad")),
            "flag": rng.random(30) < 0.5,
            "count": pd.array(rng.poisson(6.0, 30), dtype="Int64"),
            "size": rng.normal(size=30),
            "words": rng.choice(["long", "short"], 30),
        }
    )
    frame.loc[3, "count"] = pd.NA
    frame.loc[4, "letter"] = None
    frame.loc[5, "words"] = None
    model = fitted(coppice.NRMMixture, frame)
    kinds = {column["name"]: column["kind"] for column in model.run_.columns}
    assert kinds == {"letter": "category", "flag": "binary", "count": "count", "size": "real", "words": "binary"}
    assert np.isnan(model.run_.data()).sum() == 3
    assert [(cell["row"], cell["column"]) for cell in model.run_.imputed()] == [
        (3, "count"),
        (4, "letter"),
        (5, "words"),
    ]
    with pytest.raises(ValueError, match="elephant"):
        model.predict(frame.assign(letter="elephant"))


def test_rows_are_named_by_the_index():
    X, _ = blobs()
    names = [f"row {i}" for i in range(len(X))]
    model = fitted(coppice.NRMMixture, pd.DataFrame(X, columns=["a", "b"], index=names))
    assert model.run_.row_ids == names
    assert list(model.to_pandas().index) == names
    assert model.to_polars()["cluster"].to_list() == model.labels_.tolist()


def test_columns_without_content_are_left_out_with_a_warning():
    X, _ = blobs()
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(empty=np.nan, name=[f"n{i}" for i in range(len(X))])
    with pytest.warns(UserWarning) as caught:
        model = short(coppice.NRMMixture).fit(frame)
    notes = [str(warning.message) for warning in caught if "left out" in str(warning.message)]
    assert len(notes) == 2 and "'empty'" in notes[0] and "'name'" in notes[1]
    assert [column["name"] for column in model.run_.columns] == ["a", "b"]
    assert model.n_features_in_ == 4
    assert model.predict(frame).shape == (60,)


def test_missing_cells_where_the_family_allows_them():
    X, _ = blobs()
    X[0, 0] = np.nan
    assert fitted(coppice.NRMMixture, X).predict(X).shape == (60,)
    with pytest.raises(ValueError, match="NaN"):
        short(coppice.NRMMixture, family="gaussian").fit(X)
    with pytest.raises(ValueError, match="NaN"):
        short(coppice.NHCM).fit(X)
    with pytest.raises(ValueError, match="NaN"):
        short(coppice.NHCM).fit(pd.DataFrame({"a": X[:, 0], "b": X[:, 1]}))


def test_codebook_and_family_settings(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "visits": rng.binomial(50, np.where(np.arange(40) % 2, 0.2, 0.8)).astype(float),
            "code": rng.integers(1, 4, 40),
        }
    )
    codebook = {
        "visits": {"kind": "count", "family": "binomial", "trials": 50, "a": 0.5, "b": 0.5},
        "code": {"kind": "category"},
    }
    model = fitted(coppice.NRMMixture, frame, codebook=codebook)
    assert [column["kind"] for column in model.run_.columns] == ["count", "category"]
    assert "binomial" in model.run_.family
    assert model.n_clusters_ == 2
    (tmp_path / "codebook.toml").write_text('[[column]]\nname = "code"\nkind = "category"\n')
    assert fitted(coppice.NRMMixture, frame, codebook=tmp_path / "codebook.toml").run_.columns[1]["kind"] == "category"
    known = fitted(coppice.NRMMixture, blobs()[0], family="gaussian-known", family_settings={"noise_variance": 0.05})
    assert known.run_.configuration["set"] == {"noise_variance": "0.05"}


def test_what_is_no_column_is_refused():
    frame = pd.DataFrame({"wave": np.arange(10) * 1j, "x": np.arange(10.0)})
    with pytest.raises(ValueError, match="wave.*neither a number nor a text"):
        short(coppice.NRMMixture).fit(frame)
    with pytest.raises(ValueError, match="infinity"):
        short(coppice.NRMMixture).fit(pd.DataFrame({"a": ["x", "y"] * 5, "b": [np.inf] * 10}))
    with pytest.raises(ValueError, match="minimum of 2"):
        short(coppice.NRMMixture).fit(pd.DataFrame({"a": ["x"], "b": [1.0]}))


def test_layout_and_type_of_arrays_do_not_matter():
    X, _ = blobs()
    labels = fitted(coppice.NRMMixture, X).run_.labels()
    wide = np.zeros((60, 4))
    wide[:, ::2] = X
    for form in (np.asfortranarray(X), wide[:, ::2], X.tolist(), pd.DataFrame(X), pl.DataFrame(X)):
        np.testing.assert_array_equal(fitted(coppice.NRMMixture, form).run_.labels(), labels)
