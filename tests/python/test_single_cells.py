"""Fits to AnnData, tried on the cells that come with scanpy."""

import warnings

import numpy as np
import pytest
from conftest import SHORT
from sklearn.exceptions import ConvergenceWarning

import coppice

anndata = pytest.importorskip("anndata", reason="needs anndata and scanpy")
scanpy = pytest.importorskip("scanpy", reason="needs anndata and scanpy")

SHORT_FIT = {**SHORT, "family": "gaussian-diagonal"}


@pytest.fixture(scope="module")
def cells():
    return scanpy.datasets.pbmc68k_reduced()[:300].copy()  # inside scanpy's package: needs no network


def fit(adata, *arguments, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return coppice.tl.fit(adata, *arguments, **settings)


@pytest.fixture(scope="module")
def fitted_cells(cells):
    return fit(cells, n_components=8, copy=True, **SHORT_FIT)


def test_results_are_where_scanpy_looks(cells, fitted_cells):
    assert "coppice" not in cells.obs  # a copy
    adata = fitted_cells
    labels = adata.obs["coppice"]
    assert labels.dtype == "category" and 1 < len(labels.cat.categories) < 60
    membership = adata.obsm["coppice_membership"]
    np.testing.assert_allclose(membership.sum(axis=1), 1.0)
    assert membership.shape == (300, len(labels.cat.categories) + 1)
    result = adata.uns["coppice"]
    assert result["params"] == {"model": "nrmm", "use_rep": "X_pca", "random_state": 0}
    assert result["linkage"].shape == (299, 4)
    assert result["clusters"]["q05"] <= result["clusters"]["mean"] <= result["clusters"]["q95"]


def test_scanpy_plots_and_tests_work_on_them(fitted_cells):
    import matplotlib

    matplotlib.use("Agg")
    scanpy.pl.umap(fitted_cells, color=["coppice", "coppice_confidence"], show=False)
    scanpy.pl.dendrogram(fitted_cells, groupby="coppice", show=False)
    genes = list(fitted_cells.raw.var_names[:3])
    scanpy.pl.dotplot(fitted_cells, genes, groupby="coppice", dendrogram=True, show=False)
    matplotlib.pyplot.close("all")


def test_it_is_the_fit_of_the_estimator(cells):
    adata = fit(cells, n_components=4, copy=True, random_state=3, **SHORT_FIT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = coppice.NRMMixture(random_state=3, **SHORT_FIT).fit(cells.obsm["X_pca"][:, :4].astype(float))
    assert [int(label) for label in adata.obs["coppice"]] == list(model.labels_)


def test_counts_are_counts():
    rng = np.random.default_rng(0)
    rates = np.array([[1.0, 20.0, 3.0], [15.0, 2.0, 3.0]])[np.arange(60) % 2]
    adata = anndata.AnnData(rng.poisson(rates).astype(np.float32))
    adata.var_names = ["a", "b", "c"]
    fit(adata, key_added="groups", **SHORT)
    assert len(set(zip(adata.obs["groups"], np.arange(60) % 2))) == 2
    assert '"count"' in adata.uns["groups"]["configuration"] or "X" == adata.uns["groups"]["params"]["use_rep"]
    adata.layers["log"] = np.log1p(adata.X)
    fit(adata, layer="log", key_added="logs", **SHORT)
    assert adata.uns["logs"]["params"]["use_rep"] == "layer log"


def test_mistakes_are_named(cells):
    with pytest.raises(ValueError, match="obsm has no 'X_scvi'; it has 'X_pca', 'X_umap'"):
        coppice.tl.fit(cells, use_rep="X_scvi")
    with pytest.raises(ValueError, match="there is no model 'leiden'"):
        coppice.tl.fit(cells, "leiden")
    with pytest.raises(ValueError, match="learns labels"):
        coppice.tl.fit(cells, "bnmc")
    with pytest.raises(ValueError, match="belongs to use_rep='X'"):
        coppice.tl.fit(cells, use_rep="X_pca", layer="log")
