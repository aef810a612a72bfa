"""What an entry must be, by itself and beside the others. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from agents.understanding.entities import load_shipped_extractor
from app.vocabulary.types import MAX_ENTRIES, Refusal
from knowledge.text import fold, normalize_term
from knowledge.vocabulary import VocabularyEntry, VocabularyKind

_NAMES = {
    VocabularyKind.WORD: "词语",
    VocabularyKind.SYNONYM: "同义词",
    VocabularyKind.ABBREVIATION: "简称",
    VocabularyKind.PROTECTED: "受保护的型号",
    VocabularyKind.STOP: "停用词",
    VocabularyKind.ENTITY: "实体",
}
_WITH_OTHERS = {VocabularyKind.SYNONYM, VocabularyKind.ABBREVIATION, VocabularyKind.ENTITY}
_ADDING = {VocabularyKind.SYNONYM, VocabularyKind.ABBREVIATION}


def build_key(entry: VocabularyEntry) -> tuple[VocabularyKind, str]:
    """Returns the key of an entry; another entry with the same key replaces it."""
    return entry.kind, normalize_term(entry.term)


class CurrentEntries:
    """The entries that there are, and those taken so far."""

    def __init__(self, entries: Iterable[VocabularyEntry]) -> None:
        self.entries = {build_key(entry): entry for entry in entries}
        self._kinds: dict[str, set[tuple[VocabularyKind, str]]] = {}
        for key, entry in self.entries.items():
            self._note(key, entry)

    def admit_entry(self, entry: VocabularyEntry) -> Refusal | None:
        """Lets an entry in, in the place of one with the same key; or says why not."""
        if refusal := find_malformed(entry) or self._find_conflict(entry):
            return refusal
        key = build_key(entry)
        if key not in self.entries and len(self.entries) >= MAX_ENTRIES:
            return Refusal("vocabulary_full", f"词表最多 {MAX_ENTRIES} 条。")
        if known := self.entries.get(key):
            for term in _list_searched(known):
                self._kinds[term].discard(key)
        self.entries[key] = entry
        self._note(key, entry)
        return None

    def _note(self, key: tuple[VocabularyKind, str], entry: VocabularyEntry) -> None:
        for term in _list_searched(entry):
            self._kinds.setdefault(term, set()).add(key)

    def _find_conflict(self, entry: VocabularyEntry) -> Refusal | None:
        own = build_key(entry)
        for term in _list_searched(entry):
            for kind, head in sorted(self._kinds.get(term, set()) - {own}):
                if (kind is VocabularyKind.STOP) != (entry.kind is VocabularyKind.STOP):
                    return Refusal(
                        "also_stop_word", f"“{term}”已经是{_NAMES[kind]}，不能又是{_NAMES[entry.kind]}。", term
                    )
                if kind in _ADDING and entry.kind in _ADDING:
                    return self._find_chain(entry, self.entries[kind, head], term)
        return None

    def _find_chain(self, entry: VocabularyEntry, other: VocabularyEntry, term: str) -> Refusal | None:
        """Returns the refusal of an entry that would form a chain with another one.

        Two one-way entries may lead to the same term; but if one leads to the next, nobody can tell what a word finds.
        """
        pairs = (entry, other), (other, entry)
        leads = any(_list_heads(one) & _list_ends(two) for one, two in pairs) or bool(
            _list_heads(entry) & _list_heads(other)
        )
        shown = f"“{term}”已经在“{other.term}”这一条{_NAMES[other.kind]}里，两条连起来会互相牵连。请合成一条。"
        return Refusal("synonym_chain", shown, term) if leads else None


def find_malformed(entry: VocabularyEntry) -> Refusal | None:
    """Returns why an entry cannot be accepted whatever the others are; None if it can."""
    own, others = normalize_term(entry.term), list(map(normalize_term, entry.others))
    if not own or (entry.kind is not VocabularyKind.ENTITY and not all(others)):
        return Refusal("empty_term", "词里没有可以检索的字。", entry.term)
    if entry.kind in _WITH_OTHERS and not others:
        return Refusal("others_missing", f"{_NAMES[entry.kind]}要写明对应的词。", entry.term)
    if entry.kind not in _WITH_OTHERS and others:
        return Refusal("others_unused", f"{_NAMES[entry.kind]}没有对应的词。", entry.term)
    if entry.kind in {VocabularyKind.ABBREVIATION, VocabularyKind.ENTITY} and len(others) > 1:
        return Refusal("one_other", f"{_NAMES[entry.kind]}只能对应一个词。", entry.term)
    if len({own, *others}) <= len(others):
        return Refusal("same_term", "同一个词写了两遍。", entry.term)
    if entry.kind is VocabularyKind.STOP and not own.isalnum():
        return Refusal("stop_word_with_signs", "停用词只能由字、字母和数字组成。", entry.term)
    if entry.kind is VocabularyKind.ENTITY and entry.others[0] not in (kinds := load_shipped_extractor().kinds):
        return Refusal("unknown_entity_kind", f"实体种类须是 {'、'.join(kinds)} 之一。", entry.others[0])
    return None


def _list_searched(entry: VocabularyEntry) -> set[str]:
    """Returns the words that an entry is about."""
    return {normalize_term(entry.term), *(map(normalize_term, entry.others) if entry.kind in _ADDING else ())}


def _list_heads(entry: VocabularyEntry) -> set[str]:
    """Words that add others."""
    return set(entry.affected_terms)


def _list_ends(entry: VocabularyEntry) -> set[str]:
    """Words that are added."""
    return (
        _list_searched(entry)
        if entry.kind is VocabularyKind.SYNONYM and entry.both_ways
        else set(map(normalize_term, entry.others))
    )


def search_form(entry: VocabularyEntry) -> str:
    """Returns the text of an entry that a search of the list looks at."""
    return " ".join(map(fold, (entry.term, *entry.others)))
