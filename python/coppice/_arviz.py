"""A run for ArviZ: InferenceData in its 0.x, a DataTree in its 1.x."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from coppice._run import Run

_MOST_DENSITIES = 5_000_000  # that are computed without being asked for


def to_arviz(run: Run, log_likelihood: bool | None = None) -> Any:
    """Label-invariant quantities as posterior, labels in a group of their own, the log joint as sample_stats.lp, the table
    as observed_data, and the pointwise log likelihood, with which `arviz.loo` works. The latter is left out of greedy
    models and, unless it is asked for, of runs with very many draws and rows."""
    import arviz

    traces = run.traces()
    labels = np.stack([run.labels(level) for level in range(1, run.levels + 1)], axis=2)
    data = run.data(original=False)
    posterior: dict[str, np.ndarray] = {"n_clusters": labels.max(axis=3) + 1}
    posterior.update({name: values for name, values in traces.items() if name != "log_joint"})
    numbers = [j for j, column in enumerate(run.columns) if column["kind"] in ("real", "count")]
    weights, means = _components(labels[:, :, 0, :], run.data(original=True)[:, numbers])
    posterior["cluster_weight"] = weights
    if numbers:
        posterior["cluster_mean"] = means
    groups = {
        "posterior": posterior,
        "sample_stats": {"lp": traces["log_joint"]},
        "observed_data": {column["name"]: data[:, j] for j, column in enumerate(run.columns)},
    }
    if log_likelihood is None:
        log_likelihood = not run._head["greedy"] and labels[:, :, 0, :].size <= _MOST_DENSITIES
    if log_likelihood:
        groups["log_likelihood"] = {"rows": run.log_likelihood()}
    coords = {
        "level": np.arange(1, run.levels + 1),
        "obs": run.row_ids,
        "by_size": np.arange(1, weights.shape[2] + 1),
        "column": [run.columns[j]["name"] for j in numbers],
    }
    dims = {
        "n_clusters": ["level"],
        "labels": ["level", "obs"],
        "rows": ["obs"],
        "cluster_weight": ["by_size"],
        "cluster_mean": ["by_size", "column"],
        **{column["name"]: ["obs"] for column in run.columns},
    }
    if int(arviz.__version__.split(".")[0]) >= 1:
        answer = arviz.from_dict({**groups, "labels": {"labels": labels}}, coords=coords, dims=dims)
        posterior_group, labels_group = answer["posterior"], answer["labels"]
    else:
        answer = arviz.from_dict(**groups, coords=coords, dims=dims)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the group is not in ArviZ's own list
            answer.add_groups({"labels": {"labels": labels}}, coords=coords, dims=dims)
        posterior_group, labels_group = answer.posterior, answer.labels
    answer.attrs.update(_attributes(run))
    posterior_group.attrs.update(_attributes(run))
    # R-hat of a label means nothing: names of clusters switch from draw to draw.
    labels_group["labels"].attrs["description"] = (
        "cluster of each row; names of clusters carry no meaning across draws, do not summarize"
    )
    posterior_group["cluster_weight"].attrs["description"] = (
        "share of the rows in the largest, second largest, ... cluster"
    )
    return answer


def _components(labels: np.ndarray, data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the clusters of each draw, largest first: their shares of the rows, and the means of their rows. Beyond the clusters
    of a draw shares are 0 and means are NaN."""
    chains, draws, rows = labels.shape
    most = int(labels.max()) + 1
    weights = np.zeros((chains, draws, most))
    means = np.full((chains, draws, most, data.shape[1]), np.nan)
    present = ~np.isnan(data)
    filled = np.where(present, data, 0.0)
    for chain in range(chains):
        for draw in range(draws):
            own = labels[chain, draw]
            sizes = np.bincount(own, minlength=most)
            order = np.argsort(-sizes, kind="stable")
            weights[chain, draw] = sizes[order] / rows
            for j in range(data.shape[1]):
                counts = np.bincount(own, weights=present[:, j], minlength=most)
                sums = np.bincount(own, weights=filled[:, j], minlength=most)
                with np.errstate(invalid="ignore", divide="ignore"):
                    means[chain, draw, :, j] = (sums / counts)[order]
    return weights, means


def _attributes(run: Run) -> dict[str, str]:
    return {
        "inference_library": "coppice",
        "inference_library_version": run._head["version"],
        "created_at": run._head["created_at"],
        "model": run.model,
        "configuration": run._head["configuration"],
        "data_sha256": run._head["data_sha256"],
        **({"inexactness_note": run.inexactness_note} if run.inexactness_note else {}),
    }
