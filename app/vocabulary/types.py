"""Entries of a vocabulary, and what becomes of those that are put into it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from knowledge.vocabulary import VocabularyEntry

MAX_TERM_CHARS = 64
MAX_OTHERS = 10
# Of one tenant: some 3 MB of its dictionary, and a second to build it.
MAX_ENTRIES = 10_000


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry with its id, and since when it stands there."""

    id: str
    entry: VocabularyEntry
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an entry cannot be taken: a code for programs, a sentence for people, and the term that stands in its way."""

    code: str
    message: str
    term: str = ""


@dataclass(frozen=True, slots=True)
class PutReport:
    """What became of the entries, in the order they came: stored, or refused. revision: that searches have to reach; 0
    where nothing changed.
    """

    results: tuple[StoredEntry | Refusal, ...]
    revision: int
