"""What the business agent may know of a database: tables, columns, whose a row is, what is masked. Read from YAML."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast, get_args

import yaml

from agents.business.engines.base import Readable
from knowledge.errors import InvalidConfiguration

Mask = Literal["phone", "name", "email", "address", "id_card", "bank_card"]
Identity = Literal["text", "integer"]
Named = Literal["place", "thing"]
# Where a table does not name its time and money, the first columns of these types are.
TYPES = {"time": ("timestamp", "date"), "money": ("number",)}


@dataclass(frozen=True, slots=True)
class Column:
    """`type` and `description` are for the prompt."""

    name: str
    type: str
    description: str
    # How a value is shown.
    mask: Mask | None = None
    # Code -> meaning.
    values: Mapping[str, str] = field(default_factory=dict)
    # What customers call the column.
    words: tuple[str, ...] = ()
    # Code -> all that they call its meaning.
    spoken: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # Customers name rows by its values, of places or of things.
    named: Named | None = None


@dataclass(frozen=True, slots=True)
class ColumnState:
    """Rows that meet a condition over their table: the words for them, and their name in a reply."""

    words: tuple[str, ...]
    where: str
    say: str


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a row is: `column` holds the caller's identity, or, with `table`, the key `key` of a row of that table."""

    column: str
    table: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Only the listed columns exist. Without an owner the rows are everybody's, for example products."""

    name: str
    description: str
    columns: Mapping[str, Column]
    key: str
    owner: Owner | None = None
    # What customers call its rows.
    words: tuple[str, ...] = ()
    states: tuple[ColumnState, ...] = ()
    # time and money: the columns that they are ordered and summed by.
    time: str = ""
    money: str = ""


@dataclass(frozen=True, slots=True)
class Schema:
    """Tables by name, in the order of the file."""

    tables: Mapping[str, Table]
    # The type of the columns that hold a member's number.
    identity: Identity = "text"

    def list_readable(self) -> Readable:
        """Returns what statements read: the listed columns, and those that say whose a row is."""
        names = {table.name: {column.lower() for column in table.columns} for table in self.tables.values()}
        for table in self.tables.values():
            if table.owner is not None:
                names[table.name].add(table.owner.column.lower())
                if table.owner.table:
                    names[table.owner.table].add(table.owner.key.lower())
        return {name.lower(): frozenset(columns) for name, columns in names.items()}

    def describe(self) -> str:
        """Returns the schema as a prompt shows it."""
        return "\n".join(
            f"{table.name}（{table.description}）\n"
            + "\n".join(_describe_column(column) for column in table.columns.values())
            for table in self.tables.values()
        )


def load_schema(path: Path) -> Schema:
    """Reads a description. Raises InvalidConfiguration, naming table and column."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidConfiguration(f"业务库描述 {path} 读不懂：{error}") from error
    try:
        data = read_entry("顶层", data, {"tables"}, {"identity", "questions", "goods"})
        tables = {name: read_table(name, fields) for name, fields in read_named("tables", data["tables"]).items()}
    except ValueError as error:
        raise InvalidConfiguration(f"业务库描述 {path}：{error}") from error
    schema = Schema(tables, data.get("identity", "text"))
    if schema.identity not in get_args(Identity):
        raise InvalidConfiguration(f"业务库描述 {path} 的 identity 须是 {get_args(Identity)} 之一")
    _check_names("表", schema.tables, path)
    if dotted := [name for name in schema.tables if "." in name]:
        raise InvalidConfiguration(
            f"业务库描述 {path}：表名 {'、'.join(dotted)} 不能带 schema，请设成账号默认的 schema"
        )
    for table in schema.tables.values():
        _check_owner(table, schema, path)
    return schema


def read_table(name: str, given: object) -> Table:
    """Reads a table of a description. Raises ValueError."""
    what = f"表 {name}"
    fields = read_entry(what, given, {"description", "columns"}, {"owner", "key", "words", "states", "time", "money"})
    named = read_named(f"{what} 的 columns", fields["columns"])
    columns = {column: _parse_column(f"{what} 的列 {column}", column, entry) for column, entry in named.items()}
    owner = None
    if isinstance(fields.get("owner"), str):
        owner = Owner(fields["owner"])
    elif "owner" in fields:  # nothing after the colon is a mistake too: the rows would be everybody's
        owner = Owner(**read_entry(f"{what} 的 owner", fields["owner"], {"column", "table", "key"}))
    states = tuple(
        ColumnState(**{**entry, "words": _parse_words(what, entry["words"])})
        for entry in (
            read_entry(f"{what} 的 states", item, {"words", "where", "say"}) for item in fields.get("states", ())
        )
    )
    kinds = {kind: [column.name for column in columns.values() if column.type in TYPES[kind]] for kind in TYPES}
    chosen = {kind: fields.get(kind, (*kinds[kind], "")[0]) for kind in TYPES}
    if odd := [kind for kind in TYPES if chosen[kind] and chosen[kind] not in columns]:
        raise ValueError(f"{what} 的 {'、'.join(odd)} 不是它的列")
    words = _parse_words(what, fields.get("words", ()))
    return Table(name, fields["description"], columns, fields.get("key", "id"), owner, words, states, **chosen)


def _parse_column(what: str, name: str, given: object) -> Column:
    fields = read_entry(what, given, {"type", "description"}, {"mask", "values", "words", "named"})
    if not isinstance(codes := fields.get("values", {}), dict):
        raise ValueError(f"{what} 的 values 要写成“代码: 含义”")
    spoken = {
        str(code): _parse_words(what, ways) if isinstance(ways, list) else (str(ways),) for code, ways in codes.items()
    }
    if "named" in fields and fields["named"] not in get_args(Named):
        raise ValueError(f"{what} 的 named 须是 {get_args(Named)} 之一")
    values = {code: ways[0] for code, ways in spoken.items()}
    words = _parse_words(what, fields.get("words", ()))
    if "mask" in fields and fields["mask"] not in get_args(Mask):
        raise ValueError(f"{what} 的 mask 须是 {get_args(Mask)} 之一")
    return Column(
        name,
        fields["type"],
        fields["description"],
        cast("Mask | None", fields.get("mask")),
        values,
        words,
        spoken,
        cast("Named | None", fields.get("named")),
    )


def _parse_words(what: str, given: object) -> tuple[str, ...]:
    """Raises ValueError."""
    if not isinstance(given, list | tuple) or not all(str(word).strip() for word in given):
        raise ValueError(f"{what} 的说法要写成一列词")
    return tuple(str(word) for word in given)


def read_entry(
    what: str, given: object, needed: Collection[str], allowed: Collection[str] = frozenset()
) -> dict[str, Any]:
    """Checks the keys of an entry and returns it.

    Raises ValueError for a missing and for an unknown key: a misspelt mask would hide nothing, a misspelt owner would
    give the rows to everybody.
    """
    if not isinstance(given, dict):
        raise ValueError(f"{what} 要写成“键: 值”，须有 {'、'.join(sorted(needed))}")
    if unknown := [str(key) for key in given if key not in {*needed, *allowed}]:
        raise ValueError(f"{what} 里不认识 {'、'.join(unknown)}，只能写 {'、'.join(sorted({*needed, *allowed}))}")
    if missing := sorted(set(needed) - given.keys()):
        raise ValueError(f"{what} 缺 {'、'.join(missing)}")
    return given


def read_named(what: str, given: object) -> dict[str, Any]:
    """Checks a mapping with names and returns it. Raises ValueError: YAML takes a plain on, no or 2024 for no name."""
    if not isinstance(given, dict) or not given:
        raise ValueError(f"{what} 是空的")
    if odd := [str(name) for name in given if not isinstance(name, str)]:
        raise ValueError(f"{what} 里的 {'、'.join(odd)} 不是名字，请加引号")
    return given


def _check_owner(table: Table, schema: Schema, path: Path) -> None:
    """Follows the owners up to the identity: a chain that ends elsewhere would leave rows without an owner."""
    seen = {table.name}
    step = table
    while step.owner is not None and step.owner.table:
        above = schema.tables.get(step.owner.table)
        if above is None or above.owner is None or above.name in seen:
            raise InvalidConfiguration(f"业务库描述 {path}：表 {table.name} 的 owner 不能追溯到会员")
        seen.add(above.name)
        step = above
    _check_names(f"表 {table.name} 的列", table.columns, path)
    if table.key not in table.columns:
        raise InvalidConfiguration(f"业务库描述 {path}：表 {table.name} 没有主键列 {table.key}")


def _check_names(what: str, names: Collection[str], path: Path) -> None:
    """Refuses names that differ in case only, which statements cannot tell apart."""
    if len({name.lower() for name in names}) < len(names):
        raise InvalidConfiguration(f"业务库描述 {path}：{what}有两个只差大小写")


def _describe_column(column: Column) -> str:
    codes = "；".join(f"{code}={meaning}" for code, meaning in column.values.items())
    masked = "，脱敏" if column.mask is not None else ""
    return f"  {column.name} {column.type} {column.description}{masked}" + (f"（{codes}）" if codes else "")
