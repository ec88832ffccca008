"""What to know about a table before a fit."""

from __future__ import annotations

import json
from typing import Any

from coppice import _native
from coppice._estimator import _codebook_text
from coppice._tables import plain_frame


def codebook(X: Any, codebook: Any = None) -> dict[str, dict[str, Any]]:
    """How the columns of a table are interpreted and why.

    Parameters
    ----------
    X : array-like or DataFrame
        The table.
    codebook : dict or path, optional
        What is known about some of the columns, as for the estimators.

    Returns
    -------
    columns : dict of dict
        kind and, where they apply, levels, family, transform, hurdle, resolution, unit and missing_values of each
        column that would be modeled, with the reason. Edited, it is the `codebook` of an estimator. Columns that would
        be left out are not in it; `check` names them.
    """
    found = json.loads(_native.codebook(plain_frame(X), _codebook_text(codebook)))
    return {
        column["name"]: {key: value for key, value in column.items() if key != "name" and value not in (None, [])}
        for column in found["columns"]
    }


def check(X: Any, model: str = "nrmm", codebook: Any = None) -> dict[str, Any]:
    """Everything worth knowing about a table before a fit.

    Parameters
    ----------
    X : array-like or DataFrame
        The table.
    model : str, default="nrmm"
        The model whose families and memory are estimated.
    codebook : dict or path, optional
        What is known about some of the columns, as for the estimators.

    Returns
    -------
    answer : dict
        rows, columns, families, bytes (the memory that a fit takes, estimated), notes, findings (severity, topic,
        columns, what, remedy) and fine: whether nothing needs attention.
    """
    return json.loads(_native.check(plain_frame(X), _codebook_text(codebook), model))
