"""The order of lists: what has no value comes last, and a column that always has one is read by its index."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import func
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from app.db.sorting import build_order


class _Base(DeclarativeBase):
    pass


class _Row(_Base):
    __tablename__ = "test_sorting_rows"

    id: Mapped[int] = mapped_column(primary_key=True)
    size: Mapped[int]
    ended: Mapped[int | None]


_COLUMNS = {"size": _Row.size, "ended": _Row.ended, "sum": func.sum(_Row.size)}


def _order(sort: str) -> list[str]:
    dialect: Any = postgresql.dialect  # untyped
    return [str(each.compile(dialect=dialect())) for each in build_order(sort, _COLUMNS)]


def test_no_sort_is_no_order() -> None:
    assert _order("") == []


def test_a_column_without_gaps_is_ordered_as_its_index_is() -> None:
    assert _order("size") == ["test_sorting_rows.size ASC"]
    assert _order("-size") == ["test_sorting_rows.size DESC"]


@pytest.mark.parametrize("name", ["ended", "sum"])
def test_what_may_have_no_value_comes_last_either_way(name: str) -> None:
    assert all(order.endswith("NULLS LAST") for sort in (name, f"-{name}") for order in _order(sort))


def test_a_column_that_is_not_listed_by_is_an_error() -> None:
    with pytest.raises(KeyError):
        _order("password")
