"""Rows of JSONL: read and checked before anything is computed, and written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from knowledge.errors import InvalidConfiguration


def read_rows(path: Path, **fields: type) -> list[dict[str, Any]]:
    """Reads the objects of a JSONL file; blank lines are skipped.

    Args:
        path: The file.
        fields: Keys that every row must have, with the type of their value.

    Raises:
        InvalidConfiguration: If the file or a row is wrong; the message names the file and the line.
    """
    try:
        lines = path.read_text("utf-8-sig").split("\n")  # splitlines would cut at U+2028 inside a string
    except FileNotFoundError as error:
        raise InvalidConfiguration(f"找不到文件 {path}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidConfiguration(f"{path} 读不了：{error}") from error
    return [_parse_row(f"{path} 第 {number} 行", line, fields) for number, line in enumerate(lines, 1) if line.strip()]


def parse_lines(lines: Iterable[str]) -> Iterator[tuple[int, object]]:
    """Yields what each line of JSONL says, by its number from 1, without blank ones; one that is no JSON as it is."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = line
        yield number, row


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Writes one object a line."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def _parse_row(place: str, line: str, fields: dict[str, type]) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise InvalidConfiguration(f"{place}不是 JSON：{error}") from error
    if not isinstance(row, dict):
        raise InvalidConfiguration(f"{place}不是 JSON 对象")
    for name, kind in fields.items():
        if not isinstance(row.get(name), kind):
            raise InvalidConfiguration(f"{place}缺少 {name}，或其类型不是 {kind.__name__}")
    return row
