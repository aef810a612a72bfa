"""In which order lists are read: by a column's name, with `-` before it for the greatest first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, SQLColumnExpression


def build_order(sort: str, columns: Mapping[str, SQLColumnExpression[Any]]) -> tuple[ColumnElement[Any], ...]:
    """Builds the order that `sort` names; none where it is empty. What has no value comes last either way.

    Raises KeyError for a column that is not listed by.
    """
    if not sort:
        return ()
    column = columns[sort.removeprefix("-")]
    order = column.desc() if sort.startswith("-") else column.asc()
    # A column that always has a value is read by its index: PostgreSQL has none for NULLS LAST from the greatest on.
    return (order.nulls_last() if getattr(column, "nullable", True) else order,)
