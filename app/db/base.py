"""What every table is built on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import (
    JSON,
    BigInteger,
    ColumnElement,
    DateTime,
    Dialect,
    ForeignKeyConstraint,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    and_,
    false,
    or_,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

if TYPE_CHECKING:
    from app.types import SessionKey

# How far the clocks of replicas may be apart.
CLOCK_TOLERANCE = timedelta(minutes=1)
# For how long a process that says nothing is believed to be alive; it says so twice a second. What it had, another
# one takes; should it live all the same, as one whose database was away, nothing of its work is kept.
LEASE = timedelta(seconds=6)


class UtcDateTime(TypeDecorator[datetime]):
    """Aware datetimes in UTC on every database; SQLite itself keeps no time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value.astimezone(UTC) if value else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def now() -> datetime:
    """Returns the present, aware, in UTC."""
    return datetime.now(UTC)


def is_due(moment: Any, longest: timedelta) -> Any:
    """Whether a moment, or that in a column, has come, or was set by a clock that was set back since: nobody sets one
    further ahead than `longest`.
    """
    return (moment <= now()) | (moment > now() + longest + CLOCK_TOLERANCE)


def match_keys(columns: Sequence[Any], keys: Iterable[Sequence[Any]]) -> ColumnElement[bool]:
    """Matches rows by values of several columns; no key matches nothing.

    For an IN of tuples SQLite reads the whole table: 13 ms for 16 of 100,000 rows. So keys that begin alike are an IN
    of their last column, which an index serves.

    Args:
        columns: Of an index, in its order.
        keys: Values of these columns.
    """
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for *before, last in keys:
        groups.setdefault(tuple(before), []).append(last)
    return or_(
        false(),
        *(
            and_(*(column == value for column, value in zip(columns, before, strict=False)), columns[-1].in_(lasts))
            for before, lasts in groups.items()
        ),
    )


def match_session(table: Any, key: SessionKey) -> ColumnElement[bool]:
    """Matches the rows of a session, in any table with columns for tenant and session."""
    return and_(table.tenant_id == key.tenant, table.session_id == key.session_id)


def match_equal(table: Any, other: Any, *columns: str) -> ColumnElement[bool]:
    """Matches rows of two tables of the same tenant that have the same values in these columns, as in a join."""
    return and_(*(getattr(table, name) == getattr(other, name) for name in ("tenant_id", *columns)))


class Base(DeclarativeBase):
    """Naming conventions make constraints addressable by later migrations on every database."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: Text,
        int: BigInteger,
        bytes: LargeBinary,
        datetime: UtcDateTime,
        list[str]: JSON,
        dict[str, Any]: JSON,
    }


def get_table(entity: type[Base]) -> Table:
    """Returns the table of a class. Rows inserted into it, not into the class, do without the ORM's bookkeeping."""
    table = entity.__table__
    assert isinstance(table, Table)
    return table


def tenant_key() -> Mapped[str]:
    """Declares the first column of every primary key."""
    return mapped_column(String(64), primary_key=True)


def delete_with(table: str, **columns: str) -> ForeignKeyConstraint:
    """Constrains rows to those of another table, with which they are deleted: the one of the same tenant.

    Args:
        table: The other table.
        columns: Columns by which a row names the other one, with what they are called there.
    """
    theirs = [f"{table}.{column}" for column in ("tenant_id", *columns.values())]
    return ForeignKeyConstraint(["tenant_id", *columns], theirs, ondelete="CASCADE")
