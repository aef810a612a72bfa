"""Reads JSON and JSON Lines: records become rows, FAQ pairs, or sections under their names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from knowledge.blocks import Block
from knowledge.errors import BrokenDocument
from knowledge.parsing import faq_columns
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.decoding import decode
from knowledge.parsing.pieces import Heading, ParsedTable, Piece

# Characters; a record with a longer text is a section and not a row.
_LONG = 100
# Characters of what names a record.
_MAX_LABEL = 60
_NUMBER = re.compile(r"[-+]?[\d.,:\sTZ/-]+")
_FIRST_LEVEL = 2
# What is nested deeper is written behind its keys.
_MAX_DEPTH = 6

Record = Mapping[str, Any]


class JsonParser(Parser):
    """Reads a list of records, an object, or one record a line. Numbers stay as written; null is left out."""

    def _read_pieces(self, source: SourceFile) -> Iterator[Piece]:
        text = decode(source.name, source.content)
        value = _parse_text(source.name, text)
        yield from _read_value(value, _FIRST_LEVEL)


def _parse_text(name: str, text: str) -> Any:
    """Returns the value of the file; the list of its lines if each line is a value.

    Raises:
        BrokenDocument: If it is neither.
    """
    try:
        return _load_value(text)
    except json.JSONDecodeError as whole:
        values = []
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                values.append(_load_value(line))
            except json.JSONDecodeError as error:
                location = (whole.lineno, whole.colno) if len(values) < 2 else (number, error.colno)
                raise BrokenDocument(name, "不是正确的 JSON：第 {} 行第 {} 个字处有误".format(*location)) from error
        return values


def _load_value(text: str) -> Any:
    return json.loads(text, parse_int=str, parse_float=str, parse_constant=str)


def _read_value(value: Any, level: int) -> Iterator[Piece]:
    match value:
        case dict():
            yield from _read_object(value, level)
        case list():
            yield from _read_list(value, level)
        case _:
            if text := _format_scalar(value):
                yield Block(text)


def _read_list(values: Sequence[Any], level: int) -> Iterator[Piece]:
    records = [value for value in values if isinstance(value, dict)]
    if not records or len(records) < len(values):
        for value in values:
            yield from _read_value(value, level)
        return
    names = list(dict.fromkeys(name for record in records for name in record))
    if all(map(_is_flat, records)) and (faq_columns.find_by_name(names) or all(map(_is_short, records))):
        yield ParsedTable([names, *([_format_cell(record.get(name)) for name in names] for record in records)], 1)
        return
    label = _choose_label(names, records)
    for number, record in enumerate(records, start=1):
        title = _format_cell(record.get(label)) if label else ""
        yield Heading(level, title or str(number))
        yield from _read_object({name: value for name, value in record.items() if name != label}, level + 1)


def _read_object(record: Record, level: int) -> Iterator[Piece]:
    pairs = [[name, _format_cell(value)] for name, value in record.items()]
    if _is_flat(record) and len(pairs) > 1 and faq_columns.find_by_content([], pairs):
        yield ParsedTable(pairs, 0)
        return
    for name, value in record.items():
        if _is_plain(value):
            if text := _format_cell(value):
                yield Block(f"{name}：{text}")
        elif level >= _FIRST_LEVEL + _MAX_DEPTH:
            yield Block(f"{name}：{json.dumps(value, ensure_ascii=False)}")
        elif value:
            yield Heading(level, name)
            yield from _read_value(value, level + 1)


def _choose_label(names: Sequence[str], records: Sequence[Record]) -> str:
    """Returns the first short field that has a different value in every record; empty if there is none."""
    for name in names:
        cells = [_format_cell(record.get(name)) for record in records]
        telling = all(cell and len(cell) <= _MAX_LABEL and not _NUMBER.fullmatch(cell) for cell in cells)
        if telling and len(set(cells)) == len(cells):
            return name
    return ""


def _is_flat(record: Record) -> bool:
    return all(map(_is_plain, record.values()))


def _is_short(record: Record) -> bool:
    return all(len(_format_cell(value)) <= _LONG for value in record.values())


def _is_plain(value: Any) -> bool:
    """Returns whether it is a scalar or a list of scalars."""
    return not isinstance(value, dict | list) or (
        isinstance(value, list) and not any(isinstance(one, dict | list) for one in value)
    )


def _format_cell(value: Any) -> str:
    """Formats a value; the values of a list, for example ways to ask, stand below each other."""
    return "\n".join(filter(None, map(_format_scalar, value))) if isinstance(value, list) else _format_scalar(value)


def _format_scalar(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case _:
            return str(value).strip()
