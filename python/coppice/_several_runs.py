"""Several runs of the same data: do they agree, and all their chains in one run."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from coppice import _native
from coppice._estimator import open_run
from coppice._run import Run


def _as_run(source: Any) -> Run:
    """A run, the run of a fitted estimator, or the run of a file."""
    if isinstance(source, Run):
        return source
    if isinstance(source, (str, os.PathLike)):
        return Run(source)
    run = getattr(source, "run_", None)
    if isinstance(run, Run):
        return run
    raise TypeError(f"a run, a fitted estimator or the path of a run file is needed, not {type(source).__name__}")


def compare(a: Any, b: Any) -> dict[str, Any]:
    """Do two runs of the same rows by the same model agree?

    Parameters
    ----------
    a, b : Run, fitted estimator or path
        The runs.

    Returns
    -------
    comparison : dict
        `same` is the answer and `verdict` the answer in a sentence. `traces` has, for each trace that both runs keep, the means
        `first` and `second` and `rhat` over the chains of both (NaN for traces that need not agree). `levels` has, for each level,
        `ari`, `vi` and `clusters` of the two consensus partitions and the mean `coclustering_difference` (None with more than
        5000 rows).
    """
    return _native.compare(_as_run(a)._native, _as_run(b)._native)


def merge(runs: Iterable[Any], path: str | os.PathLike[str]) -> Any:
    """Puts the chains of runs that differ only in their seed into one run file.

    Parameters
    ----------
    runs : sequence of Run, fitted estimator or path
        At least two runs. They are cut to the length of the shortest.
    path : path
        Run file to write; an existing file is not replaced.

    Returns
    -------
    estimator : object
        The fitted estimator of all chains, as `open(path)` gives it.
    """
    _native.merge([_as_run(run).path for run in runs], os.fspath(path))
    return open_run(path)
