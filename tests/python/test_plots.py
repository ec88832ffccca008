"""Every plot draws something for every model, where it is told to, and closes nothing that is not its own."""

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, fitted
from matplotlib import pyplot

import coppice


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def ink(figure):
    """The share of pixels that are not background."""
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    return np.mean((pixels != 255).any(axis=2))


@pytest.mark.parametrize(
    "plot",
    [coppice.plot_tree, coppice.plot_coclustering, coppice.plot_profiles, coppice.plot_clusters],
    ids=lambda plot: plot.__name__,
)
def test_plots(model, plot):
    _, empty = pyplot.subplots()
    empty.set_axis_off()
    before = ink(empty.figure)
    ax = plot(model)
    assert ink(ax.figure) > before + 0.005
    figure, own = pyplot.subplots()
    assert plot(model, ax=own) is own
    assert own.figure is figure


def test_traces(model):
    axes = coppice.plot_traces(model)
    moving = sum(not entry["constant"] for entry in model.diagnostics_["traces"].values())
    assert len(axes) == (moving or len(model.run_.trace_names))
    assert all(len(ax.lines) == model.run_.chains for ax in axes)
    assert len(coppice.plot_traces(model, names=["log_joint"])) == 1


def test_views():
    animals = pd.read_csv(ROOT / "examples" / "animals.csv", index_col="name").drop(columns="class")
    model = fitted(coppice.CrossCat, animals)
    axes = coppice.plot_views(model)
    assert len(axes) == len(model.views_)
    shown = [label.get_text() for ax in axes for label in ax.get_xticklabels()]
    assert sorted(shown) == sorted(name if len(name) <= 22 else name[:21] + "…" for name in animals.columns)
    assert ink(axes[0].figure) > 0.2


def test_a_tree_draws_itself(model):
    ax = model.tree_.plot()
    texts = " ".join(text.get_text() for text in ax.texts)
    for node in model.tree_:
        if node.parent is not None:
            assert f"{node.size} rows" in texts


def test_clusters_of_many_columns_are_drawn_on_components():
    animals = pd.read_csv(ROOT / "examples" / "animals.csv", index_col="name").drop(columns="class")
    model = fitted(coppice.NRMMixture, animals)
    assert "principal component 1" in coppice.plot_clusters(model).get_xlabel()
    first, second = animals.columns[:2]
    assert coppice.plot_clusters(model, columns=(first, second)).get_ylabel() == second
    with pytest.raises(ValueError, match="no column 'wings_of_wax'"):
        coppice.plot_clusters(model, columns=(first, "wings_of_wax"))


def test_sub_clusters_have_ellipses_of_their_own():
    rng = np.random.default_rng(0)
    means = np.array([[0.0, 0.0], [3.0, 0.0], [30.0, 30.0], [33.0, 30.0]])[np.arange(80) % 4]
    model = fitted(coppice.NHCM, means + 0.2 * rng.normal(size=(80, 2)), warmup=200, draws=200)
    ax = coppice.plot_clusters(model)
    dashed = [patch for patch in ax.patches if patch.get_linewidth() == 1.0]
    finest = model.level_labels_[-1]
    divided = [c for c in set(model.labels_) if len(set(finest[model.labels_ == c])) > 1]
    parts = [p for c in divided for p in set(finest[model.labels_ == c]) if np.sum(finest == p) >= 3]
    assert len(dashed) == len(parts) and len(ax.patches) > len(dashed)
