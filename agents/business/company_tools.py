"""Tools of the company's own MCP server: what the YAML says of them, and which of their results count.

The server is trusted with rows only: its words about its tools reach no model, and of a result only the listed columns
are told, of rows that name their owner.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Protocol

import yaml
from loguru import logger

from agents.business.masks import mask_text
from agents.business.schema import Column, Schema, Table, read_entry, read_named, read_table
from agents.business.types import Field, Rows, Value
from agents.errors import BusinessUnavailable
from agents.llm.tools import Tool
from agents.passages.quotable import is_addressed_to_model
from knowledge.errors import InvalidConfiguration

# Before a tool's name where sources name a table.
SCHEMA_PREFIX = "mcp:"
MAX_VALUE_CHARS = 200
MAX_ARGUMENT_CHARS = 200
_NUMBERS = frozenset({"number", "integer"})
_ARGUMENT_TYPES: Mapping[str, type | tuple[type, ...]] = {"string": str, "integer": int, "number": (int, float)}
_TABLE = {"description", "columns", "owner", "key"}


@dataclass(frozen=True, slots=True)
class CompanyTool:
    """A tool of the company."""

    name: str
    # Its rows, as those of a table whose owner column holds the member.
    table: Table
    # The argument that is filled with the proved member.
    caller: str
    # A JSON schema of each that a model gives.
    arguments: Mapping[str, Mapping[str, Any]]
    # Where in a result the list of rows is, empty where the result is one row.
    rows: str

    def build_tool(self) -> Tool:
        """Returns the tool as it is offered to a model."""
        return Tool(self.name, self.table.description, self.arguments)

    def can_accept(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the arguments are those declared: no other, none missing, and of their types."""
        return arguments.keys() == self.arguments.keys() and all(
            _is_valid(schema, arguments[name]) for name, schema in self.arguments.items()
        )


class CompanyTools(Protocol):
    """Calls the tools: `agents/business/mcp_client.py`."""

    tools: Mapping[str, CompanyTool]
    schema: Schema

    async def call(self, name: str, arguments: Mapping[str, Any], caller: str) -> Rows:
        """Returns the rows of a call. caller: the proved member. Raises BusinessUnavailable."""


def load_company_tools(path: Path) -> Mapping[str, CompanyTool]:
    """Reads the tools of a YAML file. Raises InvalidConfiguration, naming the tool."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        tools = read_named("tools", read_entry("顶层", data, {"tools"})["tools"])
        return {name: _parse_tool(name, given) for name, given in tools.items()}
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValueError) as error:
        raise InvalidConfiguration(f"MCP 工具的描述 {path}：{error}") from error


def build_schema(tools: Mapping[str, CompanyTool]) -> Schema:
    """Returns the schema of their rows, for replies and sources."""
    return Schema({tool.table.name: tool.table for tool in tools.values()})


def read_result(tool: CompanyTool, result: object, caller: str, max_rows: int) -> Rows:
    """Returns the rows of a result, masked.

    Raises:
        BusinessUnavailable: the result has another shape, or a row of somebody else; then nothing of it is told.
    """
    found = result.get(tool.rows) if tool.rows and isinstance(result, dict) else [result]
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise BusinessUnavailable(f"MCP 工具 {tool.name} 的结果不是它的描述所说的形状")
    owner = tool.table.owner
    if owner is None or any(str(row.get(owner.column)) != caller for row in found):
        raise BusinessUnavailable(f"MCP 工具 {tool.name} 返回了不属于这位会员的数据，整个结果不用")
    columns = list(tool.table.columns.values())
    values = tuple(
        tuple(_read_value(tool, column, row.get(column.name)) for column in columns) for row in found[:max_rows]
    )
    fields = tuple(Field(column.name, tool.table.name, column.name) for column in columns)
    return Rows(fields, values, (tool.table.name,), more=len(found) > max_rows)


def _read_value(tool: CompanyTool, column: Column, value: object) -> Value:
    """Returns what may be told of a value; None for another type, and for a text that addresses a model."""
    if column.type in _NUMBERS:
        number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
        return value if number else None  # type: ignore[return-value]
    if isinstance(value, bool):
        return column.values.get(str(value).lower())
    if not isinstance(value, str | int | float):
        return None
    text = " ".join(str(value).split())[:MAX_VALUE_CHARS]
    if is_addressed_to_model(text):
        logger.bind(tool=tool.name, column=column.name).warning("a value of an MCP server speaks to a model: left out")
        return None
    return mask_text(text, column.mask) if column.mask else text


def _parse_tool(name: str, given: object) -> CompanyTool:
    """Raises ValueError."""
    what = f"工具 {name}"
    fields = read_entry(what, given, {*_TABLE, "caller"}, {"arguments", "rows"})
    table = read_table(SCHEMA_PREFIX + name, {key: fields[key] for key in _TABLE})
    if table.owner is None or table.owner.table:
        raise ValueError(f"{what} 的 owner 须是每行结果里写着会员编号的那一项")
    if table.key not in table.columns:
        raise ValueError(f"{what} 的 key {table.key} 不在 columns 里")
    caller = fields["caller"]
    if not isinstance(caller, str) or not caller:
        raise ValueError(f"{what} 的 caller 须是填会员编号的参数名")
    arguments = fields.get("arguments", {})
    if not isinstance(arguments, dict):
        raise ValueError(f"{what} 的 arguments 要写成“参数: 说明”")
    if caller in arguments:
        raise ValueError(f"{what} 的 {caller} 由应答填写，不能写在 arguments 里")
    for argument, schema in arguments.items():
        read_entry(f"{what} 的参数 {argument}", schema, {"type", "description"}, {"enum"})
        if schema["type"] not in _ARGUMENT_TYPES:
            raise ValueError(f"{what} 的参数 {argument} 的 type 须是 {'、'.join(_ARGUMENT_TYPES)} 之一")
    return CompanyTool(name, table, caller, arguments, str(fields.get("rows", "")))


def _is_valid(schema: Mapping[str, Any], value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, _ARGUMENT_TYPES[schema["type"]]):
        return False
    if isinstance(value, str) and (len(value) > MAX_ARGUMENT_CHARS or not value.isprintable()):
        return False
    return "enum" not in schema or value in schema["enum"]
