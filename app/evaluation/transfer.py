"""Evaluation sets as files: JSONL, one conversation a line, or a table with one turn a row, out and in."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from app.evaluation.dialogues import Dialogue, LabelledTurn, build_row
from app.evaluation.schemas import EvaluationCaseIn, RefusedRow
from app.evaluation.types import CaseOrigin, NewCase
from app.http.sheets import SheetReader
from app.problems import describe_problems
from app.spreadsheets import write_sheet
from knowledge.errors import DocumentTooLarge
from knowledge.evaluation.rows import parse_lines
from knowledge.parsing.decoding import decode
from knowledge.sheets import SheetOptions, SheetRow, Spreadsheet

# What the columns of a table may be called.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "编号", "对话"),
    "question": ("question", "say", "query", "问题", "问法", "顾客说"),
    "kind": ("kind", "类型", "应当"),
    "must_any": ("must_any", "contains", "要说到", "应包含"),
    "must_not": ("must_not", "不能说", "不应包含"),
    "source": ("source", "来源", "出处"),
    "documents": ("documents", "文档编号"),
    "tag": ("tag", "标签"),
    "user_id": ("user_id", "会员"),
    "note": ("note", "备注"),
    "date_dependent": ("date_dependent", "取决于日期"),
}
COLUMNS = tuple(_NAMES)
_FLAGS = dict.fromkeys(("yes", "y", "true", "t", "on", "1", "是"), True) | dict.fromkeys(
    ("", "no", "n", "false", "f", "off", "0", "否"), False
)
# Between wordings of which one is enough; what has to be said besides stands in a line of its own.
_OR = re.compile(r"(?<!\\)\|")
MAX_ROWS = 20_000
_OPTIONS = SheetOptions(rows=MAX_ROWS)
_FILE = "评测集"
_JSONL = re.compile(rb"\s*\{")


async def read_file(content: bytes, read_sheet: SheetReader) -> tuple[list[NewCase], list[RefusedRow]]:
    """Reads the cases of a file, of the kind that its bytes say, and the rows that are none. Raises InvalidDocument if
    it is neither a table nor a text.
    """
    is_jsonl = _JSONL.match(content.removeprefix(b"\xef\xbb\xbf"))
    rows = _read_lines(content) if is_jsonl else _read_table(await read_sheet(_FILE, content, _OPTIONS))
    return await asyncio.to_thread(_read_rows, rows)


def write_jsonl(dialogues: Iterable[Dialogue]) -> bytes:
    """Writes the JSONL that `scripts/evaluate.py --dialogues` reads too."""
    return "".join(json.dumps(build_row(dialogue), ensure_ascii=False) + "\n" for dialogue in dialogues).encode()


def write_table(name: str, dialogues: Iterable[Dialogue]) -> tuple[bytes, str]:
    """Writes one turn a row, without the pages that customers look at; see `write_sheet`."""
    return write_sheet(name, COLUMNS, (_build_cells(one, turn) for one in dialogues for turn in one.turns))


def _read_rows(rows: Iterator[tuple[int, object]]) -> tuple[list[NewCase], list[RefusedRow]]:
    cases, refused = list[NewCase](), list[RefusedRow]()
    for number, row in rows:
        try:
            cases.append(NewCase(EvaluationCaseIn.model_validate(row).dialogue, CaseOrigin.UPLOAD))
        except ValidationError as error:
            refused.append(RefusedRow(row=number, message=describe_problems(error)))
    return cases, refused


def _read_lines(content: bytes) -> Iterator[tuple[int, object]]:
    lines = decode(_FILE, content).split("\n")
    if sum(bool(line.strip()) for line in lines) > MAX_ROWS:
        raise DocumentTooLarge(_FILE, f"超过 {MAX_ROWS} 行的上限，请拆分后再上传")
    return parse_lines(lines)


def _read_table(sheet: Spreadsheet) -> Iterator[tuple[int, object]]:
    """Rows that follow each other with the same id are the turns of one conversation."""
    group: list[SheetRow] = []
    for row in sheet.rows:
        if group and (not _get_cell(row, "id") or _get_cell(row, "id") != _get_cell(group[0], "id")):
            yield group[0].number, _build_conversation(group)
            group = []
        group.append(row)
    if group:
        yield group[0].number, _build_conversation(group)


def _build_conversation(rows: Sequence[SheetRow]) -> dict[str, Any]:
    turns = [_turn(row) for row in rows]
    return {"id": _get_cell(rows[0], "id"), "user_id": _get_cell(rows[0], "user_id"), "turns": turns}


def _turn(row: SheetRow) -> dict[str, Any]:
    expect: dict[str, Any] = {
        "must_any": [_split(line) for line in _get_cell(row, "must_any").splitlines() if line.strip()],
        "must_not": _split(_get_cell(row, "must_not")),
        "source": _split(_get_cell(row, "source")),
        "documents": _split(_get_cell(row, "documents")),
        "note": _get_cell(row, "note"),
        "date_dependent": _FLAGS.get(_get_cell(row, "date_dependent").lower(), _get_cell(row, "date_dependent")),
    }
    if kinds := _split(_get_cell(row, "kind")):
        expect["kind"] = [kind.lower() for kind in kinds]
    return {"say": _get_cell(row, "question"), "tag": _get_cell(row, "tag"), "expect": expect}


def _build_cells(dialogue: Dialogue, turn: LabelledTurn) -> list[str]:
    expect = turn.expect
    return [
        dialogue.id,
        turn.say,
        _join_parts(sorted(expect.kinds)),
        "\n".join(map(_join_parts, expect.must_any)),
        *map(_join_parts, (expect.must_not, expect.sources, expect.documents)),
        turn.tag,
        dialogue.user_id,
        expect.note,
        "yes" if expect.date_dependent else "",
    ]


def _get_cell(row: SheetRow, column: str) -> str:
    return row.get_first(*_NAMES[column])


def _split(cell: str) -> list[str]:
    return [part.replace("\\|", "|").strip() for part in _OR.split(cell) if part.strip()]


def _join_parts(parts: Iterable[str]) -> str:
    return "|".join(" ".join(part.split()).replace("|", "\\|") for part in parts)
