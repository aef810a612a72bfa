"""The company's own database, as far as the YAML describes it: rows of one member at a time, values masked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlglot import exp

from agents.business.engines.base import Engine, StatementFailed
from agents.business.engines.dialects import find_dialect
from agents.business.engines.registry import find_file, open_engine
from agents.business.guard import SqlGuard, UnsafeQuery
from agents.business.ownership import HYPHEN, SIGNS, build_own_value_counts, quote_name
from agents.business.schema import Schema, load_schema
from agents.business.types import Rows, Value
from agents.errors import BusinessUnavailable
from knowledge.work_place import release_place

MAX_TEXT_CHARS = 500
# Of what a generated statement calls a column.
MAX_NAME_CHARS = 16
# Statements whose guarded form is kept: it names nobody, and writing it takes milliseconds.
CHECKED = 512


@dataclass(frozen=True, slots=True)
class BusinessOptions:
    """`url`: of SQLAlchemy; `schema`: the YAML that describes the database; `timeout`: seconds; `max_rows`: of
    an answer.
    """

    url: str
    schema: Path
    timeout: float = 3.0
    max_rows: int = 50


class BusinessDatabase:
    """Every statement passes the guard; there is no other way in. Serves many requests at once; close it at the end."""

    def __init__(self, options: BusinessOptions) -> None:
        """Raises InvalidConfiguration."""
        self.schema: Schema = load_schema(options.schema)
        self._engine: Engine = open_engine(options.url, self.schema.list_readable(), options.timeout)
        self._file = find_file(options.url)
        guard = SqlGuard(self.schema, self._engine.dialect, options.max_rows + 1)
        self._max_rows = options.max_rows
        self._checked = lru_cache(CHECKED)(guard.check)
        self._searches: dict[object, str] = {}

    @property
    def dialect(self) -> str:
        """The dialect, as sqlglot calls it."""
        return self._engine.dialect

    @property
    def missing_file(self) -> Path | None:
        """The file of the address, where it does not exist; None otherwise, and for a server."""
        return self._file if self._file is not None and not self._file.exists() else None

    async def check_description(self) -> None:
        """Checks that every table and column of the description can be read, without reading a row.

        Raises BusinessUnavailable with a message for people that names what cannot be read.
        """
        if self.missing_file is not None:
            raise BusinessUnavailable(f"业务库的文件 {self.missing_file} 不存在")
        dialect = find_dialect(self.dialect)
        for table in self.schema.tables.values():
            columns = [exp.Column(this=quote_name(name), table=quote_name(table.name)) for name in table.columns]
            tree = exp.select(*columns).from_(exp.Table(this=quote_name(table.name))).where("1 = 0")
            try:
                async with release_place():
                    await self._engine.fetch(dialect.write(tree), (), 1)
            except (StatementFailed, BusinessUnavailable) as error:
                raise BusinessUnavailable(f"读不到表 {table.name}：{error}") from error

    async def query(self, sql: str, caller: str, written_in: str = "", *, facts_only: bool = False) -> Rows:
        """Returns what a statement finds among the caller's own rows.

        Args:
            sql: the statement.
            caller: the proved member.
            written_in: its dialect, if not the database's own.
            facts_only: leave out what the statement itself says; for statements that nobody of the company wrote.

        Raises:
            UnsafeQuery: nothing was executed.
            StatementFailed: the database refused the statement.
            BusinessUnavailable: the database is out of reach.
        """
        guarded = self._checked(sql, written_in)
        # A model could select a sentence of its own, which would be told as if it stood in the database.
        if facts_only and all(field.stated for field in guarded.fields):
            raise UnsafeQuery("no column is selected: what the statement itself says is no fact")
        identity = self._convert_caller(caller)
        bound = (identity,) if guarded.of_caller else ()
        found: list[tuple[Any, ...]] = []
        if identity is not None:
            async with release_place():
                found = await self._engine.fetch(guarded.sql, bound, self._max_rows + 1)
        values = tuple(tuple(_convert_value(value) for value in row) for row in found[: self._max_rows])
        rows = Rows(guarded.fields, values, guarded.tables, more=len(found) > self._max_rows)
        return keep_facts(rows) if facts_only else rows

    async def has_value(
        self, caller: str, value: str, places: Mapping[str, tuple[str, ...]], *, at_end: bool = False
    ) -> bool:
        """Whether a value stands in the caller's own rows. places: table -> columns.

        Raises BusinessUnavailable.
        """
        identity = self._convert_caller(caller)
        if identity is None or not places:
            return False
        key = (tuple(places.items()), at_end)
        if key not in self._searches:
            dialect = find_dialect(self.dialect)
            self._searches[key] = dialect.write(build_own_value_counts(self.schema, places, dialect, at_end=at_end))
        bare = "".join(sign for sign in value if sign not in (SIGNS if at_end else HYPHEN))
        wanted = f"%{bare}" if at_end else bare.upper()
        try:
            async with release_place():
                counts = await self._engine.fetch(self._searches[key], (identity, wanted), len(places))
        except StatementFailed as error:  # the statement is our own: whatever is wrong, it is not the question
            raise BusinessUnavailable(str(error)) from error
        return any(count for (count,) in counts)

    async def close(self) -> None:
        """Closes all connections."""
        await self._engine.close()

    def _convert_caller(self, caller: str) -> str | int | None:
        """Returns the caller as the database writes it; None for an impossible one."""
        if self.schema.identity == "text":
            return caller if caller and caller.isprintable() else None
        return int(caller) if caller.isascii() and caller.isdigit() and len(caller) <= 18 else None


def keep_facts(rows: Rows) -> Rows:
    """Keeps the columns that were read, under names that say no more than what they are."""
    places = [index for index, field in enumerate(rows.fields) if not field.stated]
    fields = tuple(
        replace(field, name=field.name if _is_plain(field.name) else field.column or f"column_{index + 1}")
        for index in places
        for field in (rows.fields[index],)
    )
    return replace(rows, fields=fields, values=tuple(tuple(row[index] for index in places) for row in rows.values))


def _is_plain(name: str) -> bool:
    """Whether a name is a word, and no sentence with a number in it."""
    return len(name) <= MAX_NAME_CHARS and name.isidentifier() and not any(map(str.isdigit, name))


def _convert_value(value: Any) -> Value:
    """Converts a value to the same form for every database: dates as ISO text, amounts as floats, truth as 0 and 1."""
    match value:
        case bool():
            return int(value)
        case None | int() | float():
            return value
        case Decimal():
            return float(value)
        case datetime():
            return value.isoformat(" ", "seconds")
        case date() | time():
            return value.isoformat()
        case _:
            return str(value)[:MAX_TEXT_CHARS]
