"""In which order lists are read: by a column's name, with `-` before it for the greatest first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, SQLColumnExpression


def sorted_by(sort: str, columns: Mapping[str, SQLColumnExpression[Any]]) -> tuple[ColumnElement[Any], ...]:
    """The order that `sort` names; none where it is empty. What has no value comes last either way. Raises KeyError
    for a column that is not listed by.
    """
    if not sort:
        return ()
    column = columns[sort.removeprefix("-")]
    return ((column.desc() if sort.startswith("-") else column.asc()).nulls_last(),)
