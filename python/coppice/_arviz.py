"""A run for ArviZ: InferenceData in its 0.x, a DataTree in its 1.x."""

from __future__ import annotations

from typing import Any

import numpy as np

from coppice._run import Run


def to_arviz(run: Run) -> Any:
    """Label-invariant traces and labels as posterior, the log joint as sample_stats.lp, the table as observed_data."""
    import arviz

    traces = run.traces()
    posterior: dict[str, np.ndarray] = {name: values for name, values in traces.items() if name != "log_joint"}
    labels = np.stack([run.labels(level) for level in range(1, run.levels + 1)], axis=2)
    posterior["n_clusters"] = labels.max(axis=3) + 1
    posterior["labels"] = labels
    data = run.data(original=False)
    groups = {
        "posterior": posterior,
        "sample_stats": {"lp": traces["log_joint"]},
        "observed_data": {column["name"]: data[:, j] for j, column in enumerate(run.columns)},
    }
    coords = {"level": np.arange(1, run.levels + 1), "obs": run.row_ids}
    dims = {"n_clusters": ["level"], "labels": ["level", "obs"], **{column["name"]: ["obs"] for column in run.columns}}
    if int(arviz.__version__.split(".")[0]) >= 1:
        answer = arviz.from_dict(groups, coords=coords, dims=dims)
        posterior_group = answer["posterior"]
    else:
        answer = arviz.from_dict(**groups, coords=coords, dims=dims)
        posterior_group = answer.posterior
    answer.attrs.update(_attributes(run))
    posterior_group.attrs.update(_attributes(run))
    # R-hat of a label means nothing: names of clusters switch from draw to draw.
    posterior_group["labels"].attrs["description"] = (
        "cluster of each row; names of clusters carry no meaning across draws, do not summarize"
    )
    return answer


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
