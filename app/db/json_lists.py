"""Lists in JSON columns, asked about in SQL."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, exists, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class _Items(FunctionElement[Any]):
    """The items of a list as rows of one column, `value`. The databases have this under different names."""

    name = "json_items"
    inherit_cache = True


@compiles(_Items, "sqlite")
def _compile_for_sqlite(items: _Items, compiler: Any, **options: Any) -> str:
    return f"json_each({compiler.process(items.clauses, **options)})"


@compiles(_Items, "postgresql")
def _compile_for_postgresql(items: _Items, compiler: Any, **options: Any) -> str:
    return f"json_array_elements_text({compiler.process(items.clauses, **options)})"


def has_any_item(column: Any, wanted: Collection[str]) -> ColumnElement[bool]:
    """Matches rows whose list holds one of these texts at least."""
    items = _Items(column).table_valued("value")
    return exists(select(1).select_from(items).where(items.c.value.in_(wanted)))
