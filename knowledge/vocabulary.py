"""A tenant's vocabulary, and which analyzer belongs to which revision of its index."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from knowledge.text import Analyzer, normalize_for_matching, normalize_term


class VocabularyKind(StrEnum):
    """The purpose of a vocabulary entry."""

    # A word that stays whole.
    WORD = "word"
    # Terms that mean the same; one way, only the first is found by the others' words.
    SYNONYM = "synonym"
    # A customers' short name and its full form.
    ABBREVIATION = "abbreviation"
    # A model number or code: stays whole, and nothing puts it right.
    PROTECTED = "protected"
    # A word that questions are not searched by.
    STOP = "stop"
    # A name and what kind of thing it names.
    ENTITY = "entity"


@dataclass(frozen=True, slots=True)
class VocabularyEntry:
    """`term` and what belongs to it: other synonyms, the full form, or the kind of an entity.

    both_ways: each of the synonyms is found by every other one.
    """

    kind: VocabularyKind
    term: str
    others: tuple[str, ...] = ()
    both_ways: bool = True

    @property
    def affected_terms(self) -> tuple[str, ...]:
        """The terms, in the form of `knowledge.text.normalize_for_matching`, whose texts get other tokens by this
        entry.
        """
        if self.kind is VocabularyKind.SYNONYM and self.both_ways:
            return tuple(map(normalize_term, (self.term, *self.others)))
        return (normalize_term(self.term),)


@dataclass(frozen=True, slots=True)
class TenantVocabulary:
    """All entries of a tenant in one version; version 0 is empty."""

    version: int = 0
    entries: tuple[VocabularyEntry, ...] = ()

    def list_entries(self, *kinds: VocabularyKind) -> list[VocabularyEntry]:
        """Returns the entries of these kinds."""
        return [entry for entry in self.entries if entry.kind in kinds]

    def build_analyzer(self) -> Analyzer:
        """Builds the analyzer. Takes a moment for thousands of entries, so do not call it on the event loop."""
        protected = [entry.term for entry in self.list_entries(VocabularyKind.PROTECTED)]
        named = [
            entry.term
            for entry in self.list_entries(VocabularyKind.WORD, VocabularyKind.ABBREVIATION, VocabularyKind.ENTITY)
        ]
        return Analyzer(
            named,
            self._build_synonyms(),
            stop_words=[entry.term for entry in self.list_entries(VocabularyKind.STOP)],
            expansions=self._build_expansions(),
            protected=protected,
            entities={entry.term: entry.others[0] for entry in self.list_entries(VocabularyKind.ENTITY)},
            version=self.version,
        )

    def _build_synonyms(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for entry in self.list_entries(VocabularyKind.SYNONYM, VocabularyKind.ABBREVIATION):
            group = entry.term, *entry.others
            heads = group if entry.kind is VocabularyKind.SYNONYM and entry.both_ways else group[:1]
            for head in heads:
                added = tuple(term for term in group if term != head)
                found[head] = tuple(dict.fromkeys((*found.get(head, ()), *added)))
        return found

    def _build_expansions(self) -> dict[str, str]:
        """Maps terms to what stands for them in the other form of a question: the full form, or the first of their
        group.
        """
        found: dict[str, str] = {}
        for entry in self.list_entries(VocabularyKind.SYNONYM):
            if entry.both_ways:
                found |= dict.fromkeys(entry.others, entry.term)
            else:
                found[entry.term] = entry.others[0]
        return found | {entry.term: entry.others[0] for entry in self.list_entries(VocabularyKind.ABBREVIATION)}


NO_VOCABULARY = TenantVocabulary()


def find_affected_texts(old: TenantVocabulary, new: TenantVocabulary) -> Callable[[str], bool]:
    """Returns a function which tells whether a text may get other tokens by the new vocabulary than by the old one.

    Both are needed whole: what a synonym adds to a text is cut by all words.
    """
    changed = set(old.entries) ^ set(new.entries)
    terms = {term for entry in changed for term in entry.affected_terms} - {""}
    for entry in {*old.list_entries(*_ADDING), *new.list_entries(*_ADDING)}:
        others = [normalize_term(term) for term in (entry.term, *entry.others)]
        if any(term in other for term in terms for other in others):
            terms.update(entry.affected_terms)

    def can_differ(text: str) -> bool:
        folded = normalize_for_matching(text)
        return any(term in folded for term in terms)

    return can_differ


_ADDING = VocabularyKind.SYNONYM, VocabularyKind.ABBREVIATION


class AnalyzerHistory(Protocol):
    """The analyzers that made the tokens of an index: a question is cut by the one whose index it meets."""

    def get_analyzer(self, revision: int) -> Analyzer:
        """Returns the analyzer of an index at this revision."""
        ...


class AnalyzerRevisions:
    """The analyzers of one tenant's index by the revision from which each made its tokens; keeps a few."""

    def __init__(self, first: Analyzer, keep: int = 4) -> None:
        self._known: list[tuple[int, Analyzer]] = [(-1, first)]
        self._keep = keep

    def get_analyzer(self, revision: int) -> Analyzer:
        """See `AnalyzerHistory`."""
        known = self._known
        index = bisect_right(known, revision, key=lambda item: item[0])
        return known[max(index - 1, 0)][1]

    def note(self, revision: int, analyzer: Analyzer) -> None:
        """Records that from this revision on, which the index does not show yet, this analyzer makes the tokens."""
        known = [item for item in self._known if item[0] < revision]
        if not known or known[-1][1] is not analyzer:
            known.append((revision, analyzer))
        self._known = known[-self._keep :]
