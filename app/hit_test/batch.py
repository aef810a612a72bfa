"""Questions by the file: read from text, tables or JSONL, and what came of them as a table."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.errors import InvalidRequest
from app.hit_test.trial import Expected, Trial, TrialResult
from app.http.sheets import SheetReader
from knowledge.parsing.decoding import decode
from knowledge.parsing.office_kinds import OLD_OFFICE
from knowledge.sheets import SheetOptions, Spreadsheet
from knowledge.text import clean

MAX_QUESTIONS = 200
MAX_CHARS = 2000
MAX_HISTORY = 10
COLUMNS = (
    *("question", "history", "verdict", "confidence", "intents", "rejected", "document_id", "title", "text"),
    *("expected", "stage", "explanation", "degraded"),
)
_QUESTION = ("question", "query", "say", "问题", "问法", "顾客说")
_HISTORY = ("history", "之前问过")
_DOCUMENT = ("document_id", "expected", "文档编号", "应当命中")
_CHUNK = ("chunk_id", "片段编号")
_OPTIONS = SheetOptions(rows=MAX_QUESTIONS + 1)
_NAMED = re.compile("|".join(_QUESTION), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BatchRow:
    """A question of a file by its number there, 1 being the first row or line."""

    number: int
    trial: Trial


async def read_questions(content: bytes, read_sheet: SheetReader, *, decide: bool) -> list[BatchRow]:
    """Of JSONL, of CSV or XLSX with a column `question` or 问题, or of a text with a question a line; what it is the
    bytes say. Raises InvalidRequest for what cannot be tried, InvalidDocument.
    """
    lines = await asyncio.to_thread(_split_lines, content)
    found = _read_text(lines) if lines else _read_table(await read_sheet("问题", content, _OPTIONS))
    return await asyncio.to_thread(_check_questions, found, decide)


def build_cells(trial: Trial, tried: TrialResult) -> list[str | float]:
    """A row of COLUMNS."""
    found, best = tried.found, next(iter(tried.found.candidates), None)
    expected = trial.expected
    return [
        trial.text,
        "\n".join(trial.history),
        found.verdict.value,
        round(found.confidence, 4),
        "+".join(tried.decision.intents) if tried.decision else "",
        tried.rejected.value if tried.rejected else "",
        best.chunk.document.id if best else "",
        best.chunk.document.title if best else "",
        best.chunk.text if best else "",
        (expected.chunk_id or expected.document_id) if expected else "",
        tried.dropped.stage.value if tried.dropped else "",
        tried.dropped.explanation if tried.dropped else "",
        "、".join(tried.degraded),
    ]


def _check_questions(found: Iterator[tuple[int, dict[str, Any]]], decide: bool) -> list[BatchRow]:
    rows = [BatchRow(number, _build_trial(number, row, decide)) for number, row in found]
    if not rows:
        raise InvalidRequest("文件里没有问题", field="file")
    if len(rows) > MAX_QUESTIONS:
        raise InvalidRequest(f"一次最多试 {MAX_QUESTIONS} 问", most=MAX_QUESTIONS)
    return rows


def _split_lines(content: bytes) -> list[str]:
    """Of a text; none of a table."""
    if content.startswith((b"PK\x03\x04", OLD_OFFICE)):
        return []
    lines = decode("问题", content).split("\n")
    first = _find_first(lines)
    named = not first.startswith("{") and _NAMED.search(first)
    return [] if named and (re.search("[,\t;]", first) or first.lower() in _QUESTION) else lines


def _find_first(lines: Sequence[str]) -> str:
    return next((line.strip() for line in lines if line.strip()), "")


def _read_text(lines: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    if _find_first(lines).startswith("{"):
        return _read_jsonl(lines)
    return ((number, {"question": line}) for number, line in enumerate(lines, 1) if line.strip())


def _read_table(sheet: Spreadsheet) -> Iterator[tuple[int, dict[str, Any]]]:
    if not set(_QUESTION) & set(sheet.columns):
        raise InvalidRequest("表格里没有叫 question 或 问题 的列", field="question")
    for row in sheet.rows:
        history = [line for line in row.get_first(*_HISTORY).splitlines() if line.strip()]
        named = {"document_id": row.get_first(*_DOCUMENT), "chunk_id": row.get_first(*_CHUNK)}
        yield row.number, {"question": row.get_first(*_QUESTION), "history": history, **named}


def _read_jsonl(lines: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InvalidRequest(f"第 {number} 行不是 JSON", row=number) from error
        if not isinstance(row, dict):
            raise InvalidRequest(f"第 {number} 行不是 JSON 对象", row=number)
        question = next((row[name] for name in _QUESTION if name in row), "")
        yield number, {"question": question} | {k: row[k] for k in ("history", "document_id", "chunk_id") if k in row}


def _build_trial(number: int, row: dict[str, Any], decide: bool) -> Trial:
    history = row.get("history") or []
    told = (row["question"], row.get("document_id") or "", row.get("chunk_id") or "")
    if not isinstance(history, list) or not all(isinstance(text, str) for text in (*history, *told)):
        raise InvalidRequest(f"第 {number} 行的问题要是文字，history 要是一列文字", row=number)
    question, document, chunk = (clean(text).strip() for text in told)
    if not question:
        raise InvalidRequest(f"第 {number} 行没有问题", row=number)
    if len(history) > MAX_HISTORY or any(len(text) > MAX_CHARS for text in (question, *history)):
        raise InvalidRequest(f"第 {number} 行：一句最多 {MAX_CHARS} 字，之前的话最多 {MAX_HISTORY} 句", row=number)
    expected = Expected(document, chunk) if document or chunk else None
    return Trial(question, tuple(history), decide=decide, expected=expected)
