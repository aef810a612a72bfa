"""The common questions about one's own data, without a language model."""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from pathlib import Path

from agents.business.offline.language import shipped_language
from agents.business.offline.reader import Reader
from agents.business.offline.reading import Give, Reading, Rows
from agents.business.offline.statements import statement
from agents.business.offline.subjects import Subjects, load_subjects
from agents.business.schema import Schema
from agents.business.types import Plan
from agents.excerpt import is_whole
from agents.routing.types import Intent
from agents.understanding.entities import shipped_extractor
from knowledge.text import fold

READ = 64
"""Readings that are kept: the router asks for one, and then the agent of the same turn."""


class DeclaredQueries:
    """Answers from the subjects of a description; see `OfflineQueries`. Thread-safe."""

    def __init__(self, subjects: Subjects) -> None:
        self._language = shipped_language()
        self._read = lru_cache(READ)(Reader(subjects, self._language, shipped_extractor()).read)

    def plan(self, text: str, today: date) -> Plan | None:
        """See `OfflineQueries.plan`."""
        reading = self._read(text, today)
        if reading is None or (reading.guessed and not self._tellable(reading)):
            return None
        said = reading.said | ({"unread": "、".join(reading.unread)} if reading.guessed else {})
        return Plan(statement(reading), reading.subject.name, reading.certain, said)

    def _tellable(self, reading: Reading) -> bool:
        """Whether rows that are too many, told as such, are better than none: of a narrowed list, never of a number."""
        if not reading.unread or reading.wanted.give is not Give.LIST:
            return False
        return (reading.rows != Rows() or bool(reading.subject.prefer)) and not self._language.weighty.search(
            "、".join(reading.unread)
        )

    def sure_intents(self, text: str, *, member: bool) -> frozenset[Intent]:
        """For a text that asks for data of one's own, all of it understood: that, and rules besides.

        What names neither an owner nor rows (退款什么时候到账) asks for both, if a member asks who is signed in.
        """
        reading = self._read(text, date.today()) if is_whole(text) else None
        if reading is None or not reading.certain:
            return frozenset()
        plain, rows = self._language.plain(fold(text)), reading.rows
        timed = rows.period and self._language.told.search(plain)
        narrow = rows.numbers or timed or rows.amounts or rows.terms or reading.wanted.give is not Give.LIST
        own = narrow or self._language.own.search(plain)
        if not (own or member):
            return frozenset()
        alone = own and not reading.rules
        return frozenset({Intent.BUSINESS_QUERY} if alone else {Intent.BUSINESS_QUERY, Intent.KNOWLEDGE_QA})


def load_queries(path: Path, schema: Schema) -> DeclaredQueries:
    """The queries of a business description. Raises InvalidConfiguration, naming the subject."""
    return DeclaredQueries(load_subjects(path, schema))
