"""Answers the common questions about one's own data without a language model."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import lru_cache
from pathlib import Path

from agents.business.offline.reader import Reader
from agents.business.offline.row_request import RowRequest
from agents.business.offline.statements import build_statement
from agents.business.offline.subjects import load_subjects
from agents.business.schema import Schema
from agents.business.types import Give, Plan
from agents.excerpt import is_whole
from agents.routing.types import Intent

# Readings that are kept: the router asks for one, and then the agent of the same turn.
READ = 64


class DeclaredQueries:
    """Plans for the subjects of a description; see `OfflineQueries`. Thread-safe."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._read = lru_cache(READ)(reader.read)

    def plan(self, text: str, today: date) -> Plan | None:
        """See `OfflineQueries.plan`."""
        readings = self._read(text, today)
        if not readings or not all(map(self._can_be_told, readings)):
            return None
        first, *others = [_build_plan(reading) for reading in readings]
        return replace(first, also=tuple(others))

    def _can_be_told(self, reading: RowRequest) -> bool:
        """Whether rows that are too many, marked as such, are better than none: of a narrowed list, never of a
        number.
        """
        if not reading.unread:
            return True
        narrow = reading.wanted.give is Give.LIST and reading.named
        return narrow and not any(map(self._reader.is_weighty, reading.unread))

    def find_sure_intents(self, text: str, *, member: bool) -> frozenset[Intent]:
        """Returns the intents of a text that asks for own data and is fully understood, and rules if it asks for these
        too.

        A text that names neither an owner nor rules (退款什么时候到账) asks for both, if a member asks who is signed
        in.
        """
        readings = self._read(text, date.today()) if is_whole(text) else ()
        if not readings or not all(reading.certain for reading in readings):
            return frozenset()
        narrow = any(reading.tests or reading.wanted.give is not Give.LIST for reading in readings)
        own = narrow or self._reader.has_owner_word(text)
        if not (own or member):
            return frozenset()
        alone = own and not readings[0].rules
        return frozenset({Intent.BUSINESS_QUERY} if alone else {Intent.BUSINESS_QUERY, Intent.KNOWLEDGE_QA})


def _build_plan(reading: RowRequest) -> Plan:
    reply_words = {
        **reading.reply_words,
        **({"unread": "、".join(odd.text for odd in reading.unread)} if reading.unread else {}),
    }
    return Plan(build_statement(reading), reading.subject.name, reading.certain, reply_words)


def load_queries(path: Path, schema: Schema) -> DeclaredQueries:
    """Loads the queries of a business description. Raises InvalidConfiguration, naming the subject."""
    return DeclaredQueries(Reader(load_subjects(path, schema), schema))
