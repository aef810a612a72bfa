"""Curated answers as CSV or XLSX, for a spreadsheet and back."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agents.types import Button
from app.faqs.rules import is_safe_address
from app.faqs.types import Faq, FaqDraft, FaqState
from app.http.sheets import SheetReader
from app.spreadsheets import write_sheet
from knowledge.parsing.faq_columns import ColumnPlaces, escape_part, find_by_name, split_first_part, split_parts
from knowledge.sheets import SheetOptions, SheetRow, Spreadsheet

COLUMNS = ("编号", "问题", "答案", "相似问", "按钮", "状态")
_ID = "编号", "id"
_BUTTONS = "按钮", "buttons"
_STATE = "状态", "state"
_SHOWN = {FaqState.PUBLISHED: "已发布", FaqState.DRAFT: "草稿"}
_STATES = {shown: state for state, shown in _SHOWN.items()} | {state.value: state for state in FaqState}
# Of one file: each takes about a tenth of a second a wording.
MAX_ROWS = 2000
_OPTIONS = SheetOptions(rows=MAX_ROWS, faq_header=True)
_TOO_MANY = "第 {row} 行的格数比表头多，分不清多出的内容属于哪一列。内容里有逗号等分隔符时，请给整格加上双引号。"
_LINE = re.compile(r"[\r\n]+")


@dataclass(frozen=True, slots=True)
class FaqRowRefused:
    """A row that is not taken. row: as the spreadsheet shows it; field: its column, empty for the row as a whole."""

    row: int
    message: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class FaqSheetRow:
    """An entry of a file. id: empty where the file names none."""

    row: int
    id: str
    entry: FaqDraft


async def read_faqs(content: bytes, read_sheet: SheetReader) -> list[FaqSheetRow | FaqRowRefused]:
    """Reads the rows of a file, below the first row that names questions and answers as in a document.

    What is in the cells is not checked yet. Raises InvalidDocument.
    """
    return await asyncio.to_thread(_read_rows, await read_sheet("精选问答", content, _OPTIONS))


def write_faqs(name: str, entries: Iterable[Faq]) -> tuple[bytes, str]:
    """Writes entries as a file of the kind that its name ends with; returns it with its media type. Blocking."""
    return write_sheet(name, COLUMNS, map(_build_cells, entries))


def _read_rows(sheet: Spreadsheet) -> list[FaqSheetRow | FaqRowRefused]:
    columns = find_by_name(sheet.columns)
    if columns is None:
        return [FaqRowRefused(sheet.header, "没有找到写着列名的那一行：要有“问题”“答案”两列。")]
    return [_read_row(row, sheet, columns) for row in sheet.rows]


def _read_row(row: SheetRow, sheet: Spreadsheet, columns: ColumnPlaces) -> FaqSheetRow | FaqRowRefused:
    names = sheet.columns
    state = row.get_first(*_STATE).lower() or FaqState.PUBLISHED.value
    question, answer = row.get_first(names[columns.question]), row.get_first(names[columns.answer])
    if sheet.delimiter and row.beyond:
        if columns.answer != len(names) - 1:
            return FaqRowRefused(row.number, _TOO_MANY.format(row=row.number))
        answer = sheet.delimiter.join((answer, *row.beyond)).strip()
    if state not in _STATES:
        return FaqRowRefused(row.number, f"状态“{state[:20]}”不认识，请写“已发布”或“草稿”。", "state")
    buttons = []
    for line in filter(None, _LINE.split(row.get_first(*_BUTTONS))):
        label, does = map(str.strip, split_first_part(line))
        opens = is_safe_address(does)
        buttons.append(Button(label, does if opens else "", "" if opens else does))
    asked = row.get_first(names[columns.variants]) if columns.variants is not None else ""
    variants = tuple(filter(None, map(str.strip, split_parts(asked, "\r\n"))))
    draft = _STATES[state] is FaqState.DRAFT
    return FaqSheetRow(row.number, row.get_first(*_ID), FaqDraft(question, answer, variants, tuple(buttons), draft))


def _build_cells(faq: Faq) -> Sequence[str]:
    buttons = (
        f"{_escape_part(button.label)}|{button.url or ' '.join(button.message.split())}" for button in faq.buttons
    )
    variants = map(_escape_part, faq.variants)
    return faq.id, faq.question, faq.answer, "\n".join(variants), "\n".join(buttons), _SHOWN[faq.state]


def _escape_part(text: str) -> str:
    """Returns a text on one line, with its own bars escaped."""
    return escape_part(" ".join(text.split()))
