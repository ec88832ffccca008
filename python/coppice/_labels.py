"""The labels that a classifier learns: several per row, or one class per row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from coppice import _native
from coppice._tables import add_sparse_column


@dataclass
class Targets:
    """Labels as columns of 0, 1 and NaN.

    Attributes
    ----------
    classes : ndarray
        Names of the labels, as the user has them.
    names : list of str
        The same for the run file.
    values : ndarray of float or CSC matrix
        Rows x labels; NaN is an unknown label.
    one_per_row : bool
        Whether each row has exactly one of them, its class.
    named : bool
        Whether the user has named them: columns of a frame, or classes.
    """

    classes: np.ndarray
    names: list[str]
    values: Any
    one_per_row: bool
    named: bool

    @property
    def rows(self) -> int:
        return self.values.shape[0]

    def frame(self, row_ids: list[str]) -> _native.Frame:
        frame = _native.Frame(row_ids)
        for column, name in enumerate(self.names):
            if scipy.sparse.issparse(self.values):
                add_sparse_column(frame, name, self.values, column)
            else:
                frame.add_numbers(name, self.values[:, column])
        return frame


def targets_of(estimator: Any, y: Any, classes: Any = None) -> Targets:
    """The labels in `y`: a matrix or frame of several, or a vector of classes (then `classes` may name more)."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    if scipy.sparse.issparse(y):
        return _several(scipy.sparse.csc_array(y).astype(np.float64), None)
    if _is_frame(y):
        names = list(
            getattr(y, "columns", None) if hasattr(y, "columns") and not hasattr(y, "column_names") else y.column_names
        )
        return _several(_frame_values(y, names), names)
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] != 1:
        try:
            numbers = values.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"Unknown label type: Y has {values.dtype} cells, and labels are 0, 1 or NaN.") from None
        return _several(numbers, None)
    return _one_per_row(column_or_1d(values, warn=True), classes)


def _is_frame(y: Any) -> bool:
    return hasattr(y, "column_names") or (hasattr(y, "columns") and hasattr(y, "shape") and len(y.shape) == 2)


def _frame_values(y: Any, names: list[Any]) -> np.ndarray:
    package = type(y).__module__.split(".")[0]
    if package == "pandas":
        return y.to_numpy(dtype=np.float64, na_value=np.nan)
    if package == "polars":
        import polars

        return np.asarray(y.select(polars.all().cast(polars.Float64)).to_numpy(), dtype=np.float64).copy()
    return np.column_stack([np.asarray(y.column(name).to_numpy(), dtype=np.float64) for name in names])


def _several(values: Any, names: list[Any] | None) -> Targets:
    cells = values.data if scipy.sparse.issparse(values) else values
    if np.isinf(cells).any():
        raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
    if not np.isin(cells[~np.isnan(cells)], (0.0, 1.0)).all():
        raise ValueError(
            "Unknown label type: a matrix of labels holds 0, 1 or NaN (unknown); give each of several "
            "values a column of its own"
        )
    if values.shape[1] == 0:
        raise ValueError("Y has no columns: there is no label to learn")
    classes = np.arange(values.shape[1]) if names is None else np.array(names, dtype=object)
    texts = [f"y{c}" for c in range(values.shape[1])] if names is None else [str(name) for name in names]
    return Targets(classes, texts, values, False, names is not None)


def _one_per_row(y: np.ndarray, classes: Any) -> Targets:
    known = np.ones(len(y), dtype=bool)
    if y.dtype.kind == "f":
        if np.isinf(y).any():
            raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
        known = ~np.isnan(y)
    check_classification_targets(y[known])
    found = np.unique(y[known])
    if classes is None:
        classes = found
    elif not np.isin(found, classes).all():
        raise ValueError(f"y has classes that are not among the classes {list(classes)}: {list(found)}")
    classes = np.asarray(classes)
    values = (y[:, np.newaxis] == classes[np.newaxis, :]).astype(np.float64)
    values[~known] = np.nan
    return Targets(classes, [str(name) for name in classes.tolist()], values, True, True)
