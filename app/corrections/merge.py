"""Lays corrections over the chunks of a version: the same passage, or the same place in a passage that changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from app.corrections.types import ChunkCorrection, ChunkEdit, OriginalPassage
from knowledge.text import fold
from knowledge.types import Chunk, CorrectedChunks, CorrectionState

# Around what was corrected, these have to stand in the new version as they stood.
CONTEXT_CHARS = 4
# Shared pairs of characters, twice over both, from which a passage counts as the one whose heading was corrected or
# that was excluded; its numbers have to be the same.
NEAR = 0.9
# Of the pairs of characters of a passage, so many have to be in one that may hold what was corrected.
HELD = 0.5
_TRIED = 3
# Chunks that are wordings of one question; else a chunk alone.
Entry = tuple[Chunk, ...]


def apply_corrections(corrections: Sequence[ChunkCorrection], chunks: Sequence[Chunk], basis: str) -> CorrectedChunks:
    """Applies corrections to the chunks of a version, and returns which of them still hold for it.

    Where a passage changed elsewhere, only the changes that the correction makes are applied: an old correction does
    not overwrite a new number. Each passage takes one correction, and exact matches come first.
    """
    entries = _group_entries(chunks)
    passages = [_Passage(key, entry) for key, entry in entries.items()]
    found: dict[str, tuple[ChunkCorrection, ChunkEdit]] = {}
    states: dict[str, CorrectionState] = {}
    for likely in (_find_same, _find_alike):
        left = [correction for correction in corrections if correction.id not in states]
        free = [passage for passage in passages if passage.key not in found]
        for correction, candidates in zip(left, likely(left, free), strict=True):
            candidates = [passage for passage in candidates if passage.key not in found]
            if match := _find_fitting(correction, candidates, exact=likely is _find_same):
                key, edit = match
                found[key] = correction, edit
                states[correction.id] = CorrectionState.APPLIED
            elif _is_corrected_already(correction, (passage for passage in free if passage.key not in found)):
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
        (excluded if edit.excluded else shown).extend(edit_chunk(chunk, edit) for chunk in entry)
        by |= {chunk.id: correction.id for chunk in entry}
        rebased[correction.id] = entry[0], edit.text
    unmatched = {correction.id: CorrectionState.UNMATCHED for correction in corrections}
    return CorrectedChunks(tuple(shown), tuple(excluded), by, unmatched | states, rebased, basis)


def edit_chunk(chunk: Chunk, edit: ChunkEdit) -> Chunk:
    """Returns a chunk with an edit applied."""
    text = chunk.text if edit.text is None else edit.text
    heading = chunk.heading_path if edit.heading_path is None else edit.heading_path
    return replace(chunk, text=text, heading_path=heading, layout=chunk.layout if text == chunk.text else None)


def merge_text(old: str, wanted: str, new: str) -> str | None:
    """Returns `new` with the changes that turn `old` into `wanted`; None if `new` differs from `old` at one of them."""
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


def _group_entries(chunks: Sequence[Chunk]) -> Mapping[str, Entry]:
    entries: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        entries.setdefault(chunk.entry or chunk.id, []).append(chunk)
    return {key: tuple(entry) for key, entry in entries.items()}


class _Passage:
    """An entry, folded once for all corrections."""

    def __init__(self, key: str, entry: Entry) -> None:
        self.key = key
        self.first = entry[0]
        self.form = _fold_text(entry[0].text)
        self.questions = frozenset(_fold_text(chunk.question) for chunk in entry if chunk.question is not None)

    def is_about(self, question: str | None) -> bool:
        """Whether it answers this question, or none where there is none."""
        return self.first.question is None if question is None else _fold_text(question) in self.questions


def _find_same(corrections: Sequence[ChunkCorrection], passages: Sequence[_Passage]) -> list[list[_Passage]]:
    """Returns, for each correction, the passages that say what it corrects, the one that is meant first."""
    by_form: dict[str, list[_Passage]] = {}
    for passage in passages:
        by_form.setdefault(passage.form, []).append(passage)

    def find_passages(old: OriginalPassage) -> list[_Passage]:
        said = [passage for passage in by_form.get(_fold_text(old.text), ()) if passage.is_about(old.question)]
        return sorted(
            said,
            key=lambda one: (one.first.heading_path != old.heading_path, abs(one.first.ordinal - old.ordinal), one.key),
        )

    return [find_passages(correction.original) for correction in corrections]


def _find_alike(corrections: Sequence[ChunkCorrection], passages: Sequence[_Passage]) -> list[list[_Passage]]:
    """Returns, for each correction, the passages about its question that contain much of what it corrects, those with
    the most pairs of characters in common first.

    Every passage is cut into pairs once, and its pairs are dropped then: those of a long document take more memory than
    its text.
    """
    wanted = [_count_pairs(_fold_text(correction.original.text)) for correction in corrections]
    by_pair: dict[str, list[tuple[int, int]]] = {}
    for number, pairs in enumerate(wanted):
        for pair, count in pairs.items():
            by_pair.setdefault(pair, []).append((number, count))
    likely: list[list[tuple[int, str, _Passage]]] = [[] for _ in corrections]
    for passage in passages if corrections else ():
        shared = Counter[int]()
        for pair, count in _count_pairs(passage.form).items():
            for number, old in by_pair.get(pair, ()):
                shared[number] += min(count, old)
        for number, common in shared.items():
            enough = common >= HELD * wanted[number].total()
            if enough and passage.is_about(corrections[number].original.question):
                likely[number].append((common, passage.key, passage))
    return [[passage for *_, passage in sorted(passages, key=lambda one: one[:2], reverse=True)] for passages in likely]


def _find_fitting(
    correction: ChunkCorrection, candidates: Sequence[_Passage], *, exact: bool
) -> tuple[str, ChunkEdit] | None:
    if exact:
        return (candidates[0].key, correction.edit) if candidates else None
    return _find_near(correction, candidates[:_TRIED])


def _find_near(correction: ChunkCorrection, likely: Sequence[_Passage]) -> tuple[str, ChunkEdit] | None:
    old, edit = correction.original, correction.edit
    pairs = _count_pairs(_fold_text(old.text))
    for passage in likely:
        text = passage.first.text
        if edit.text is not None and not edit.excluded:
            if (made := merge_text(old.text, edit.text, text)) is not None and made != text:
                return passage.key, replace(edit, text=made)
            continue
        others = _count_pairs(passage.form)
        near = 2 * (pairs & others).total() >= NEAR * (pairs.total() + others.total())
        if near and _find_numbers(text) == _find_numbers(old.text):
            return passage.key, replace(edit, text=None)
    return None


def _is_corrected_already(correction: ChunkCorrection, passages: Iterable[_Passage]) -> bool:
    """Whether a passage is what the correction would make of another one."""
    old, edit = correction.original, correction.edit
    if edit.excluded or edit.text is None:
        return False
    heading, form = edit.heading_path, _fold_text(edit.text)
    return any(
        passage.form == form
        and passage.is_about(old.question)
        and (heading is None or heading == passage.first.heading_path)
        for passage in passages
        if passage.first.question is not None or old.question is None
    )


def _fold_text(text: str) -> str:
    return " ".join(fold(text).split())


def _count_pairs(form: str) -> Counter[str]:
    return Counter(form[at : at + 2] for at in range(max(1, len(form) - 1)))


def _find_numbers(text: str) -> list[str]:
    return "".join(character if character.isdigit() else " " for character in _fold_text(text)).split()
