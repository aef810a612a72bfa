"""What the business agent may know of a database: tables, columns, whose a row is, what is masked. Read from YAML."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast, get_args

import yaml

from knowledge.errors import InvalidConfiguration

Mask = Literal["phone", "name", "email", "address", "id_card", "bank_card"]
Identity = Literal["text", "integer"]


@dataclass(frozen=True, slots=True)
class Column:
    """`type` and `description` are for the prompt; `mask` says how a value is shown; `values`: code -> meaning."""

    name: str
    type: str
    description: str
    mask: Mask | None = None
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a row is: `column` holds the caller's identity, or, with `table`, the key `key` of a row of that table."""

    column: str
    table: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Only the columns listed exist. Without an owner the rows are everybody's, for example products."""

    name: str
    description: str
    columns: Mapping[str, Column]
    key: str
    owner: Owner | None = None


@dataclass(frozen=True, slots=True)
class Schema:
    """Tables by name, in the order of the file. `identity`: what the columns that hold a member's number are."""

    tables: Mapping[str, Table]
    identity: Identity = "text"

    def described(self) -> str:
        """The schema as a prompt shows it."""
        return "\n".join(
            f"{table.name}（{table.description}）\n" + "\n".join(_line(column) for column in table.columns.values())
            for table in self.tables.values()
        )


def load_schema(path: Path) -> Schema:
    """Raises InvalidConfiguration, naming table and column."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        tables = {str(name): _table(str(name), fields) for name, fields in data["tables"].items()}
        schema = Schema(tables, data.get("identity", "text"))
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise InvalidConfiguration(f"业务库描述 {path} 读不懂：{error!r}") from error
    if schema.identity not in get_args(Identity):
        raise InvalidConfiguration(f"业务库描述 {path} 的 identity 须是 {get_args(Identity)} 之一")
    _check_names("表", schema.tables, path)
    for table in schema.tables.values():
        _check(table, schema, path)
    return schema


def _table(name: str, fields: Mapping[str, Any]) -> Table:
    columns = {str(column): _column(str(column), given) for column, given in fields["columns"].items()}
    owner = fields.get("owner")
    if isinstance(owner, str):
        owner = Owner(owner)
    elif owner is not None:
        owner = Owner(owner["column"], owner["table"], owner["key"])
    return Table(name, fields["description"], columns, fields.get("key", "id"), owner)


def _column(name: str, fields: Mapping[str, Any]) -> Column:
    values = {str(code): str(meaning) for code, meaning in fields.get("values", {}).items()}
    return Column(name, fields["type"], fields["description"], cast("Mask | None", fields.get("mask")), values)


def _check(table: Table, schema: Schema, path: Path) -> None:
    """Follows the owners up to the identity: a chain that ends nowhere would leave rows without an owner."""
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
    for column in table.columns.values():
        if column.mask is not None and column.mask not in get_args(Mask):
            raise InvalidConfiguration(
                f"业务库描述 {path}：{table.name}.{column.name} 的 mask 须是 {get_args(Mask)} 之一"
            )


def _check_names(what: str, names: Collection[str], path: Path) -> None:
    """Statements tell names apart by their letters alone."""
    if len({name.lower() for name in names}) < len(names):
        raise InvalidConfiguration(f"业务库描述 {path}：{what}有两个只差大小写")


def _line(column: Column) -> str:
    codes = "；".join(f"{code}={meaning}" for code, meaning in column.values.items())
    masked = "，脱敏" if column.mask is not None else ""
    return f"  {column.name} {column.type} {column.description}{masked}" + (f"（{codes}）" if codes else "")
