"""What all estimators share: a fit that is a run, its file, its report."""

from __future__ import annotations

import inspect
import itertools
import json
import logging
import math
import numbers
import os
import pathlib
import shutil
import tempfile
import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coppice import _native
from coppice._dask import PartedTable
from coppice._progress import progress_of
from coppice._run import Run

_log = logging.getLogger("coppice")
_log.addHandler(logging.NullHandler())

_LARGEST_SEED = 2**31 - 1
_CALLER = 3  # of fit and resume, seen from _tell


def _as_typed(value: Any) -> str:
    """A value as a user would type it after a flag of the command line."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Number):
        return repr(int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value)
    return ",".join(_as_typed(part) for part in value)


def _as_toml(value: Any) -> str:
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, numbers.Number):
        return repr(value)
    return "[" + ", ".join(_as_toml(part) for part in value) + "]"


def _codebook_text(codebook: Any) -> str:
    if codebook is None:
        return ""
    if not isinstance(codebook, dict):
        return pathlib.Path(codebook).read_text(encoding="utf-8")
    lines: list[str] = []
    for name, entry in codebook.items():
        lines += ["[[column]]", f"name = {_as_toml(name)}"]
        lines += [
            f"{_as_toml(key) if not key.isidentifier() else key} = {_as_toml(value)}" for key, value in entry.items()
        ]
    return "\n".join(lines) + "\n"


class Estimator(BaseEstimator):
    """Base class of the estimators. Models differ in their parameters and in what they answer."""

    _model: str
    _parameters: tuple[str, ...]

    codebook: dict[str, dict[str, Any]] | str | os.PathLike[str] | None
    standardize: bool
    pca: int
    output: str | os.PathLike[str] | None
    overwrite: bool
    time_limit: float | None
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    verbose: int
    run_: Run
    n_features_in_: int
    feature_names_in_: np.ndarray

    def _fit_frame(
        self,
        frame: _native.Frame,
        labels: _native.Frame | None = None,
        weights: np.ndarray | None = None,
        parts: PartedTable | None = None,
    ) -> str:
        """Fits columns and adopts the run; a classifier learns `labels`. Returns how the fit ended.

        Columns are in memory, or those of rows by which the fit of a table in parts is planned.
        """
        seed = self.random_state
        if not isinstance(seed, numbers.Integral):
            seed = check_random_state(seed).randint(_LARGEST_SEED)
        length = {
            name: _as_typed(getattr(self, name))
            for name in ("chains", "until", "quick", "warmup", "draws", "thin")
            if getattr(self, name, None) is not None
        }
        settings = getattr(self, "family_settings", None) or {}
        return self._write(
            lambda path: self._watch(
                _native.fit,
                model=self._model,
                frame=frame,
                labels=labels,
                weights=weights,
                parameters=self._given() if parts is None else {**self._given(), "sampler": "data-parallel"},
                run_length={**length, "seed": str(int(seed))},
                family=str(getattr(self, "family", "auto")),
                hyper=str(getattr(self, "hyper", "learned")),
                family_settings=[(str(key), _as_toml(value)) for key, value in settings.items()],
                codebook=_codebook_text(self.codebook),
                standardize=bool(self.standardize),
                pca=int(self.pca),
                path=path,
                overwrite=bool(self.overwrite),
                parts=parts,
            ),
            None if self.output is None else os.fspath(self.output),
        )

    def _write(self, fit: Any, output: str | None) -> str:
        """Lets `fit` write a run, in a temporary folder if no file is given, and adopts it."""
        folder = tempfile.mkdtemp(prefix="coppice-") if output is None else None
        path = output if folder is None else os.path.join(folder, "run.coppice")
        try:
            end = fit(path)
            self._adopt(self._opened(path, folder, end))
        except BaseException:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
            raise
        return end

    def _take_in(self, frame: _native.Frame, labels: _native.Frame | None = None) -> str:
        """Adds the rows of the frame to the run and adopts the longer run. The old one stays if this fails."""
        run = self.run_
        output = None if self.output is None else f"{os.fspath(self.output)}.part"
        try:
            end = self._write(
                lambda path: self._watch(
                    _native.update,
                    path=run.path,
                    frame=frame,
                    labels=labels,
                    output=path,
                    overwrite=True,
                ),
                output,
            )
        except BaseException:
            if output is not None:  # the run is as it was
                for suffix in ("", "-wal", "-shm", "-journal"):
                    pathlib.Path(output + suffix).unlink(missing_ok=True)
            raise
        if output is not None:
            del run, self.run_  # the file must not be open
            _native.replace_run(output, os.fspath(self.output))
            self._adopt(Run(os.fspath(self.output)))
        return end

    def _new_names(self, names: list[str]) -> list[str]:
        """Names of new rows: their own if these are new, else consecutive numbers."""
        known = set(self.run_.row_ids)
        if known.isdisjoint(names):
            return names
        fresh = (name for name in map(str, itertools.count(len(known))) if name not in known)
        return list(itertools.islice(fresh, len(names)))

    def resume(self, draws: int | None = None, X: Any = None, client: Any = None) -> Any:
        """Continue a fit that was stopped, or draw more.

        Parameters
        ----------
        draws : int or None
            Number of draws per chain at the end, at least as many as there are; None: as many as requested. Models
            that are fitted once, without draws, take none.
        X : Dask DataFrame, Dask array, list of paths or None
            Of a table in parts: the same rows as in `fit`, in the same parts; None: the files of the fit.
        client : distributed.Client or None
            Of a table in parts: the Dask cluster; None: the current client.

        Returns
        -------
        self : object
            The estimator with the longer run, identical to that of an uninterrupted fit.
        """
        check_is_fitted(self, "run_")
        run = self.run_
        end = self._watch(
            _native.resume,
            path=run.path,
            draws=None if draws is None else int(draws),
            parts=self._parts_again(X, client) if run._native.is_in_parts() else None,
        )
        run._open(run.path)
        self._adopt(run)
        self._tell(end)
        return self

    def _parts_again(self, X: Any, client: Any) -> PartedTable:
        """The table in parts of the run."""
        if X is None:
            X = [piece["file"] for piece in json.loads(self.run_._native.part_source())]
            if None in X:
                raise ValueError("the rows of this run came from a Dask collection: give it as X")
        return PartedTable(X, client)

    def _given(self) -> dict[str, str]:
        """Settings of the model that are not the defaults; the model rejects settings that do not apply."""
        defaults = inspect.signature(type(self)).parameters
        given = {}
        for name in self._parameters:
            key = name.replace("-", "_")
            value, default = getattr(self, key), defaults[key].default
            if value is not None and (default is None or _as_typed(value) != _as_typed(default)):
                given[name] = _as_typed(value)
        return given

    def _watch(self, function: Any, **arguments: Any) -> str:
        progress = progress_of(self.verbose, self._model)
        try:
            return function(
                threads=self._threads(),
                time_limit=float(self.time_limit or 0.0),
                progress=None if progress is None else progress.update,
                **arguments,
            )
        finally:
            if progress is not None:
                progress.close()

    @staticmethod
    def _opened(path: str, folder: str | None, end: str) -> Run:
        try:
            return Run(path) if folder is None else Run._in_folder(folder)
        except ValueError as problem:
            if end == "interrupted":
                raise KeyboardInterrupt("stopped before every chain had a draw") from problem
            if end in ("out_of_time", "budget_used"):
                raise ValueError(
                    "the time limit was reached before every chain had a draw; raise time_limit"
                ) from problem
            raise

    def _tell(self, end: str) -> None:
        run = self.run_
        for note in run.notes:
            if "left out" in note or note.startswith("warning: "):
                warnings.warn(note.removeprefix("warning: "), UserWarning, stacklevel=_CALLER)
            else:
                _log.info(note)
        if end in ("interrupted", "out_of_time"):
            reason = "stopped" if end == "interrupted" else "time limit reached"
            where = (
                f"after {run.draws} of {run._head['asked_draws']} draws of each chain"
                if hasattr(self, "chains")
                else "before the fit was finished"
            )
            warnings.warn(f"{reason} {where}; resume() continues", ConvergenceWarning, stacklevel=_CALLER)
        if run.inexactness_note and hasattr(
            self, "chains"
        ):  # a greedy fit has no chains, and never claims to be a posterior
            warnings.warn(run.inexactness_note, UserWarning, stacklevel=_CALLER)
        if not run.trusted:
            warnings.warn(run.verdict, ConvergenceWarning, stacklevel=_CALLER)

    def _adopt(self, run: Run) -> None:
        self.run_ = run

    def _threads(self) -> int:
        if self.n_jobs is None or self.n_jobs == -1:
            return 0
        if self.n_jobs < 0:
            return max(1, (os.cpu_count() or 1) + 1 + int(self.n_jobs))
        if self.n_jobs == 0:
            raise ValueError("n_jobs == 0 has no meaning; -1 uses all cores")
        return int(self.n_jobs)

    @property
    def diagnostics_(self) -> dict[str, Any]:
        """Verdict, R-hat, effective sample sizes and acceptance rates."""
        return self.run_.diagnostics()

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write one HTML file to look at and to share; it needs no network.

        Parameters
        ----------
        path : path
            File to write; an existing one is replaced.
        """
        check_is_fitted(self, "run_")
        pathlib.Path(path).write_text(self.run_._native.report(getattr(self, "select", "vi")), encoding="utf-8")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the run file, which `coppice.open` and the command line read.

        Parameters
        ----------
        path : path
            File to write; an existing one is not replaced.
        """
        check_is_fitted(self, "run_")
        self.run_.save(path)


def _as_python(value: str, default: Any) -> Any:
    """A setting of a run's configuration, in the type of the estimator's default."""
    try:
        parsed = json.loads(value)
    except json.JSONDecodeError:
        parsed = float(value)
    if isinstance(default, bool):
        return bool(parsed)
    if isinstance(parsed, float) and math.isfinite(parsed) and parsed.is_integer() and not isinstance(default, float):
        return int(parsed)
    return tuple(parsed) if isinstance(default, tuple) else parsed


def open_run(path: str | os.PathLike[str]) -> Any:
    """A fitted estimator from a run file of the command line or of `save`.

    Parameters
    ----------
    path : path
        Run file.

    Returns
    -------
    estimator : object
        The estimator of the run's model, with its settings and its draws.
    """
    from coppice._estimators import BY_MODEL

    run = Run(path)
    estimator = BY_MODEL[run.model]()
    known = estimator.get_params()
    settings = run.configuration
    given: dict[str, Any] = {}
    for name, value in settings["parameters"].items():
        key = name.replace("-", "_")
        given[key] = _as_python(value, known[key])
    length = ("until",) if settings["until"] == "trusted" else ("warmup", "draws", "thin")
    given.update({name: settings[name] for name in ("chains", *length, "family", "standardize", "pca")})
    given["hyper"] = settings.get("hyper", "fixed")
    if settings["set"]:
        given["family_settings"] = {name: _as_python(value, None) for name, value in settings["set"].items()}
    estimator.set_params(**{key: value for key, value in given.items() if key in known}, random_state=settings["seed"])
    names = [column["name"] for column in run.inputs]
    estimator.n_features_in_ = len(names)
    if names != [f"x{j}" for j in range(len(names))]:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    estimator._adopt(run)
    return estimator
