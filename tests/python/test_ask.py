"""Questions about columns, rows and cells; new rows, filled frames, and what to know before a fit."""

import json
import sys

import numpy as np
import pytest
from conftest import command_line, fitted

import coppice

pd = pytest.importorskip("pandas")


def visitors(rows=80):
    rng = np.random.default_rng(5)
    group = np.arange(rows) % 2
    return pd.DataFrame(
        {
            "minutes": np.round(np.where(group == 1, 90.0, 30.0) + 6.0 * rng.normal(size=rows), 1),
            "visits": rng.poisson(np.where(group == 1, 9, 2)),
            "hall": pd.Categorical(
                np.where(rng.random(rows) < 0.9, np.where(group == 1, "ships", "space"), "minerals")
            ),
            "noise": np.round(rng.normal(size=rows), 3),
        },
        index=[f"v{i}" for i in range(rows)],
    )


@pytest.fixture(scope="module")
def model():
    table = visitors()
    table.loc["v7", "minutes"] = 240.0
    return fitted(coppice.CrossCat, table, chains=2, warmup=100, draws=100)


def test_answers_are_those_of_the_command_line(model, tmp_path):
    model.save(tmp_path / "run.coppice")

    def ask(*words):
        return json.loads(command_line(tmp_path, "-q", "ask", *words, "--json"))

    assert model.run_.depend("hall", "minutes") == ask("depend", "run.coppice", "hall", "minutes")
    assert model.run_.anomalies(top=3) == ask("anomalies", "run.coppice", "--top", 3)
    given = {"minutes": 88, "visits": 10}
    theirs = ask("predict", "run.coppice", "hall", "--given", "minutes=88", "--given", "visits=10")[0]
    del theirs["without"]
    assert model.run_.predict_cell("hall", given) == theirs
    theirs = ask("similar", "run.coppice", "v0", "v2", "--given", "hall")[0]["similarity"]
    assert model.run_.similar("v0", "v2", given=["hall"]) == theirs == model.run_.similar(0, 2, given=["hall"])


def test_answers_make_sense(model):
    run = model.run_
    pairs = {frozenset((pair["first"], pair["second"])): pair for pair in run.depend()}
    assert len(pairs) == 6
    strong, weak = pairs[frozenset(("minutes", "hall"))], pairs[frozenset(("minutes", "noise"))]
    assert strong["low"] > weak["high"] and 0.0 <= weak["mutual_information"] < 0.2
    first = run.anomalies(top=1)[0]
    assert first["row"] == "v7" and first["cells"][0]["column"] == "minutes" and first["cells"][0]["value"] == 240.0
    cell = run.predict_cell("hall", {"minutes": 90.0})
    assert cell["mode"] == "ships" and abs(sum(cell["probabilities"].values()) - 1.0) < 1e-9
    assert run.predict_cell("minutes", {"hall": "space"})["high"] < 80.0
    strange = visitors(4)
    strange.loc["v1", "visits"] = 60
    assert run.anomalies(strange, top=1)[0]["cells"][0]["column"] == "visits"
    with pytest.raises(ValueError, match="minuets"):
        run.depend("minuets")
    with pytest.raises(KeyError, match="v999"):
        run.similar("v999")


def test_samples_and_features(model):
    rows = model.sample(50, random_state=3)
    assert isinstance(rows, pd.DataFrame) and list(rows.columns) == ["minutes", "visits", "hall", "noise"]
    assert set(rows["hall"]) <= {"ships", "space", "minerals"} and len(rows) == 50
    pd.testing.assert_frame_equal(rows, model.sample(50, random_state=3))
    features = model.transform(visitors(5))
    np.testing.assert_array_equal(features, model.predict_proba(visitors(5)))
    assert len(model.get_feature_names_out()) == features.shape[1]


def test_frames_are_filled_in_their_own_type(model):
    table = visitors(6)
    table.loc["v1", "minutes"] = np.nan
    table.loc["v2", "hall"] = np.nan
    whole = model.impute(table)
    assert isinstance(whole, pd.DataFrame) and not whole.isna().any(axis=None)
    assert isinstance(whole["hall"].dtype, pd.CategoricalDtype) and whole.loc["v2", "hall"] == "space"
    assert 60.0 < whole.loc["v1", "minutes"] < 120.0 and list(whole.index) == list(table.index)
    pd.testing.assert_frame_equal(whole.drop(["v1", "v2"]), table.drop(["v1", "v2"]))
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({name: list(table[name].astype(object).where(table[name].notna(), None)) for name in table})
    filled = model.impute(frame)
    assert isinstance(filled, pl.DataFrame) and filled.null_count().sum_horizontal()[0] == 0
    assert filled["hall"][2] == "space" and filled.schema == frame.schema


def test_before_a_fit():
    table = visitors()
    table["constant"] = 3.0
    book = coppice.codebook(table)
    assert book["hall"]["kind"] == "category" and book["visits"]["kind"] == "count" and "constant" not in book
    found = coppice.check(table)
    assert found["rows"] == 80 and found["bytes"] > 0
    assert any(finding["columns"] == ["constant"] for finding in found["findings"])
    assert fitted(coppice.NRMMixture, table, codebook={name: {"kind": book[name]["kind"]} for name in book}).n_clusters_


def test_plots_name_the_extra(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"coppice\[plot\]"):
        coppice.plot_coclustering(model)


def test_dates_stay_dates():
    table = visitors()
    rng = np.random.default_rng(6)
    group = np.arange(len(table)) % 2
    day = pd.Timestamp("2024-01-01")
    table["joined"] = day + pd.to_timedelta(np.where(group == 1, 200, 0) + rng.integers(40, size=len(table)), unit="D")
    table["left"] = pd.Timestamp("2024-09-01T10:30", tz="Europe/Berlin") + pd.to_timedelta(
        rng.integers(100_000, size=len(table)), unit="s"
    )
    table["spent"] = pd.to_timedelta(rng.normal(3000.0, 400.0, len(table)).round(), unit="s")
    model = fitted(coppice.CrossCat, table, chains=2, warmup=50, draws=50)
    assert model.sample(5)["joined"].dtype.kind == "M"
    holes = table.iloc[:6].copy()
    holes.loc[holes.index[2], ["joined", "left", "spent"]] = pd.NaT
    filled = model.impute(holes)
    assert (filled.dtypes == holes.dtypes).all()
    assert filled[["joined", "left", "spent"]].notna().all(axis=None)
    assert abs(filled["joined"].iloc[2] - table["joined"].iloc[2]) < pd.Timedelta(days=150)
    assert filled["joined"].drop(holes.index[2]).equals(holes["joined"].drop(holes.index[2]))
    cell = next(cell for cell in model.imputed_cells(holes) if cell["column"] == "joined")
    assert cell["low"] <= cell["value"] <= cell["high"]
    columns = {column["name"]: column["unit"] for column in model.run_.columns}
    assert columns["joined"].startswith("days since 2024-01-0") and columns["minutes"] is None
    assert columns["left"].startswith("seconds since 2024-09-01T08:3")  # in UTC
    assert columns["spent"] is None and model.sample(5)["spent"].between(500, 6000).all()


def test_dates_that_are_numbers_stay_numbers():
    rng = np.random.default_rng(8)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(300, size=60), unit="D")
    numbers = np.column_stack([days.strftime("%Y%m%d").astype(float), rng.normal(size=60)])
    model = fitted(coppice.CrossCat, numbers, chains=2, warmup=50, draws=50)
    assert model.run_.columns[0]["unit"].endswith("yyyymmdd")
    holes = numbers[:5].copy()
    holes[1, 0] = np.nan
    for filled in (model.impute(holes), model.impute(pd.DataFrame(holes, columns=["x0", "x1"])).to_numpy()):
        assert 20230101 < filled[1, 0] < 20260101 and filled[1, 0] == int(filled[1, 0])
        assert (filled[0] == holes[0]).all()
    assert ((20220101 < model.sample(9)[:, 0]) & (model.sample(9)[:, 0] < 20270101)).all()
