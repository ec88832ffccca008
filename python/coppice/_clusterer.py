"""Estimators that find clusters: scikit-learn's conventions over draws of partitions."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from coppice import _native
from coppice._dask import PartedTable, is_in_parts
from coppice._estimator import Estimator
from coppice._run import Run
from coppice._tables import filled, frame_of, set_names, table_in_type_of, weights_of
from coppice._tree import Tree

_ROWS_OF_FILE = 65_536  # of labels


def _has_texts(column: dict[str, Any]) -> bool:
    try:
        [float(level) for level in column["levels"]]
    except ValueError:
        return True
    return False


class Clusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    """Base class of the estimators that find clusters."""

    _only_family: str

    family: str
    family_settings: dict[str, Any] | None
    select: str
    labels_: np.ndarray
    n_clusters_: int

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
        self._tell(self._fit_rows(X))
        return self

    def _fit_rows(self, X: Any, sample_weight: Any = None) -> str:
        if is_in_parts(X):
            raise ValueError("a table in parts can be fitted by NRMMixture(sampler='data-parallel')")
        frame = frame_of(self, X, fitting=True, allow_nan=self._allows_nan())
        weights = None if sample_weight is None else weights_of(sample_weight, len(frame.row_ids()))
        ending = self._fit_frame(frame, weights=weights)
        self._input_package = type(X).__module__.split(".")[0]
        return ending

    def _fit_parts(self, X: Any, client: Any) -> str:
        if getattr(self, "sampler", None) not in ("auto", "data-parallel"):
            raise ValueError("a table in parts can be fitted by NRMMixture(sampler='data-parallel')")
        table = PartedTable(X, client)
        set_names(self, table.names)
        frame = table.frame(_native.planning_rows(table.all_rows))
        table.keep(int(self.answer_rows))
        return self._fit_frame(frame, parts=table)

    def write_labels(
        self, folder: str | os.PathLike[str], draw: int = -1, chain: int = 0, X: Any = None, client: Any = None
    ) -> list[str]:
        """Write the clusters of all rows in one draw, 65,536 rows to a file.

        Parameters
        ----------
        folder : path
            Where labels-00000.npy and so on are written; it is made if it is not there.
        draw, chain : int
            Which draw, counted from 0; -1: the last one.
        X : Dask DataFrame, Dask array, list of paths or None
            Of a table in parts: the same rows as in `fit`, in the same parts; None: the files of the fit.
        client : distributed.Client or None
            Of a table in parts: the Dask cluster; None: the current client.

        Returns
        -------
        paths : list of str
            The files, in the order of the rows.
        """
        check_is_fitted(self, "run_")
        run = self.run_
        draw = run.draws + draw if draw < 0 else draw
        if run._native.is_in_parts():
            question = run._native.label_question(chain, draw)
            table = self._parts_again(X, client)
            table.describe(run._native.part_description(), run._native.part_source())
            parts = table.labels(question)
        else:
            if not (0 <= chain < run.chains and 0 <= draw < run.draws):
                raise ValueError(f"there is no draw {draw} of chain {chain}")
            parts = [run._native.labels(run.levels).reshape(run.chains, run.draws, -1)[chain, draw]]
        os.makedirs(folder, exist_ok=True)
        paths: list[str] = []
        waiting = np.zeros(0, dtype=np.int32)

        def write(count: int) -> np.ndarray:
            paths.append(os.path.join(folder, f"labels-{len(paths):05}.npy"))
            np.save(paths[-1], waiting[:count])
            return waiting[count:]

        for labels in parts:
            waiting = np.concatenate([waiting, labels.astype(np.int32)])
            while len(waiting) >= _ROWS_OF_FILE:
                waiting = write(_ROWS_OF_FILE)
        if len(waiting):
            write(len(waiting))
        return paths

    def _adopt(self, run: Run) -> None:
        self.run_ = run
        self.labels_ = run.consensus(1, self.select)["labels"]
        self.n_clusters_ = int(run.consensus(1, self.select)["clusters"])

    def _allows_nan(self) -> bool:
        name = self._only_family or self.family
        return all(entry["missing_allowed"] for entry in _native.families() if entry["name"] == name)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allows_nan()
        return tags

    def _predict(self, X: Any, level: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        check_is_fitted(self, "run_")
        frame = frame_of(
            self, X, fitting=False, allow_nan=self._allows_nan(), wanted=[column["name"] for column in self.run_.inputs]
        )
        return self.run_._native.predict(frame, level, self.select, self._threads())

    def impute(self, X: Any) -> Any:
        """The rows with their missing cells filled in: means (medians on the log scale) and most probable levels.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            New rows with missing cells, as for `imputed_cells`.

        Returns
        -------
        filled : object of the type of X
            A copy of X without missing cells in the columns of the fit.
        """
        units = {column["name"]: column["unit"] for column in self.run_.inputs}
        return filled(X, self.imputed_cells(X), units)

    def imputed_cells(self, X: Any) -> list[dict[str, Any]]:
        """Imputed values with uncertainty for the missing cells of new rows, given their observed cells.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            New rows with missing cells. Columns must be independent within a cluster (family auto of `BHC`, `BHCC` and
            `CrossCat`).

        Returns
        -------
        cells : list of dict
            row, column, mean, sd, low and high (90 %), or mode and probability, as `Run.imputed` gives them; value is
            what `impute` fills in.
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
            Clusters as in `labels_`; -1 for a row that more probably belongs to none of them.
        """
        return self._predict(X, level)[0]

    def transform(self, X: Any) -> np.ndarray:
        """Cluster probabilities of new rows as features.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_clusters + 1)
            What `predict_proba` gives: the last column is a new cluster.
        """
        return self._predict(X, 1)[1]

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_ + 1

    def sample(self, n_samples: int = 1, random_state: int = 1) -> Any:
        """New rows drawn from the posterior predictive.

        Parameters
        ----------
        n_samples : int, default=1
            Rows to draw.
        random_state : int, default=1
            Seed.

        Returns
        -------
        rows : DataFrame or ndarray of shape (n_samples, n_features)
            A frame of pandas or polars if the estimator was fitted to one, else an array. After `coppice.open`: a
            frame of pandas if a column has texts or dates.
        """
        check_is_fitted(self, "run_")
        columns = self.run_.sample(n_samples, random_state)
        units = {column["name"]: column["unit"] for column in self.run_.columns}
        return table_in_type_of(self._input_package_name(), columns, units)

    def _input_package_name(self) -> str:
        default = "pandas" if any(column["unit"] or _has_texts(column) for column in self.run_.columns) else "numpy"
        return getattr(self, "_input_package", default)

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
            The last column is a new cluster. Rows sum to one.
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
        """Mean probability that a row is in one cluster with the other rows of its cluster."""
        return self.run_.consensus(1, self.select)["confidence"]

    @property
    def membership_(self) -> np.ndarray:
        """Probability that each row belongs to each cluster."""
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
        """The fraction of draws in which two columns are in one view; only of models that have views."""
        return self.run_.column_coclustering(self.select)

    def to_arviz(self, log_likelihood: bool | None = None) -> Any:
        """The run for ArviZ: label-invariant quantities as posterior, labels in a group of their own.

        Parameters
        ----------
        log_likelihood : bool, optional
            Whether to add the pointwise log likelihood, with which `arviz.loo` works. By default unless the run has very
            many draws and rows, or is greedy.

        Returns
        -------
        data : arviz.InferenceData or xarray.DataTree
            The former in ArviZ 0.x, the latter in ArviZ 1.x.
        """
        from coppice._arviz import to_arviz

        check_is_fitted(self, "run_")
        return to_arviz(self.run_, log_likelihood)

    def _row_table(self) -> dict[str, Any]:
        check_is_fitted(self, "run_")
        run = self.run_
        table: dict[str, Any] = {"row": run.row_ids}
        for level in range(1, run.levels + 1):
            suffix = "" if run.levels == 1 else f"_{level}"
            estimate = run.consensus(level, self.select)
            table[f"cluster{suffix}"] = estimate["labels"]
            table[f"name{suffix}"] = np.array(run.cluster_names(level, self.select))[estimate["labels"]]
            table[f"confidence{suffix}"] = estimate["confidence"]
        return table

    def to_pandas(self) -> Any:
        """Cluster, its name and the confidence of each row at each level.

        Returns
        -------
        table : pandas.DataFrame
            Rows are named as in the data.
        """
        import pandas

        return pandas.DataFrame(self._row_table()).set_index("row")

    def to_polars(self) -> Any:
        """Cluster, its name and the confidence of each row at each level.

        Returns
        -------
        table : polars.DataFrame
            The first column names the rows.
        """
        import polars

        return polars.DataFrame(self._row_table())


class WeightedClusterer(Clusterer):
    """Base class of the estimators whose rows may have weights."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> WeightedClusterer:
        """Draw from the posterior of the clusters of X.

        Ctrl-C stops the chains after the sweep and keeps what was drawn; a second Ctrl-C raises KeyboardInterrupt.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to cluster. Frames of pandas, polars and Arrow may have texts and categories. NaN is a missing cell
            where the family allows it.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,) or None
            Whole numbers from 1 on: a row of weight w counts as w equal rows that share a cluster. None: every row
            counts once.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        self._tell(self._fit_rows(X, sample_weight))
        return self


class StreamingClusterer(WeightedClusterer):
    """Base class of the estimators that take in more rows, and tables whose rows are elsewhere."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, client: Any = None) -> StreamingClusterer:
        """Draw from the posterior of the clusters of X.

        Ctrl-C stops the chains after the sweep and keeps what was drawn; a second Ctrl-C raises KeyboardInterrupt.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to cluster. Frames of pandas, polars and Arrow may have texts and categories. NaN is a missing cell
            where the family allows it. With ``sampler="data-parallel"`` also a table in parts: a Dask DataFrame or
            array, or a list of files (Parquet, Arrow, NPY, CSV), whose rows stay on the workers of a Dask cluster;
            `labels_` are then those of a random sample of the rows, and `write_labels` writes those of all.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,) or None
            Whole numbers from 1 on: a row of weight w counts as w equal rows that share a cluster. None: every row
            counts once.
        client : distributed.Client or None
            Of a table in parts: the Dask cluster; None: the current client.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        if not is_in_parts(X):
            self._tell(self._fit_rows(X, sample_weight))
            return self
        if sample_weight is not None:
            raise ValueError("rows of a table in parts have no weights")
        self._tell(self._fit_parts(X, client))
        self._input_package = type(X).__module__.split(".")[0]
        return self

    def partial_fit(self, X: Any, y: Any = None) -> StreamingClusterer:
        """Add more rows without a new fit, or fit if there was none.

        The new rows come one by one into the last state of every chain, with local moves around each of them. 100
        warm-up sweeps over all rows follow, and as many draws as the run had: draws of the posterior given all rows, as
        `coppice update` makes them. Predictions and answers are about all rows from then on.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            More rows, with the columns of the first ones.
        y : Ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        self : object
            The estimator, updated with the new rows.
        """
        if not hasattr(self, "run_"):
            self._tell(self._fit_rows(X))
            return self
        wanted = [column["name"] for column in self.run_.inputs]
        frame = frame_of(self, X, fitting=False, allow_nan=self._allows_nan(), wanted=wanted)
        frame.set_row_ids(self._new_names(frame.row_ids()))
        self._tell(self._take_in(frame))
        return self
