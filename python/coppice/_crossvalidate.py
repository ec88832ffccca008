"""Cross-validation: how well models predict held-out cells, or labels of held-out rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coppice import _native
from coppice._estimator import Estimator, _as_toml, _as_typed, _codebook_text
from coppice._labels import targets_of
from coppice._tables import frame_of


@dataclass(frozen=True)
class Crossvalidation:
    """Scores of models, fold by fold. All models have the same folds.

    Attributes
    ----------
    models : list of str
        Names of the models. For cells the first is "one cluster": what columns predict without any structure.
    figures : dict of str to ndarray of shape (n_models, n_folds)
        Every figure by its name; NaN where it does not apply to a model. Compare models by the first.
    held_out : ndarray of shape (n_folds,)
        How many cells or rows each fold held out.
    unit : str
        What was held out: "cells" or "rows".
    complete : bool
        Whether every requested fold is complete.
    """

    models: list[str]
    figures: dict[str, np.ndarray]
    held_out: np.ndarray
    unit: str
    complete: bool

    def mean(self, figure: str | None = None) -> dict[str, float]:
        """Mean of a figure over the folds, by model; None: of the first."""
        return {model: float(np.mean(values)) for model, values in self._finite(figure).items() if len(values)}

    def standard_error(self, figure: str | None = None) -> dict[str, float]:
        """Standard error of that mean, by model; NaN of one fold."""
        return {
            model: float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
            for model, values in self._finite(figure).items()
            if len(values)
        }

    def to_frame(self) -> Any:
        """A pandas frame with a line for each model and fold."""
        import pandas as pd

        folds = len(self.held_out)
        return pd.DataFrame(
            {
                "model": np.repeat(self.models, folds),
                "fold": np.tile(np.arange(folds) + 1, len(self.models)),
                self.unit: np.tile(self.held_out, len(self.models)),
                **{name: values.ravel() for name, values in self.figures.items()},
            }
        )

    def _finite(self, figure: str | None) -> dict[str, np.ndarray]:
        values = self.figures[next(iter(self.figures)) if figure is None else figure]
        return {model: row[np.isfinite(row)] for model, row in zip(self.models, values)}

    def __repr__(self) -> str:
        first = next(iter(self.figures))
        errors = self.standard_error(first)
        means = ", ".join(f"{model} {mean:.4g} +- {errors[model]:.2g}" for model, mean in self.mean(first).items())
        return f"<coppice.Crossvalidation over {len(self.held_out)} folds of {self.unit}: {first}: {means}>"


def crossvalidate(
    X: Any,
    y: Any = None,
    *,
    models: Sequence[str | Estimator] | Mapping[str, str | Estimator],
    folds: int = 10,
    most_folds: int | None = None,
    chains: int | None = None,
    warmup: int | None = None,
    draws: int | None = None,
    thin: int | None = None,
    family: str = "auto",
    hyper: str = "learned",
    family_settings: dict[str, Any] | None = None,
    codebook: dict[str, dict[str, Any]] | str | os.PathLike[str] | None = None,
    random_state: int = 1,
    n_jobs: int | None = None,
    progress: Callable[[int, int, str, float], Any] | None = None,
) -> Crossvalidation:
    """Compare models by how well they predict held-out parts of the data, fold by fold.

    Ctrl-C keeps the folds that are complete; a second Ctrl-C raises KeyboardInterrupt.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n_samples, n_features)
        The table. Clustering models predict its held-out cells.
    y : array-like of shape (n_samples, n_labels), optional
        Labels, for classifiers: they predict the labels of held-out rows.
    models : sequence or dict
        Models by name as on the command line ("nrmm", "bhc-randomized", "nrmm:alpha=5"; with labels also the baselines
        "ovr", "chain" and "rates"), or estimators, whose model settings are used; a dict names them.
    folds : int
        Number of folds.
    most_folds : int or None
        Use only the first folds, this many; None: all.
    chains, warmup, draws, thin : int or None
        Length of the runs of models that draw; None: 2 chains of 250 draws after 250 sweeps.
    family, hyper, family_settings, codebook
        As those of the estimators, for all models.
    random_state : int
        Seed of the folds and the draws.
    n_jobs : int or None
        Threads; None or -1: all cores.
    progress : callable or None
        Is called with (fold, folds, model, first figure) for every model and fold.

    Returns
    -------
    folds : Crossvalidation
        Figures by model and fold.
    """
    from coppice._estimators import BY_MODEL

    named = models.items() if isinstance(models, Mapping) else ((None, model) for model in models)
    probe = BY_MODEL["nrmm" if y is None else "bnmc"](n_jobs=n_jobs)
    frame = frame_of(probe, X, fitting=True, allow_nan=True)
    labels = None if y is None else targets_of(probe, y).frame(frame.row_ids())
    length = {"chains": chains, "warmup": warmup, "draws": draws, "thin": thin, "seed": random_state}
    answer = _native.crossvalidate(
        frame=frame,
        labels=labels,
        models=[_contender(name, model) for name, model in named],
        run_length={name: _as_typed(value) for name, value in length.items() if value is not None},
        family=family,
        hyper=hyper,
        family_settings=[(str(key), _as_toml(value)) for key, value in (family_settings or {}).items()],
        codebook=_codebook_text(codebook),
        folds=int(folds),
        most_folds=int(most_folds or 0),
        threads=probe._threads(),
        progress=progress,
    )
    return Crossvalidation(
        models=answer["models"],
        figures=answer["figures"],
        held_out=answer["held_out"],
        unit=answer["unit"],
        complete=len(answer["held_out"]) == answer["folds_wanted"],
    )


def _contender(name: str | None, model: str | Estimator) -> tuple[str, str, dict[str, str] | None]:
    """Name, model, and the settings of an estimator; a text has its settings in it."""
    if isinstance(model, str):
        return (name or model, model, None)
    settings = model._given()
    return (
        name or ":".join([model._model, *(f"{key}={value}" for key, value in settings.items())]),
        model._model,
        settings,
    )
