"""Questions by the file: read from text, tables or JSONL, and what came of them as a table."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from app.errors import InvalidRequest
from app.hit_test.schemas import MAX_QUESTIONS, BatchFindingOut, BatchQuestionIn
from app.hit_test.trial import Trial, TrialResult
from app.http.sheets import SheetReader
from app.problems import describe_problems
from knowledge.evaluation.rows import parse_lines
from knowledge.parsing.decoding import decode
from knowledge.parsing.office_kinds import OLD_OFFICE
from knowledge.sheets import SheetOptions, Spreadsheet

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


async def read_questions(content: bytes, read_sheet: SheetReader, *, decide: bool) -> list[Trial]:
    """Reads the questions of a file: JSONL, CSV or XLSX with a column `question` or 问题, or a text with one on each
    line.

    The bytes say which of these it is. Raises InvalidDocument, and InvalidRequest for what cannot be tried.
    """
    lines = await asyncio.to_thread(_split_lines, content)
    found = _read_text(lines) if lines else _read_table(await read_sheet("问题", content, _OPTIONS))
    return await asyncio.to_thread(_check_questions, found, decide)


def build_cells(trial: Trial, result: TrialResult) -> list[str | float]:
    """Builds a row of COLUMNS."""
    best, expected = result.best_chunk, trial.expected
    values = BatchFindingOut.from_result(result).model_dump(mode="json") | {
        "question": trial.text,
        "history": "\n".join(trial.history),
        "intents": "+".join(result.intents),
        "text": best.text if best else "",
        "expected": (expected.chunk_id or expected.document_id) if expected else "",
        "degraded": "、".join(result.degraded),
    }
    return ["" if values[name] is None else values[name] for name in COLUMNS]


def _check_questions(found: Iterator[tuple[int, dict[str, Any]]], decide: bool) -> list[Trial]:
    trials = [_build_trial(number, row, decide) for number, row in found]
    if not trials:
        raise InvalidRequest("文件里没有问题", field="file")
    if len(trials) > MAX_QUESTIONS:
        raise InvalidRequest(f"一次最多试 {MAX_QUESTIONS} 问", most=MAX_QUESTIONS)
    return trials


def _split_lines(content: bytes) -> list[str]:
    """Splits a text into lines; returns none for a table."""
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
    for number, row in parse_lines(lines):
        if not isinstance(row, dict):
            raise InvalidRequest(f"第 {number} 行不是 JSON 对象", row=number)
        question = next((row[name] for name in _QUESTION if name in row), "")
        yield number, {"question": question} | {k: row[k] for k in ("history", "document_id", "chunk_id") if k in row}


def _build_trial(number: int, row: dict[str, Any], decide: bool) -> Trial:
    why = {name: row[name] for name in ("document_id", "chunk_id") if row.get(name)}
    values = {"query": row["question"], "history": row.get("history") or [], "why": why or None}
    try:
        return BatchQuestionIn.model_validate(values).build_trial(decide)
    except ValidationError as error:
        raise InvalidRequest(f"第 {number} 行：{describe_problems(error)}", row=number) from error
