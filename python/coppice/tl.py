"""Single cells: fits to AnnData, with results where scanpy looks for them.

`coppice.tl.fit(adata)` clusters the cells and writes labels to `obs`, membership to `obsm`, and tree and settings to `uns`.
Needs the package anndata.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.cluster.hierarchy
import scipy.sparse

from coppice import _estimators

__all__ = ["fit"]


def fit(
    adata: Any,
    model: str = "nrmm",
    *,
    use_rep: str | None = None,
    n_components: int | None = None,
    layer: str | None = None,
    key_added: str = "coppice",
    random_state: int = 0,
    copy: bool = False,
    **settings: Any,
) -> Any:
    """Cluster the cells of an AnnData object.

    Parameters
    ----------
    adata : anndata.AnnData
        Cells x genes.
    model : str
        A model that finds clusters: "nrmm", "rbhmc", "nhcm", "bhc", "bhcc" or "crosscat".
    use_rep : str or None
        What to cluster by: a key of `obsm`, or "X" for the matrix itself (or `layer`). None: "X_pca" if it is there,
        else "X". Whole numbers in "X" are modeled as counts; choose genes before (say, highly variable ones).
    n_components : int or None
        The first columns of a representation in `obsm`; None: all.
    layer : str or None
        A layer to use instead of `X`; only with `use_rep` "X" or None.
    key_added : str
        Where results go: see Returns.
    random_state : int
        Seed.
    copy : bool
        Return a copy with the results instead of changing `adata`.
    **settings
        Settings of the estimator, for example `draws=2000` or `family="gaussian-diagonal"`.

    Returns
    -------
    adata : anndata.AnnData or None
        With `copy`, the copy. These are added:

        `obs[key_added]` : categories, the point estimate (of the coarsest level).
        `obs[key_added + "_level_K"]` : of hierarchies, the clusters of level K.
        `obs[key_added + "_confidence"]` : how sure the cluster of each cell is.
        `obsm[key_added + "_membership"]` : probability of each cluster; the last column: none of them.
        `uns[key_added]` : `params`, `verdict`, `trusted`, `clusters` (posterior mean and 90 % interval of their number) and
        `linkage` (tree over the cells in SciPy's form).
        `uns["dendrogram_" + key_added]` : tree over the clusters, for scanpy's plots.
    """
    if model not in _estimators.BY_MODEL:
        raise ValueError(f"there is no model '{model}'; the models are {', '.join(_estimators.BY_MODEL)}")
    adata = adata.copy() if copy else adata
    frame, source, counts = _frame(adata, use_rep, n_components, layer)
    codebook = settings.pop("codebook", None)
    if counts and codebook is None:
        codebook = {name: {"kind": "count"} for name in frame.columns}
    estimator = _estimators.BY_MODEL[model](codebook=codebook, random_state=random_state, **{"verbose": 0, **settings})
    if not hasattr(estimator, "select"):
        raise ValueError(f"{model} learns labels and finds no clusters")
    estimator.fit(frame)
    _write(adata, estimator, key_added, {"model": model, "use_rep": source, "random_state": random_state})
    return adata if copy else None


def _frame(adata: Any, use_rep: str | None, n_components: int | None, layer: str | None) -> tuple[Any, str, bool]:
    """The columns to cluster by, where they come from, and whether they are counts."""
    import pandas as pd

    if use_rep is None:
        use_rep = "X_pca" if layer is None and "X_pca" in adata.obsm else "X"
    if use_rep != "X":
        if layer is not None:
            raise ValueError(f"layer '{layer}' belongs to use_rep='X', not to '{use_rep}'")
        if use_rep not in adata.obsm:
            raise ValueError(f"obsm has no '{use_rep}'; it has {', '.join(map(repr, adata.obsm)) or 'nothing'}")
        values = np.asarray(adata.obsm[use_rep], dtype=float)[:, :n_components]
        names = [f"{use_rep}{j + 1}" for j in range(values.shape[1])]
        return pd.DataFrame(values, index=adata.obs_names, columns=names), use_rep, False
    if n_components is not None:
        raise ValueError("n_components is for representations in obsm; choose genes to cluster by X")
    matrix = adata.X if layer is None else adata.layers[layer]
    values = matrix.toarray() if scipy.sparse.issparse(matrix) else np.asarray(matrix)
    counts = bool(np.all(values >= 0) and np.all(values == np.floor(values)))
    frame = pd.DataFrame(values.astype(float), index=adata.obs_names, columns=list(map(str, adata.var_names)))
    return frame, "X" if layer is None else f"layer {layer}", counts


def _write(adata: Any, estimator: Any, key: str, params: dict[str, Any]) -> None:
    import pandas as pd

    run = estimator.run_
    labels = np.asarray(estimator.labels_)
    adata.obs[key] = pd.Categorical([str(label) for label in labels], categories=_names(labels))
    for level in range(2, run.levels + 1):
        fine = run.consensus(level, estimator.select)["labels"]
        adata.obs[f"{key}_level_{level}"] = pd.Categorical([str(label) for label in fine], categories=_names(fine))
    adata.obs[f"{key}_confidence"] = np.asarray(estimator.confidence_)
    adata.obsm[f"{key}_membership"] = np.asarray(estimator.membership_)
    result: dict[str, Any] = {
        "params": params,
        "verdict": run.verdict,
        "trusted": bool(run.trusted),
        "linkage": np.asarray(estimator.linkage_),
        "configuration": run._head["configuration"],
    }
    counts = run.cluster_counts() if not run._head["greedy"] else []
    if counts:
        posterior = counts[0]["posterior"]
        result["clusters"] = {name: float(posterior[name]) for name in ("mean", "q05", "q95")}
    adata.uns[key] = result
    if estimator.n_clusters_ > 1:
        adata.uns[f"dendrogram_{key}"] = _dendrogram(run.coclustering(1), labels, key, params["use_rep"])


def _names(labels: np.ndarray) -> list[str]:
    return [str(label) for label in range(int(labels.max()) + 1)]


def _dendrogram(together: np.ndarray, labels: np.ndarray, key: str, use_rep: str) -> dict[str, Any]:
    """The average-linkage tree of the clusters by mean co-clustering, as scanpy keeps it."""
    names = _names(labels)
    members = [labels == c for c in range(len(names))]
    similarity = np.array([[together[np.ix_(a, b)].mean() for b in members] for a in members])
    np.fill_diagonal(similarity, 1.0)
    distance = scipy.cluster.hierarchy.distance.squareform(1.0 - similarity, checks=False)
    linkage = scipy.cluster.hierarchy.linkage(distance, method="average")
    drawn = scipy.cluster.hierarchy.dendrogram(linkage, labels=names, no_plot=True)
    return {
        "linkage": linkage,
        "groupby": [key],
        "use_rep": use_rep,
        "cor_method": "co-clustering",
        "linkage_method": "average",
        "categories_ordered": drawn["ivl"],
        "categories_idx_ordered": drawn["leaves"],
        "dendrogram_info": drawn,
        "correlation_matrix": similarity,
    }
