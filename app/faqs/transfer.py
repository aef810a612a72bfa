"""Curated answers as CSV or XLSX, for a spreadsheet and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agents.types import Button
from app.faqs.rules import safe_address
from app.faqs.types import Faq, FaqDraft, FaqState
from app.spreadsheets import SheetLimits, SheetRow, Spreadsheet, read_sheet, write_sheet

COLUMNS = ("编号", "问题", "答案", "相似问", "按钮", "状态")
_ID = "编号", "id"
_QUESTION = "问题", "标准问法", "question"
_ANSWER = "答案", "回答", "answer"
_VARIANTS = "相似问", "相似问法", "variants"
_BUTTONS = "按钮", "buttons"
_STATE = "状态", "state"
_SHOWN = {FaqState.PUBLISHED: "已发布", FaqState.DRAFT: "草稿"}
_STATES = {shown: state for state, shown in _SHOWN.items()} | {state.value: state for state in FaqState}
MAX_ROWS = 2000
"""Of one file: each takes about a tenth of a second a wording."""
LIMITS = SheetLimits(rows=MAX_ROWS)
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


def read_faqs(content: bytes) -> list[FaqSheetRow | FaqRowRefused]:
    """The rows of a file; what is in the cells is not checked yet. Blocking. Raises InvalidDocument."""
    return _rows(read_sheet("精选问答", content, LIMITS))


def write_faqs(name: str, entries: Iterable[Faq]) -> tuple[bytes, str]:
    """A file by the ending of its name, and its media type; see `write_sheet`. Blocking."""
    return write_sheet(name, COLUMNS, map(_cells, entries))


def _rows(sheet: Spreadsheet) -> list[FaqSheetRow | FaqRowRefused]:
    missing = [names[0] for names in (_QUESTION, _ANSWER) if not set(names) & set(sheet.columns)]
    if missing:
        return [FaqRowRefused(1, f"第一行要有列名“{'”“'.join(missing)}”。")]
    return [_row(row) for row in sheet.rows]


def _row(row: SheetRow) -> FaqSheetRow | FaqRowRefused:
    state = row.first(*_STATE).lower() or FaqState.PUBLISHED.value
    if state not in _STATES:
        return FaqRowRefused(row.number, f"状态“{state[:20]}”不认识，请写“已发布”或“草稿”。", "state")
    buttons = []
    for line in filter(None, _LINE.split(row.first(*_BUTTONS))):
        label, _, does = (part.strip() for part in line.partition("|"))
        opens = safe_address(does)
        buttons.append(Button(label, does if opens else "", "" if opens else does))
    variants = tuple(filter(None, map(str.strip, re.split(r"[\r\n|]+", row.first(*_VARIANTS)))))
    draft = _STATES[state] is FaqState.DRAFT
    entry = FaqDraft(row.first(*_QUESTION), row.first(*_ANSWER), variants, tuple(buttons), draft)
    return FaqSheetRow(row.number, row.first(*_ID), entry)


def _cells(faq: Faq) -> Sequence[str]:
    buttons = (f"{_plain(button.label)}|{button.url or ' '.join(button.message.split())}" for button in faq.buttons)
    variants = map(_plain, faq.variants)
    return faq.id, faq.question, faq.answer, "\n".join(variants), "\n".join(buttons), _SHOWN[faq.state]


def _plain(text: str) -> str:
    """Without what separates; between full-width and half-width no wording differs."""
    return " ".join(text.replace("|", "｜").split())
