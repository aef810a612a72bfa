"""What a change does to the rows of a server that several processes write to, each following SQL at its own pace.

A row holds one content and is seen by the revisions from the one that it came with up to the one that it went with.
Who comes to a revision finds out what there is of it already, writes what is missing, and ends what is too much; what
other revisions see stays as it is. All of that can be done again, and by several processes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from knowledge.errors import IndexUnavailable
from knowledge.stores.base import StoredRow
from knowledge.stores.rows import FOREVER, RowLifetime, TermRow
from knowledge.stores.statistics import Numbers
from knowledge.types import IndexChange, IndexedChunk, TermIds

if TYPE_CHECKING:
    from knowledge.stores.milvus import MilvusTable

# Chunks, and terms, that are looked at together.
_PART, _TERMS = 200, 1000
_Item = TypeVar("_Item")


@dataclass(slots=True)
class RevisionStep:
    """What separates two revisions.

    new, gone: contents that came and went; terms: those whose document frequency changed, from `old_counts` to
    `new_counts`.
    """

    new: list[IndexedChunk] = field(default_factory=list)
    gone: list[StoredRow] = field(default_factory=list)
    terms: list[str] = field(default_factory=list)
    old_counts: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))
    new_counts: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))


def write_change(table: MilvusTable, before: int, change: IndexChange) -> RevisionStep:
    """Writes the rows that a change makes of the revision `before`, and returns what separates the two.

    Raises:
        IndexUnavailable: If the server fails.
    """
    done = RevisionStep()
    added = {item.chunk.id: item for item in change.added}
    named: set[str] = set()
    for part in _split_parts(sorted(change.removed | added.keys())):
        of_part = {name: added[name] for name in part if name in added}
        named |= _write_chunks(table, part, of_part, before, change.revision, done)
    _settle_rows(table, before, change.revision, named)
    _count_terms(table, before, change, done)
    return done


def write_all(table: MilvusTable, change: IndexChange) -> RevisionStep:
    """Makes the table hold what a change adds, and nothing else. `first_term` of the change has to be 0.

    Raises:
        IndexUnavailable: If the server fails.
    """
    revision, stored, wanted = change.revision, defaultdict[str, list[RowLifetime]](list), set[str]()
    for row in table.list_live(revision):
        stored[row.content].append(row)
    added = {item.chunk.id: item for item in change.added}
    for part in _split_parts(added.values()):
        items = [table.build_row(item, revision) for item in part]
        wanted |= {table.read_lifetime(item).content for item in items}
        table.write_rows(list(_list_missing(table, items, stored, revision)))
    surplus = [row.key for content, rows in stored.items() if content not in wanted for row in rows]
    _end_rows(table, surplus, revision)
    counts = _count_documents([item.terms for item in added.values()], len(change.new_terms))
    _write_vocabulary(table, change, counts)
    occurring = counts[counts > 0]
    return RevisionStep(list(added.values()), [], [], np.zeros(len(occurring), np.int64), occurring)


def _write_chunks(
    table: MilvusTable,
    names: Sequence[str],
    added: Mapping[str, IndexedChunk],
    before: int,
    revision: int,
    done: RevisionStep,
) -> set[str]:
    """Brings the rows of some chunks to a revision, and returns the keys of these chunks."""
    there = table.get_chunk_rows(names, min(before, revision))
    stored = defaultdict[str, list[RowLifetime]](list)
    for row in map(table.read_lifetime, there):
        stored[row.content].append(row)
    items = {name: table.build_row(item, revision) for name, item in added.items()}
    contents = {table.read_lifetime(item).content: name for name, item in items.items()}
    done.new += [
        added[name] for content, name in contents.items() if not any(row.is_seen_by(before) for row in stored[content])
    ]
    gone = {
        seen.content: item
        for item in there
        if (seen := table.read_lifetime(item)).is_seen_by(before) and seen.content not in contents
    }
    done.gone += map(table.read_row, gone.values())
    table.write_rows(list(_list_missing(table, items.values(), stored, revision)))
    _end_rows(table, [row.key for content, rows in stored.items() if content not in contents for row in rows], revision)
    return {table.read_lifetime(item).chunk for item in (*there, *items.values())}


def _list_missing(
    table: MilvusTable, items: Iterable[dict[str, Any]], stored: Mapping[str, Sequence[RowLifetime]], revision: int
) -> Iterator[dict[str, Any]]:
    """Yields the rows of which the revision sees none yet; each lasts until another process saw it come."""
    for item in items:
        rows = stored.get(table.read_lifetime(item).content, ())
        if not any(row.is_seen_by(revision) for row in rows):
            yield table.copy_row(item, revision, _find_next_revision(rows, revision))


def _find_next_revision(rows: Iterable[RowLifetime], revision: int) -> int:
    return min((row.since for row in rows if row.since > revision), default=FOREVER)


def _end_rows(table: MilvusTable, keys: Sequence[str], revision: int) -> None:
    """Ends rows at a revision."""
    for part in _split_parts(keys):
        rows = [(item, table.read_lifetime(item)) for item in table.get_rows(part)]
        table.write_rows([table.copy_row(item, row.since, revision) for item, row in rows if row.is_seen_by(revision)])


def _settle_rows(table: MilvusTable, before: int, revision: int, named: Collection[str]) -> None:
    """Makes both revisions see the same rows of all chunks that the change does not name.

    A revision in between, of a process that was killed there or from before the database was restored, may have left
    them otherwise.
    """
    touched = defaultdict[str, list[RowLifetime]](list)
    for row in table.list_changed(before, revision):
        if row.chunk not in named:
            touched[row.content].append(row)
    for rows in touched.values():
        was, is_now = (any(row.is_seen_by(each) for row in rows) for each in (before, revision))
        if was and not is_now:
            table.write_rows(
                [
                    table.copy_row(item, revision, _find_next_revision(rows, revision))
                    for item in table.get_rows([rows[0].key])
                ]
            )
        elif is_now and not was:
            _end_rows(table, [row.key for row in rows], revision)


def _count_terms(table: MilvusTable, before: int, change: IndexChange, done: RevisionStep) -> None:
    """Writes in how many chunks terms occur now."""
    revision, first = change.revision, change.first_term
    moved = Counter[int]()
    for sign, documents in ((1, (item.terms for item in done.new)), (-1, (row.terms for row in done.gone))):
        for terms in documents:
            for number in np.unique(terms).tolist():
                moved[number] += sign
    new_terms = _read_new_terms(table, first, change.new_terms)
    rows = {
        row.number: row
        for part in _split_parts(moved.keys() - new_terms.keys(), _TERMS)
        for row in table.find_terms_by_id(part)
    }
    if lost := moved.keys() - rows.keys() - new_terms.keys():
        raise IndexUnavailable(f"{len(lost)} terms of the index are lost; a restart writes them again")
    rows |= new_terms
    counts = {
        number: (row.count_at(before), max(row.count_at(before) + moved[number], 0)) for number, row in rows.items()
    }
    written = [row.record_count(revision, counts[number][1]) for number, row in rows.items()]
    table.write_terms([row for row in written if row != rows[row.number] or row.number in new_terms])
    _settle_terms(table, before, revision, rows.keys())
    changed = [number for number, (old, new) in counts.items() if old != new]
    done.terms = [rows[number].term for number in changed]
    done.old_counts = np.array([counts[number][0] for number in changed], np.int64)
    done.new_counts = np.array([counts[number][1] for number in changed], np.int64)


def _read_new_terms(table: MilvusTable, first: int, terms: Sequence[str]) -> dict[int, TermRow]:
    """Returns the rows, by id, of terms that are new to this index but may have been written by another process."""
    known = {row.term: row for part in _split_parts(terms, _TERMS) for row in table.find_terms(part)}
    return {
        number: TermRow(term, number, known[term].history if term in known else ())
        for number, term in enumerate(terms, first)
    }


def _settle_terms(table: MilvusTable, before: int, revision: int, counted: Collection[int]) -> None:
    """Does for terms what `_settle_rows` does for chunks."""
    others = [row for row in table.list_terms_changed_after(before) if row.number not in counted]
    settled = [(row, row.record_count(revision, row.count_at(before))) for row in others]
    table.write_terms([right for row, right in settled if right != row])


def _write_vocabulary(table: MilvusTable, change: IndexChange, counts: Numbers) -> None:
    """Makes the terms of the table those of a change, which has all of them, each with its count."""
    right, wrong = np.zeros(len(counts), bool), []
    for row in table.list_terms():
        is_known = 0 <= row.number < len(counts) and change.new_terms[row.number] == row.term
        count = int(counts[row.number]) if is_known else 0
        noted = TermRow(row.term, row.number if is_known else -1, row.history).record_count(change.revision, count)
        if is_known:
            right[row.number] = True
        if noted != row:
            wrong.append(noted)
    table.write_terms(wrong)
    for part in _split_parts(np.flatnonzero(~right).tolist(), _TERMS):
        missing = [TermRow(change.new_terms[number], number) for number in part]
        table.write_terms([row.record_count(change.revision, int(counts[row.number])) for row in missing])


def _count_documents(documents: Iterable[TermIds], terms: int) -> Numbers:
    """Returns in how many documents each term occurs, shape (terms,)."""
    counts = np.zeros(terms, np.int64)
    for document in documents:
        counts[np.unique(document)] += 1
    return counts


def _split_parts(items: Iterable[_Item], size: int = _PART) -> Iterator[list[_Item]]:
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part
