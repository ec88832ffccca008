"""What all estimators share: scikit-learn's conventions over a run."""
from __future__ import annotations

import inspect
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
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coppice import _native
from coppice._progress import progress_of
from coppice._run import Run
from coppice._tables import frame_of
from coppice._tree import Tree

_log = logging.getLogger("coppice")
_log.addHandler(logging.NullHandler())

_LARGEST_SEED = 2**31 - 1


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
        lines += [f"{_as_toml(key) if not key.isidentifier() else key} = {_as_toml(value)}" for key, value in entry.items()]
    return "\n".join(lines) + "\n"


class Clusterer(ClusterMixin, BaseEstimator):
    """Base class of the estimators. Models differ in their parameters alone."""

    _model: str
    _parameters: tuple[str, ...]
    _only_family: str

    family: str
    family_settings: dict[str, Any] | None
    codebook: dict[str, dict[str, Any]] | str | os.PathLike[str] | None
    standardize: bool
    pca: int
    select: str
    output: str | os.PathLike[str] | None
    overwrite: bool
    time_limit: float | None
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    verbose: int
    run_: Run
    labels_: np.ndarray
    n_clusters_: int
    n_features_in_: int
    feature_names_in_: np.ndarray

    def fit(self, X: Any, y: Any = None) -> Clusterer:
        """Draw from the posterior of the clusters of X.

        Ctrl-C stops the chains after the sweep and keeps what was drawn; a second Ctrl-C raises KeyboardInterrupt.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to cluster. Frames of pandas, polars and Arrow may have texts and categories. NaN is a missing cell
            where the family allows it.
        y : Ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        frame = frame_of(self, X, fitting=True, allow_nan=self._allows_nan())
        seed = self.random_state
        if not isinstance(seed, numbers.Integral):
            seed = check_random_state(seed).randint(_LARGEST_SEED)
        parameters = self._given()
        length = {name: _as_typed(getattr(self, name)) for name in ("chains", "warmup", "draws", "thin")
                  if hasattr(self, name)}
        folder = None
        if self.output is None:
            folder = tempfile.mkdtemp(prefix="coppice-")
            path = os.path.join(folder, "run.coppice")
        else:
            path = os.fspath(self.output)
        try:
            end = self._watch(
                _native.fit, model=self._model, frame=frame, parameters=parameters,
                run_length={**length, "seed": str(int(seed))}, family=str(self.family),
                family_settings=[(str(key), _as_toml(value)) for key, value in (self.family_settings or {}).items()],
                codebook=_codebook_text(self.codebook), standardize=bool(self.standardize), pca=int(self.pca),
                path=path, overwrite=bool(self.overwrite))
            self._adopt(self._opened(path, folder, end))
        except BaseException:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
            raise
        self._tell(end)
        return self

    def resume(self, draws: int | None = None) -> Clusterer:
        """Go on with a fit that was stopped, or draw more.

        Parameters
        ----------
        draws : int or None
            Draws each chain shall have in the end; None: as many as were asked for.

        Returns
        -------
        self : object
            The estimator with the longer run, which is what an uninterrupted fit would have drawn.
        """
        check_is_fitted(self, "run_")
        run = self.run_
        end = self._watch(_native.resume, path=run.path, draws=0 if draws is None else int(draws))
        run._open(run.path)
        self._adopt(run)
        self._tell(end)
        return self

    def _given(self) -> dict[str, str]:
        """Settings of the model that are not the defaults: the model refuses those that have no meaning beside others."""
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
            return function(threads=self._threads(), time_limit=float(self.time_limit or 0.0),
                            progress=None if progress is None else progress.update, **arguments)
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
            if end == "out_of_time":
                raise ValueError("the time limit was reached before every chain had a draw; raise time_limit") from problem
            raise

    def _tell(self, end: str) -> None:
        run = self.run_
        for note in run.notes:
            if "left out" in note:
                warnings.warn(note, UserWarning, stacklevel=3)
            else:
                _log.info(note)
        if end != "finished":
            reason = "stopped" if end == "interrupted" else "time limit reached"
            warnings.warn(f"{reason} after {run.draws} of {run._head['asked_draws']} draws of each chain; resume() goes on",
                          ConvergenceWarning, stacklevel=3)
        if run.caveat and hasattr(self, "chains"):  # a greedy fit has no chains, and never claims to be a posterior
            warnings.warn(run.caveat, UserWarning, stacklevel=3)
        if not run.trusted:
            warnings.warn(run.verdict, ConvergenceWarning, stacklevel=3)

    def _adopt(self, run: Run) -> None:
        self.run_ = run
        self.labels_ = run.consensus(1, self.select)["labels"]
        self.n_clusters_ = int(run.consensus(1, self.select)["clusters"])

    def _threads(self) -> int:
        if self.n_jobs is None or self.n_jobs == -1:
            return 0
        if self.n_jobs < 0:
            return max(1, (os.cpu_count() or 1) + 1 + int(self.n_jobs))
        if self.n_jobs == 0:
            raise ValueError("n_jobs == 0 has no meaning; -1 uses all cores")
        return int(self.n_jobs)

    def _allows_nan(self) -> bool:
        name = self._only_family or self.family
        return all(entry["missing_allowed"] for entry in _native.families() if entry["name"] == name)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allows_nan()
        return tags

    def _predict(self, X: Any, level: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        check_is_fitted(self, "run_")
        frame = frame_of(self, X, fitting=False, allow_nan=self._allows_nan(),
                         wanted=[column["name"] for column in self.run_.inputs])
        return self.run_._native.predict(frame, level, self.select, self._threads())

    def impute(self, X: Any) -> list[dict[str, Any]]:
        """What stands in the missing cells of new rows, given the cells that each row has.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            New rows with gaps. Columns must be independent within a cluster (family auto of `BHC`, `BHCC` and `CrossCat`).

        Returns
        -------
        cells : list of dict
            row, column, mean, sd, low and high (90 %), or mode and probability, as `Run.imputed` gives them.
        """
        check_is_fitted(self, "run_")
        frame = frame_of(self, X, fitting=False, allow_nan=True, wanted=[column["name"] for column in self.run_.inputs])
        return self.run_._native.imputed_new(frame, self._threads())

    def predict(self, X: Any, level: int = 1) -> np.ndarray:
        """The cluster of new rows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            New rows.
        level : int, default=1
            Level of the hierarchy, 1 is the coarsest. Clusters of a level are children of those above.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Clusters as in `labels_`; -1 for a row that likelier belongs to none of them.
        """
        return self._predict(X, level)[0]

    def predict_proba(self, X: Any, level: int = 1) -> np.ndarray:
        """The probability of each cluster for new rows, averaged over the draws.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            New rows.
        level : int, default=1
            Level of the hierarchy, 1 is the coarsest.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_clusters + 1)
            The last column is a cluster that is new. Rows sum to one.
        """
        return self._predict(X, level)[1]

    def score_samples(self, X: Any) -> np.ndarray:
        """Log predictive density of new rows, in the units the model works in.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            Log of the average density over the draws.
        """
        check_is_fitted(self, "run_")
        return self._predict(X, self.run_.levels)[2]

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log predictive density of new rows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            New rows.
        y : Ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        score : float
            The mean of `score_samples`.
        """
        return float(np.mean(self.score_samples(X)))

    @property
    def level_labels_(self) -> np.ndarray:
        """Clusters at each level, coarsest first."""
        run = self.run_
        return np.stack([run.consensus(level, self.select)["labels"] for level in range(1, run.levels + 1)])

    @property
    def confidence_(self) -> np.ndarray:
        """How often a row is together with the rest of its cluster."""
        return self.run_.consensus(1, self.select)["confidence"]

    @property
    def membership_(self) -> np.ndarray:
        """How much each row belongs to each cluster."""
        return self.run_.membership(1, self.select)

    @property
    def tree_(self) -> Tree:
        """The hierarchy."""
        run = self.run_
        return run._once(("tree", self.select), lambda: Tree(run, self.select))

    @property
    def linkage_(self) -> np.ndarray:
        """Average-linkage tree of the draws, in SciPy's form."""
        return self.run_.linkage()

    @property
    def views_(self) -> list[dict[str, Any]]:
        """Views of the columns, largest first, with the clusters of the rows in each; only of models that have views."""
        return self.run_.views(self.select)

    @property
    def column_coclustering_(self) -> np.ndarray:
        """The share of draws in which two columns are in one view; only of models that have views."""
        return self.run_.column_coclustering(self.select)

    @property
    def diagnostics_(self) -> dict[str, Any]:
        """Verdict, R-hat, effective numbers of draws and acceptance rates."""
        return self.run_.diagnostics()

    def to_arviz(self) -> Any:
        """The run for ArviZ.

        Returns
        -------
        data : arviz.InferenceData or xarray.DataTree
            The former in ArviZ 0.x, the latter in ArviZ 1.x.
        """
        from coppice._arviz import to_arviz

        check_is_fitted(self, "run_")
        return to_arviz(self.run_)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write one HTML file to look at and to pass on; it needs no network.

        Parameters
        ----------
        path : path
            File to write; an existing one is replaced.
        """
        check_is_fitted(self, "run_")
        pathlib.Path(path).write_text(self.run_._native.report(self.select), encoding="utf-8")

    def _row_table(self) -> dict[str, Any]:
        check_is_fitted(self, "run_")
        run = self.run_
        table: dict[str, Any] = {"row": run.row_ids}
        for level in range(1, run.levels + 1):
            suffix = "" if run.levels == 1 else f"_{level}"
            estimate = run.consensus(level, self.select)
            table[f"cluster{suffix}"] = estimate["labels"]
            table[f"confidence{suffix}"] = estimate["confidence"]
        return table

    def to_pandas(self) -> Any:
        """Cluster and confidence of each row at each level.

        Returns
        -------
        table : pandas.DataFrame
            Rows are named as in the data.
        """
        import pandas

        return pandas.DataFrame(self._row_table()).set_index("row")

    def to_polars(self) -> Any:
        """Cluster and confidence of each row at each level.

        Returns
        -------
        table : polars.DataFrame
            The first column names the rows.
        """
        import polars

        return polars.DataFrame(self._row_table())

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


def open_run(path: str | os.PathLike[str]) -> Clusterer:
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
    given.update({name: settings[name] for name in ("chains", "warmup", "draws", "thin", "family", "standardize", "pca")})
    if settings["set"]:
        given["family_settings"] = {name: _as_python(value, None) for name, value in settings["set"].items()}
    estimator.set_params(**{key: value for key, value in given.items() if key in known}, random_state=settings["seed"])
    names = [column["name"] for column in run.inputs]
    estimator.n_features_in_ = len(names)
    if names != [f"x{j}" for j in range(len(names))]:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    estimator._adopt(run)
    return estimator
