"""Formats values of the business database for customers, and fills the templates that hold them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime

from agents.business.schema import Schema
from agents.business.types import Field, Value

# Formats of a placeholder: with hours and minutes; with its sign.
TIME, SIGNED = "time", "+"
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d.*)?")
_PLACE = re.compile(r"\{(?P<name>\w+)(?::(?P<form>time|\+))?\}")
_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")


def format_value(value: Value, field: Field, schema: Schema, today: date, form: str = "") -> str:
    """Returns a value in words: a code by its meaning, a date as 11月20日, an amount without empty decimals; empty for
    None.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return (
            _format_day(value, today, form) if _ISO.fullmatch(value) else get_meanings(field, schema).get(value, value)
        )
    number = str(value) if isinstance(value, int) else f"{value:.2f}".removesuffix(".00")
    return f"+{number}" if form == SIGNED and value > 0 else number


def fill_template(template: str, value: Callable[[str, str], str]) -> str:
    """Fills a template; value(name, format) gives the values. A part in brackets is dropped when one of its values is
    empty.
    """

    def fill_part(match: re.Match[str]) -> str:
        is_full = all(value(place["name"], place["form"] or "") for place in _PLACE.finditer(match[1]))
        return match[1] if is_full else ""

    return _PLACE.sub(lambda match: value(match["name"], match["form"] or ""), _OPTIONAL.sub(fill_part, template))


def list_placeholders(template: str) -> list[str]:
    """Returns the names that a template needs, in order."""
    return [match["name"] for match in _PLACE.finditer(template)]


def get_label(field: Field, schema: Schema) -> str:
    """Returns what an output column is, by the description of its source."""
    table = schema.tables.get(field.table)
    column = table.columns.get(field.column) if table else None
    if column is None:
        return "数量" if field.function == "count" else field.name
    described = re.split(r"[，（,(]", column.description)[0]
    return described + _AGGREGATES.get(field.function, "")


_AGGREGATES: Mapping[str, str] = {"sum": "合计", "avg": "平均", "max": "最大", "min": "最小", "count": "的数量"}


def get_meanings(field: Field, schema: Schema) -> Mapping[str, str]:
    """Returns the codes of an output column and their meanings; empty for a column without codes."""
    table = schema.tables.get(field.table)
    column = table.columns.get(field.column) if table else None
    return column.values if column else {}


def _format_day(text: str, today: date, form: str) -> str:
    moment = datetime.fromisoformat(text)
    day = f"{moment.month}月{moment.day}日"
    if moment.year != today.year:
        day = f"{moment.year}年{day}"
    return f"{day} {moment:%H:%M} " if form == TIME and len(text) > 10 else day
