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
    assert posterior["labels"].dims == ("chain", "draw", "level", "obs")
    np.testing.assert_array_equal(posterior["labels"].values[:, :, 0], run.labels(1))
    np.testing.assert_array_equal(posterior["n_clusters"].values[:, :, 0], run.labels(1).max(axis=2) + 1)
    np.testing.assert_array_equal(statistics["lp"].values, run.traces()["log_joint"])
    assert data.attrs["inference_library"] == "coppice"
    assert list(posterior["obs"].values) == run.row_ids
    np.testing.assert_allclose(data["observed_data"]["x0"].values, run.data(original=False)[:, 0])


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
    assert isinstance(data, xarray.DataTree) and set(data.children) == {"posterior", "sample_stats", "observed_data"}
    for group in data.children:
        assert set(data[group].data_vars) == set(older[group].data_vars)
        for name, values in data[group].data_vars.items():
            assert values.dims == older[group][name].dims
            np.testing.assert_array_equal(values.values, older[group][name].values)
    assert data.attrs["inference_library"] == "coppice"
