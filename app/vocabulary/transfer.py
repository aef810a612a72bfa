"""A vocabulary as a CSV file, for a spreadsheet and back; a workbook is read too."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator

from app.http.sheets import SheetReader
from app.spreadsheets import write_csv
from app.vocabulary.types import MAX_ENTRIES, MAX_OTHERS, MAX_TERM_CHARS, Refusal, StoredEntry
from knowledge.sheets import SheetOptions, SheetRow, Spreadsheet
from knowledge.vocabulary import VocabularyEntry, VocabularyKind

COLUMNS = ("kind", "term", "others", "both_ways")
SEPARATOR = "|"
_NO = {"no", "false", "0", "否"}


def write_entries(entries: Iterable[StoredEntry]) -> bytes:
    """See `write_csv`."""
    return write_csv(COLUMNS, map(_build_cells, entries))


async def read(content: bytes, read_sheet: SheetReader) -> list[tuple[int, VocabularyEntry | Refusal]]:
    """Rows by the number that a spreadsheet shows; columns are known by their names, and may come in any order. Raises
    InvalidDocument.
    """
    sheet = await read_sheet("词表", content, SheetOptions(rows=MAX_ENTRIES))
    return await asyncio.to_thread(list, _read_rows(sheet))


def _read_rows(sheet: Spreadsheet) -> Iterator[tuple[int, VocabularyEntry | Refusal]]:
    if missing := {"kind", "term"} - set(sheet.columns):
        yield 1, Refusal("columns_missing", f"第一行要有列名 {'、'.join(sorted(missing))}。")
        return
    for row in sheet.rows:
        yield row.number, _read_entry(row)


def _build_cells(stored: StoredEntry) -> tuple[str, ...]:
    entry = stored.entry
    both = ("yes" if entry.both_ways else "no") if entry.kind is VocabularyKind.SYNONYM else ""
    return entry.kind.value, entry.term, SEPARATOR.join(entry.others), both


def _read_entry(row: SheetRow) -> VocabularyEntry | Refusal:
    kind, term = row.get_first("kind").lower(), row.get_first("term")
    others = tuple(other.strip() for other in row.get_first("others").split(SEPARATOR) if other.strip())
    if kind not in list(VocabularyKind):
        return Refusal("unknown_kind", f"kind 须是 {'、'.join(VocabularyKind)} 之一。", kind[:MAX_TERM_CHARS])
    if len(others) > MAX_OTHERS or any(len(one) > MAX_TERM_CHARS for one in (term, *others)):
        shown = f"一个词最多 {MAX_TERM_CHARS} 个字，对应的词最多 {MAX_OTHERS} 个。"
        return Refusal("too_long", shown, term[:MAX_TERM_CHARS])
    return VocabularyEntry(VocabularyKind(kind), term, others, row.get_first("both_ways").lower() not in _NO)
