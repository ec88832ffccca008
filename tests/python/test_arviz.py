"""Runs in ArviZ: its 0.x, and the package that its 1.x has `from_dict` from (1.x itself needs a newer Python)."""

import sys
import types

import arviz
import arviz_base
import numpy as np
import xarray


def test_groups_and_numbers(model):
    data = model.to_arviz()
    run = model.run_
    posterior, statistics = data["posterior"], data["sample_stats"]
    labels = data["labels"]["labels"]
    assert labels.dims == ("chain", "draw", "level", "obs") and "labels" not in posterior
    np.testing.assert_array_equal(labels.values[:, :, 0], run.labels(1))
    # Weights and means of the clusters of a draw, the largest first.
    sizes = np.sort(np.bincount(run.labels(1)[0, -1]))[::-1] / run.rows
    np.testing.assert_allclose(posterior["cluster_weight"].values[0, -1, : len(sizes)], sizes)
    total = np.nansum(posterior["cluster_mean"].values[0, -1, :, 0] * posterior["cluster_weight"].values[0, -1], axis=0)
    np.testing.assert_allclose(total, run.data()[:, 0].mean(), atol=1e-9)
    np.testing.assert_array_equal(posterior["n_clusters"].values[:, :, 0], run.labels(1).max(axis=2) + 1)
    np.testing.assert_array_equal(statistics["lp"].values, run.traces()["log_joint"])
    assert data.attrs["inference_library"] == "coppice"
    assert list(labels["obs"].values) == run.row_ids
    np.testing.assert_allclose(data["observed_data"]["x0"].values, run.data(original=False)[:, 0])


def test_leave_one_out_works(model):
    data = model.to_arviz()
    if model.run_.draws == 1:  # greedy: no row can be left out of its tree
        assert "log_likelihood" not in data.groups()
        return
    pointwise = data["log_likelihood"]["rows"].values
    assert pointwise.shape == (model.run_.chains, model.run_.draws, model.run_.rows)
    found = arviz.loo(data, pointwise=True)
    # The identity that Pareto smoothing starts from, row by row.
    plain = -np.log(np.mean(np.exp(-pointwise.reshape(-1, model.run_.rows)), axis=0))
    np.testing.assert_allclose(np.asarray(found.loo_i), plain, atol=0.3)
    by_row = {entry["row"]: entry["log_density"] for entry in model.run_.anomalies(top=0, draws=10_000)}
    np.testing.assert_allclose([by_row[name] for name in model.run_.row_ids], plain, atol=1e-9)


def test_the_summary_has_no_labels(model):
    if model.run_.draws == 1:
        return
    names = list(arviz.summary(model.to_arviz(log_likelihood=False), kind="stats").index)
    assert names[0].startswith("n_clusters") and not any(name.startswith("labels") for name in names)


def test_diagnostics_agree(model):
    """R-hat and effective draws are ArviZ's own."""
    data = model.to_arviz()
    entry = model.diagnostics_["traces"]["log_joint"]
    if model.run_.draws == 1:  # greedy: nothing to diagnose
        assert entry["constant"] and np.isnan(entry["rhat"])
        return
    for name, ours in (("rhat", entry["rhat"]), ("ess", entry["ess_bulk"])):
        theirs = getattr(arviz, name)(
            data["sample_stats"].to_dataset() if hasattr(data["sample_stats"], "to_dataset") else data["sample_stats"]
        )["lp"].values
        np.testing.assert_allclose(theirs, ours, rtol=1e-9)


def test_a_data_tree_for_arviz_1(model, monkeypatch):
    newer = types.SimpleNamespace(__version__="1.0.0", from_dict=arviz_base.from_dict)
    older = model.to_arviz()
    monkeypatch.setitem(sys.modules, "arviz", newer)
    data = model.to_arviz()
    assert isinstance(data, xarray.DataTree) and set(data.children) == set(older.groups())
    for group in data.children:
        assert set(data[group].data_vars) == set(older[group].data_vars)
        for name, values in data[group].data_vars.items():
            assert values.dims == older[group][name].dims
            np.testing.assert_array_equal(values.values, older[group][name].values)
    assert data.attrs["inference_library"] == "coppice"
