"""A vocabulary as a CSV file, for a spreadsheet and back."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

from app.vocabulary.types import MAX_OTHERS, MAX_TERM_CHARS, Refusal, StoredEntry
from knowledge.parsing.decoding import decode
from knowledge.text import clean
from knowledge.vocabulary import VocabularyEntry, VocabularyKind

COLUMNS = ("kind", "term", "others", "both_ways")
SEPARATOR = "|"
MAX_ROWS = 10_000
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NO = {"no", "false", "0", "否"}


def written(entries: Iterable[StoredEntry]) -> bytes:
    """UTF-8 with a BOM, so that spreadsheets read it right; what they would run as a formula has an apostrophe."""
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(COLUMNS)
    for stored in entries:
        entry = stored.entry
        both = ("yes" if entry.both_ways else "no") if entry.kind is VocabularyKind.SYNONYM else ""
        rows.writerow([entry.kind.value, *map(_safe, (entry.term, SEPARATOR.join(entry.others))), both])
    return out.getvalue().encode("utf-8-sig")


def read(content: bytes) -> Iterator[tuple[int, VocabularyEntry | Refusal]]:
    """Rows by the number that a spreadsheet shows; columns are known by their names, and may come in any order.

    Raises InvalidDocument where it is no text, or has not the columns.
    """
    rows = csv.reader(io.StringIO(decode("词表", content)))
    names = [name.strip().lower() for name in next(rows, [])]
    if missing := {"kind", "term"} - set(names):
        yield 1, Refusal("columns_missing", f"第一行要有列名 {'、'.join(sorted(missing))}。")
        return
    try:
        for row in rows:
            if any(cell.strip() for cell in row):
                yield rows.line_num, _entry(dict(zip(names, row, strict=False)))
    except csv.Error as error:
        yield rows.line_num, Refusal("bad_csv", f"这一行不是正常的 CSV：{error}")


def _entry(row: dict[str, str]) -> VocabularyEntry | Refusal:
    kind, term = row.get("kind", "").strip().lower(), _plain(row.get("term", ""))
    others = tuple(filter(None, map(_plain, row.get("others", "").split(SEPARATOR))))
    if kind not in list(VocabularyKind):
        return Refusal("unknown_kind", f"kind 须是 {'、'.join(VocabularyKind)} 之一。", kind[:MAX_TERM_CHARS])
    if len(others) > MAX_OTHERS or any(len(one) > MAX_TERM_CHARS for one in (term, *others)):
        shown = f"一个词最多 {MAX_TERM_CHARS} 个字，对应的词最多 {MAX_OTHERS} 个。"
        return Refusal("too_long", shown, term[:MAX_TERM_CHARS])
    return VocabularyEntry(VocabularyKind(kind), term, others, row.get("both_ways", "").strip().lower() not in _NO)


def _safe(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _plain(cell: str) -> str:
    cell = clean(cell).strip()
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(_FORMULA) else cell
