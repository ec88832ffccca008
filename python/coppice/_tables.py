"""From what users have (NumPy, pandas, polars, Arrow) to the columns of the engine, without conversion to text."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

from coppice import _native


def frame_of(
    estimator: Any, X: Any, *, fitting: bool, allow_nan: bool, wanted: list[str] | None = None
) -> _native.Frame:
    """The columns of X (those that are `wanted`, in that order), after scikit-learn's checks."""
    if scipy.sparse.issparse(X) and get_tags(estimator).input_tags.sparse:
        return _sparse_frame(estimator, X, fitting=fitting, allow_nan=allow_nan, wanted=wanted)
    columns = None if isinstance(X, np.ndarray) else _typed_columns(X)
    if columns is None:
        ids = _row_ids(X)
        X = validate_data(
            estimator,
            X,
            reset=fitting,
            dtype=np.float64,
            ensure_min_samples=2 if fitting else 1,
            ensure_all_finite="allow-nan" if allow_nan else True,
        )
        names = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(X.shape[1])])
        columns = [(str(name), X[:, j], None) for j, name in enumerate(names)]
    else:
        if type(X).__module__.split(".")[0] in ("pandas", "polars"):
            validate_data(estimator, X, reset=fitting, skip_check_array=True)
        else:
            _check_arrow_names(estimator, [name for name, _, _ in columns], fitting)
        ids = _row_ids(X)
        _check_cells(estimator, columns, fitting, allow_nan)
    if ids is None:
        ids = [str(row) for row in range(len(columns[0][1]))]
    frame = _native.Frame(ids)
    by_name = {name: (values, levels) for name, values, levels in columns}
    for name in by_name if wanted is None else wanted:
        values, levels = by_name[name]
        if levels is None:
            frame.add_numbers(name, values)
        else:
            frame.add_texts(name, values, levels)
    return frame


def weights_of(sample_weight: Any, rows: int) -> np.ndarray:
    """Weights of rows as numbers; the engine says which numbers are weights."""
    weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight")
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array.")
    check_consistent_length(range(rows), weights)
    return weights


def plain_frame(X: Any, wanted: list[str] | None = None) -> _native.Frame:
    """The columns of X (those that are `wanted`, in that order) without an estimator; NaN is a missing cell."""
    columns = None if isinstance(X, np.ndarray) else _typed_columns(X)
    if columns is None:
        names = [str(name) for name in getattr(X, "columns", [])]
        cells = np.asarray(X, dtype=np.float64)
        if cells.ndim != 2:
            raise ValueError(f"Expected 2D array, got {cells.ndim}D array instead")
        names = names or wanted or [f"x{j}" for j in range(cells.shape[1])]
        columns = [(name, cells[:, j], None) for j, name in enumerate(names[: cells.shape[1]])]
    by_name = {name: (values, levels) for name, values, levels in columns}
    for name in wanted or []:
        if name not in by_name:
            raise ValueError(f"column {name!r} of the fit is missing")
    frame = _native.Frame(_row_ids(X) or [str(row) for row in range(len(columns[0][1]))])
    for name in by_name if wanted is None else wanted:
        values, levels = by_name[name]
        if levels is None:
            frame.add_numbers(name, values)
        else:
            frame.add_texts(name, values, levels)
    return frame


def filled(X: Any, cells: list[dict[str, Any]], units: dict[str, str | None]) -> Any:
    """A copy of X, of the same type, with these cells filled in. `units` are those of the columns, in the order of an
    array."""
    by_column: dict[str, list[tuple[int, Any]]] = {}
    for cell in cells:
        by_column.setdefault(cell["column"], []).append((cell["row"], cell["value"]))
    package = type(X).__module__.split(".")[0]
    if package == "pandas" and hasattr(X, "columns"):
        answer = X.copy()
        for j, name in enumerate(answer.columns):
            for row, value in by_column.get(str(name), []):
                answer.iloc[row, j] = _in_type_of(value, X.iloc[:, j], units[str(name)])
        return answer
    if package == "polars" and hasattr(X, "columns"):
        import polars as pl

        return X.with_columns(
            pl.Series(
                name,
                _filled_list(X.get_column(name).to_list(), changes, units[name]),
                dtype=X.schema[name],
                strict=False,
            )
            for name, changes in by_column.items()
        )
    if hasattr(X, "column_names") and hasattr(X, "set_column"):
        import pyarrow as pa

        for name, changes in by_column.items():
            place = X.column_names.index(name)
            values = _filled_list(X.column(name).to_pylist(), changes, units[name])
            X = X.set_column(place, name, pa.array(values))
        return X
    answer = np.array(X, dtype=np.float64)
    for name, changes in by_column.items():
        for row, value in changes:
            answer[row, list(units).index(name)] = _number(value, units[name])
    return answer


def _filled_list(values: list[Any], changes: list[tuple[int, Any]], unit: str | None) -> list[Any]:
    known = [value for value in values if value is not None]
    for row, value in changes:
        values[row] = _like(value, known, unit)
    return values


def _in_type_of(value: Any, series: Any, unit: str | None) -> Any:
    """A value as the cells of a pandas column are: a level as the cell that it stands for."""
    return _like(value, list(series.cat.categories) if hasattr(series, "cat") else list(series.dropna()), unit)


def _like(value: Any, known: list[Any], unit: str | None) -> Any:
    if known and isinstance(known[0], (dt.date, dt.time)):
        return _moment_like(value, known)
    if known and isinstance(known[0], dt.timedelta):
        is_whole = all(cell.microseconds == 0 for cell in known)
        return type(known[0])(seconds=round(value) if is_whole else round(value, 3))
    if unit is not None and not any(isinstance(cell, str) for cell in known):
        value = _number(value, unit)
    if not isinstance(value, str):
        return round(value) if known and all(isinstance(cell, (int, np.integer)) for cell in known) else value
    for cell in known:
        if str(cell) == value:
            return cell
    for cell in known:
        if not isinstance(cell, str) and float(cell) == float(value):
            return cell
    return value


def _moments(cells: list[Any], unit: str | None) -> list[Any]:
    if unit is None:
        return cells
    kind = dt.time if unit == "seconds since midnight" else dt.datetime
    return [None if cell is None else kind.fromisoformat(cell) for cell in cells]


def _moment_like(text: str, known: list[Any]) -> Any:
    """A date or time that is written in UTC as the known ones are: of their type, in their zone, and to the second if
    they are."""
    moment = type(known[0]).fromisoformat(text)
    if hasattr(moment, "microsecond") and all(cell.microsecond == 0 for cell in known):
        moment = moment.replace(microsecond=0)
    if getattr(known[0], "tzinfo", None) is None:
        return moment
    return moment.replace(tzinfo=dt.timezone.utc).astimezone(known[0].tzinfo)


def _number(value: Any, unit: str | None) -> float:
    """A value of a column of numbers: dates are numbers of their unit, or written as yyyymmdd."""
    if unit is None:
        return float(value)
    if unit.endswith("yyyymmdd"):
        return float(value.replace("-", ""))
    if unit == "seconds since midnight":
        return (dt.datetime.fromisoformat("2000-01-01T" + value) - dt.datetime(2000, 1, 1)).total_seconds()
    step, origin = unit.split(",")[0].split(" since ")
    seconds = (dt.datetime.fromisoformat(value) - dt.datetime.fromisoformat(origin)).total_seconds()
    return seconds / 86400.0 if step == "days" else seconds


def table_in_type_of(package: str, columns: dict[str, list[Any]], units: dict[str, str | None]) -> Any:
    """Columns as a frame of a package: pandas, polars, or else an array of numbers. Those with a unit of dates or times
    have texts, of which a frame has moments."""
    if package != "numpy":
        columns = {name: _moments(cells, units[name]) for name, cells in columns.items()}
    if package == "polars":
        import polars as pl

        return pl.DataFrame(columns)
    if package == "pandas":
        import pandas as pd

        return pd.DataFrame(columns)
    return np.array(
        [
            [np.nan if cell is None else _number(cell, units[name]) for cell in values]
            for name, values in columns.items()
        ]
    ).T


def columns_of(X: Any) -> list[tuple[str, np.ndarray, list[str] | None]]:
    """Name, numbers or codes, and texts of each column of an array or a frame."""
    columns = None if isinstance(X, np.ndarray) else _typed_columns(X)
    if columns is not None:
        return columns
    names = [f"x{j}" for j in range(X.shape[1])] if isinstance(X, np.ndarray) else [str(name) for name in X.columns]
    cells = np.asarray(X)
    return [(name, cells[:, j].astype(np.float64), None) for j, name in enumerate(names)]


def _sparse_frame(estimator: Any, X: Any, *, fitting: bool, allow_nan: bool, wanted: list[str] | None) -> _native.Frame:
    """The columns of a sparse matrix; reads only stored entries."""
    X = validate_data(
        estimator,
        X,
        reset=fitting,
        dtype=np.float64,
        accept_sparse="csc",
        ensure_min_samples=2 if fitting else 1,
        ensure_all_finite="allow-nan" if allow_nan else True,
    )
    names = [str(name) for name in getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(X.shape[1])])]
    place = {name: j for j, name in enumerate(names)}
    frame = _native.Frame([str(row) for row in range(X.shape[0])])
    for name in names if wanted is None else wanted:
        add_sparse_column(frame, name, X, place[name])
    return frame


def add_sparse_column(frame: _native.Frame, name: str, matrix: Any, column: int) -> None:
    """Appends a column of a matrix in SciPy's CSC form."""
    cells = slice(matrix.indptr[column], matrix.indptr[column + 1])
    frame.add_sparse(
        name, np.asarray(matrix.indices[cells], dtype=np.int64), np.asarray(matrix.data[cells], dtype=np.float64)
    )


def _check_cells(
    estimator: Any, columns: list[tuple[str, np.ndarray, list[str] | None]], fitting: bool, allow_nan: bool
) -> None:
    rows = len(columns[0][1]) if columns else 0
    least = 2 if fitting else 1
    if rows < least:
        raise ValueError(
            f"Found array with {rows} sample(s) (shape=({rows}, {len(columns)})) while a minimum of {least} is "
            f"required by {type(estimator).__name__}."
        )
    for name, values, _ in columns:
        if np.isinf(values).any():
            raise ValueError(f"Input X contains infinity or a value too large for dtype('float64') (column {name!r}).")
        if not allow_nan and np.isnan(values).any():
            raise ValueError(
                f"Input X contains NaN (column {name!r}).\n{type(estimator).__name__} does not accept missing "
                "values encoded as NaN natively."
            )


def set_names(estimator: Any, names: list[str]) -> None:
    """What a fit remembers of its columns; x0, x1, ... are those of an array."""
    estimator.n_features_in_ = len(names)
    if names != [f"x{j}" for j in range(len(names))]:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def _check_arrow_names(estimator: Any, names: list[str], fitting: bool) -> None:
    if fitting:
        set_names(estimator, names)
        return
    known = list(getattr(estimator, "feature_names_in_", names))
    if names != known:
        raise ValueError(
            f"The feature names should match those that were passed during fit.\nPassed: {names}\nFitted: {known}"
        )


def _row_ids(X: Any) -> list[str] | None:
    """The index of a pandas frame, if it is unique."""
    index = getattr(X, "index", None)
    if index is None or callable(index) or not getattr(index, "is_unique", False):
        return None
    return [str(name) for name in index]


def _typed_columns(X: Any) -> list[tuple[str, np.ndarray, list[str] | None]] | None:
    """Columns of a frame that has texts, categories or an Arrow layout; None if a plain array serves as well."""
    package = type(X).__module__.split(".")[0]
    if package == "pandas" and hasattr(X, "columns"):
        if all(_is_plain_pandas(dtype) for dtype in X.dtypes):
            return None
        return [(str(name), *_pandas_column(X.iloc[:, j], name)) for j, name in enumerate(X.columns)]
    return _native.arrow_columns(X) if hasattr(X, "__arrow_c_stream__") else None


def _is_plain_pandas(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "biuf"


def _no_kind(name: Any, dtype: Any) -> ValueError:
    return ValueError(
        f"column {name!r} has the type {dtype}, which is neither a number nor a text, date or time; convert it"
    )


def _coded(values: list[Any]) -> tuple[np.ndarray, list[str]]:
    """Codes by first appearance, and the texts."""
    place: dict[str, int] = {}
    codes = [np.nan if value is None else place.setdefault(str(value), len(place)) for value in values]
    return np.array(codes, dtype=np.float64), list(place)


def _pandas_column(series: Any, name: Any) -> tuple[np.ndarray, list[str] | None]:
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        codes = series.cat.codes.to_numpy(dtype=np.float64)
        return np.where(codes < 0, np.nan, codes), [str(level) for level in series.cat.categories]
    is_number = pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_complex_dtype(series.dtype)
    if pd.api.types.is_bool_dtype(series.dtype) or is_number:
        return series.to_numpy(dtype=np.float64, na_value=np.nan), None
    kind = pd.api.types.infer_dtype(series, skipna=True)
    if kind in ("integer", "floating", "mixed-integer-float", "boolean", "decimal", "empty"):
        return pd.to_numeric(series.astype(object).where(series.notna(), np.nan)).to_numpy(dtype=np.float64), None
    if kind in ("timedelta64", "timedelta"):
        return pd.to_timedelta(series).dt.total_seconds().to_numpy(dtype=np.float64), None
    present = series.notna()
    if kind in ("datetime64", "datetime", "date", "time"):
        texts = iter(_moment_texts(list(series[present])))
        return _coded([next(texts) if known else None for known in present])
    if kind not in ("string", "categorical", "mixed", "mixed-integer"):
        raise _no_kind(name, series.dtype)
    return _coded([value if known else None for value, known in zip(series, present)])


def _in_utc(moment: Any) -> Any:
    if not (isinstance(moment, dt.datetime) and moment.tzinfo):
        return moment
    return moment.astimezone(dt.timezone.utc).replace(tzinfo=None)


def _moment_texts(moments: list[Any]) -> list[str]:
    """As a file has them: in UTC, and without a time of day if none has one."""
    texts = [_in_utc(moment).isoformat() for moment in moments]
    if all(text.endswith("T00:00:00") for text in texts):
        return [text[:10] for text in texts]
    return texts
