"""Multi-label classifiers with scikit-learn's conventions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from coppice import _native
from coppice._estimator import Estimator
from coppice._labels import Targets, targets_of
from coppice._run import Run
from coppice._tables import frame_of


class LabelClassifier(ClassifierMixin, Estimator):
    """Base class of the estimators that learn labels."""

    classes_: np.ndarray
    _one_per_row = False  # whether rows have one class each, which a run file does not say

    def _adopt(self, run: Run) -> None:
        super()._adopt(run)
        if hasattr(self, "classes_"):
            return
        names = run.label_names
        numbered = names == [f"y{c}" for c in range(len(names))]
        self.classes_ = np.arange(len(names)) if numbered else np.array(names, dtype=object)

    def fit(self, X: Any, y: Any) -> LabelClassifier:
        """Learn which labels rows have.

        Ctrl-C stops the fit after its step and keeps what was learned; a second Ctrl-C raises KeyboardInterrupt.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Rows of numbers, counts or binary features. NaN is a missing cell.
        y : array-like, sparse matrix or DataFrame of shape (n_samples, n_labels), or array-like of shape (n_samples,)
            Labels: 1 if the row has the label, 0 if not, NaN if unknown. The columns of a frame name them. A vector
            holds the class of each row, NaN where it is unknown.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        self._tell(self._learn(X, targets_of(self, y)))
        return self

    def _learn(self, X: Any, targets: Targets) -> str:
        frame = frame_of(self, X, fitting=True, allow_nan=True)
        check_consistent_length(range(len(frame.row_ids())), range(targets.rows))
        end = self._fit_frame(frame, targets.frame(frame.row_ids()))
        self.classes_, self._one_per_row = targets.classes, targets.one_per_row
        return end

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> LabelClassifier:
        """Add more rows without a new fit, or fit if there was none.

        What the clusters have learned is the prior for the new rows; the linear classifiers are fitted again. Labels
        that are new (columns of a frame) are added.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            More rows.
        y : array-like, sparse matrix or DataFrame
            Their labels, as for `fit`; a matrix of NaN if none are known.
        classes : array-like or None
            In the first call with a vector `y`: all classes that may occur.

        Returns
        -------
        self : object
            The estimator, updated with the new rows.
        """
        if not hasattr(self, "run_"):
            self._tell(self._learn(X, targets_of(self, y, classes)))
            return self
        run = self.run_
        targets = self._as_learned(y)
        frame = frame_of(self, X, fitting=False, allow_nan=True, wanted=[column["name"] for column in run.inputs])
        check_consistent_length(range(len(frame.row_ids())), range(targets.rows))
        frame.set_row_ids(self._new_names(frame.row_ids()))
        end = self._take_in(frame, targets.frame(frame.row_ids()))
        if not targets.one_per_row:
            known = [str(name) for name in self.classes_]
            names = self.run_.label_names
            added = dict(zip(targets.names, targets.classes.tolist()))
            self.classes_ = (
                np.arange(len(names))
                if self.classes_.dtype.kind in "iu"
                else np.array(
                    [*self.classes_.tolist(), *(added[name] for name in names if name not in known)], dtype=object
                )
            )
        self._tell(end)
        return self

    def _as_learned(self, y: Any, name: str = "Y") -> Targets:
        """Labels of more rows: columns without names are the labels of the run, in its order."""
        targets = targets_of(self, y, self.classes_ if self._one_per_row else None)
        if targets.one_per_row != self._one_per_row:
            raise ValueError(
                f"{name} is a vector of classes where a matrix of labels was learned, or the other way round"
            )
        if targets.named:
            absent = [name for name in self.run_.label_names if name not in targets.names]
            added = [name for name in targets.names if name not in self.run_.label_names]
            if absent and added and not targets.one_per_row:
                warnings.warn(
                    f"labels {added} are new and {absent} are not there: they are unknown in these rows", stacklevel=3
                )
        else:
            names = self.run_.label_names
            if len(targets.names) != len(names):
                raise ValueError(
                    f"{name} has {len(targets.names)} columns where {len(names)} labels were learned; the columns of a "
                    "frame say which they are"
                )
            targets.names, targets.classes = names, self.classes_
        return targets

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def _answers(self, X: Any, given: Any = None) -> dict[str, np.ndarray]:
        check_is_fitted(self, "run_")
        frame = frame_of(self, X, fitting=False, allow_nan=True, wanted=[column["name"] for column in self.run_.inputs])
        return self.run_._native.predict_labels(
            frame, None if given is None else self._known(given, frame), self._threads()
        )

    def _known(self, given: Any, frame: _native.Frame) -> _native.Frame:
        """Labels that are known of rows, in the order of the run; labels not mentioned are unknown."""
        targets = self._as_learned(given, "given")
        check_consistent_length(range(len(frame.row_ids())), range(targets.rows))
        added = [name for name in targets.names if name not in self.run_.label_names]
        if added:
            raise ValueError(f"given has labels that were not learned: {added}")
        values = targets.values.toarray() if hasattr(targets.values, "toarray") else targets.values
        known = np.full((targets.rows, len(self.run_.label_names)), np.nan)
        known[:, [self.run_.label_names.index(name) for name in targets.names]] = values
        labels = _native.Frame(frame.row_ids())
        for c, name in enumerate(self.run_.label_names):
            labels.add_numbers(name, np.ascontiguousarray(known[:, c]))
        return labels

    def _of_classes(self, probabilities: np.ndarray) -> np.ndarray:
        """Probabilities of labels, as those of the one class of each row if rows have one."""
        return probabilities / probabilities.sum(axis=1, keepdims=True) if self._one_per_row else probabilities

    def predict(self, X: Any, given: Any = None) -> np.ndarray:
        """The labels of new rows.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            New rows.
        given : array-like, sparse matrix, DataFrame or None
            Labels of these rows that are already known, as `y` of `fit`: 0 and 1, and NaN for labels to predict. They
            help to identify the clusters of the rows and are returned unchanged.

        Returns
        -------
        labels : ndarray of shape (n_samples, n_labels) or (n_samples,)
            0 and 1: the labels whose score reaches the threshold; or the most probable class of each row.
        """
        answers = self._answers(X, given)
        if self._one_per_row:
            return self.classes_[np.argmax(self._of_classes(answers["probabilities"]), axis=1)]
        return answers["chosen"]

    def predict_proba(self, X: Any, given: Any = None) -> np.ndarray:
        """The probability of each label of new rows.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            New rows.
        given : array-like, sparse matrix, DataFrame or None
            Labels of these rows that are already known, as `y` of `fit`: 0 and 1, and NaN for labels to predict. They
            help to identify the clusters of the rows and are returned unchanged.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_labels)
            In the order of `classes_`. Probabilities of classes sum to one, those of labels do not.
        """
        return self._of_classes(self._answers(X, given)["probabilities"])

    def decision_function(self, X: Any) -> np.ndarray:
        """How far the score of each label is above its threshold.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels) or (n_samples,)
            Positive for the labels that `predict` chooses. For classes: log probabilities, for two their difference.
        """
        answers = self._answers(X)
        if self._one_per_row:
            logs = np.log(np.maximum(self._of_classes(answers["probabilities"]), np.finfo(np.float64).tiny))
            return logs[:, 1] - logs[:, 0] if len(self.classes_) == 2 else logs
        scores, chosen = answers["scores"], answers["chosen"] == 1
        thresholds = self.thresholds_
        if np.isnan(thresholds).any():  # the best labels of each row are chosen: halfway to the next one
            lowest = np.where(chosen, scores, np.inf).min(axis=1)
            highest = np.where(chosen, -np.inf, scores).max(axis=1)
            middle = (np.where(np.isinf(lowest), highest, lowest) + np.where(np.isinf(highest), lowest, highest)) / 2
            thresholds = middle[:, np.newaxis]
        # A score at its threshold is enough, and the best label of a row may be chosen below it.
        smallest = np.finfo(np.float64).tiny
        margin = scores - thresholds
        return np.where(chosen, np.maximum(margin, smallest), np.minimum(margin, -smallest))

    def predict_clusters(self, X: Any) -> np.ndarray:
        """The probability of each cluster for new rows, given their features.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_possible_clusters)
            Clusters are numbered as in `patterns_`. Rows sum to one.
        """
        return self._answers(X)["clusters"]

    def score_samples(self, X: Any) -> np.ndarray:
        """Log density of the features of new rows: low for a row unlike the training rows.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            Under the mixture, without the labels.
        """
        return self._answers(X)["log_density"]

    def label_scores(self, X: Any, y: Any) -> dict[str, float]:
        """The measures of `coppice score`; unknown labels are ignored.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Held-out rows.
        y : array-like, sparse matrix or DataFrame
            Their labels, as for `fit`.

        Returns
        -------
        scores : dict
            Hamming loss, F1, ranking loss, log loss and others.
        """
        answers = self._answers(X)
        targets = self._as_learned(y)
        check_consistent_length(answers["scores"], range(targets.rows))
        absent = [name for name in self.run_.label_names if name not in targets.names]
        if absent:
            raise ValueError(f"Y has no column for these labels: {absent}")
        truth = targets.values.toarray() if hasattr(targets.values, "toarray") else targets.values
        truth = truth[:, [targets.names.index(name) for name in self.run_.label_names]]
        return _native.label_scores(
            np.ascontiguousarray(truth), answers["scores"], answers["probabilities"], answers["chosen"]
        )

    @property
    def _own_rows(self) -> dict[str, np.ndarray]:
        run = self.run_
        return run._once("own_rows", lambda: run._native.own_rows(self._threads()))

    @property
    def membership_(self) -> np.ndarray:
        """The probability of each cluster for the training rows, given their features."""
        return self._own_rows["clusters"]

    @property
    def labels_(self) -> np.ndarray:
        """The most probable cluster of each row."""
        return np.argmax(self.membership_, axis=1)

    @property
    def n_clusters_(self) -> int:
        """Number of clusters that have rows."""
        return len(self.patterns_)

    @property
    def patterns_(self) -> list[dict[str, Any]]:
        """Clusters, largest first."""
        return self.run_.patterns()

    @property
    def thresholds_(self) -> np.ndarray:
        """The smallest score at which each label is predicted; NaN with `threshold="top-k"`."""
        run = self.run_
        return run._once("thresholds", run._native.thresholds)

    @property
    def held_out_proba_(self) -> np.ndarray:
        """Out-of-fold probability of each label of the training rows."""
        run = self.run_
        held_out = run._once("held_out", run._native.held_out)
        if held_out is None:
            raise AttributeError("the fit has no predictions of held-out rows: calibration=0, or rows were added later")
        return self._of_classes(held_out["probabilities"])

    def _row_table(self) -> dict[str, Any]:
        check_is_fitted(self, "run_")
        run = self.run_
        table: dict[str, Any] = {"row": run.row_ids}
        for c, name in enumerate(run.label_names):
            table[f"p_{name}"] = self._own_rows["probabilities"][:, c]
        table["cluster"] = self.labels_
        table["log_density"] = self._own_rows["log_density"]
        return table

    def to_pandas(self) -> Any:
        """Probabilities of the labels, cluster and log density of each training row.

        Returns
        -------
        table : pandas.DataFrame
            Rows are named as in the data.
        """
        import pandas

        return pandas.DataFrame(self._row_table()).set_index("row")

    def to_polars(self) -> Any:
        """Probabilities of the labels, cluster and log density of each training row.

        Returns
        -------
        table : polars.DataFrame
            The first column names the rows.
        """
        import polars

        return polars.DataFrame(self._row_table())
