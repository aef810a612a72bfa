"""Lays corrections over the chunks of a version: the same passage, or the same place in a passage that changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from app.corrections.types import ChunkCorrection, ChunkEdit
from knowledge.text import fold
from knowledge.types import Chunk, CorrectedChunks, CorrectionState

CONTEXT_CHARS = 4
"""Around what was corrected, these have to stand in the new version as they stood."""
NEAR = 0.9
"""Shared pairs of characters, twice over both, from which a passage counts as the one whose heading was corrected or
that was excluded; its numbers have to be the same.
"""
HELD = 0.5
"""Of the pairs of characters of a passage, so many have to be in one that may hold what was corrected."""
_TRIED = 3
Entry = tuple[Chunk, ...]
"""Chunks that are wordings of one question; else a chunk alone."""


def corrected(corrections: Sequence[ChunkCorrection], chunks: Sequence[Chunk], basis: str) -> CorrectedChunks:
    """What the chunks of a version are under corrections, and which of these hold for it.

    A corrected text goes over a passage that changed elsewhere by its changes alone: a new number is not written over
    by an old correction. Each passage takes one correction, and exact matches come first.
    """
    entries = _entries(chunks)
    found: dict[str, tuple[ChunkCorrection, ChunkEdit]] = {}
    states: dict[str, CorrectionState] = {}
    for search in (_exact, _near):
        for correction in corrections:
            if correction.id in states:
                continue
            free = {key: entry for key, entry in entries.items() if key not in found}
            if match := search(correction, free):
                key, edit = match
                found[key] = correction, edit
                states[correction.id] = CorrectionState.APPLIED
            elif _says_it(correction, free.values()):
                states[correction.id] = CorrectionState.ADOPTED
    shown: list[Chunk] = []
    excluded: list[Chunk] = []
    by: dict[str, str] = {}
    rebased: dict[str, tuple[Chunk, str | None]] = {}
    for key, entry in entries.items():
        if key not in found:
            shown.extend(entry)
            continue
        correction, edit = found[key]
        (excluded if edit.excluded else shown).extend(edited_chunk(chunk, edit) for chunk in entry)
        by |= {chunk.id: correction.id for chunk in entry}
        rebased[correction.id] = entry[0], edit.text
    unmatched = {correction.id: CorrectionState.UNMATCHED for correction in corrections}
    return CorrectedChunks(tuple(shown), tuple(excluded), by, unmatched | states, rebased, basis)


def edited_chunk(chunk: Chunk, edit: ChunkEdit) -> Chunk:
    """The chunk as it is to be."""
    text = chunk.text if edit.text is None else edit.text
    heading = chunk.heading_path if edit.heading_path is None else edit.heading_path
    return replace(chunk, text=text, heading_path=heading)


def merged(old: str, wanted: str, new: str) -> str | None:
    """`new` with what makes `wanted` of `old`; None where a place of that is not in `new` as it was in `old`."""
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    made = new
    for tag, start, end, at, until in reversed(SequenceMatcher(None, old, wanted, autojunk=False).get_opcodes()):
        if tag == "equal":
            continue
        first, last = max(0, start - CONTEXT_CHARS), min(len(old), end + CONTEXT_CHARS)
        shift = next((b - a for a, b, size in blocks if a <= first and last <= a + size), None)
        if shift is None:
            return None
        made = made[: start + shift] + wanted[at:until] + made[end + shift :]
    return made


def _entries(chunks: Sequence[Chunk]) -> Mapping[str, Entry]:
    entries: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        entries.setdefault(chunk.entry or chunk.id, []).append(chunk)
    return {key: tuple(entry) for key, entry in entries.items()}


def _exact(correction: ChunkCorrection, entries: Mapping[str, Entry]) -> tuple[str, ChunkEdit] | None:
    old = correction.original
    same = [
        (entry[0].heading_path != old.heading_path, abs(entry[0].ordinal - old.ordinal), key)
        for key, entry in entries.items()
        if _form(entry[0].text) == _form(old.text) and _asks(correction, entry)
    ]
    return (min(same)[2], correction.edit) if same else None


def _near(correction: ChunkCorrection, entries: Mapping[str, Entry]) -> tuple[str, ChunkEdit] | None:
    old, edit = correction.original, correction.edit
    pairs = _pairs(old.text)
    held = ((_shared(pairs, _pairs(entry[0].text)), key) for key, entry in entries.items() if _asks(correction, entry))
    likely = sorted((item for item in held if item[0] >= HELD * pairs.total()), reverse=True)[:_TRIED]
    for shared, key in likely:
        text = entries[key][0].text
        if edit.text is not None and not edit.excluded:
            if (made := merged(old.text, edit.text, text)) is not None and made != text:
                return key, replace(edit, text=made)
        elif 2 * shared >= NEAR * (pairs.total() + _pairs(text).total()) and _numbers(text) == _numbers(old.text):
            return key, replace(edit, text=None)
    return None


def _says_it(correction: ChunkCorrection, entries: Iterable[Entry]) -> bool:
    """Whether a passage is what the correction would make of another one."""
    old, edit = correction.original, correction.edit
    if edit.excluded or edit.text is None:
        return False
    heading = edit.heading_path
    return any(
        _form(entry[0].text) == _form(edit.text)
        and _asks(correction, entry)
        and (heading is None or heading == entry[0].heading_path)
        for entry in entries
        if entry[0].question is not None or old.question is None
    )


def _asks(correction: ChunkCorrection, entry: Entry) -> bool:
    question = correction.original.question
    if question is None:
        return entry[0].question is None
    return any(chunk.question is not None and _form(chunk.question) == _form(question) for chunk in entry)


def _form(text: str) -> str:
    return " ".join(fold(text).split())


def _pairs(text: str) -> Counter[str]:
    form = _form(text)
    return Counter(form[at : at + 2] for at in range(max(1, len(form) - 1)))


def _shared(one: Counter[str], other: Counter[str]) -> int:
    return (one & other).total()


def _numbers(text: str) -> list[str]:
    return "".join(character if character.isdigit() else " " for character in _form(text)).split()
