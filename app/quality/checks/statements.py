"""What passages say with numbers: of what, which words around it, how much."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agents.passages.sentences import split_sentences
from agents.verification.claims import clauses, parts
from agents.verification.names import latin_names, without_codes
from agents.verification.quantities import COUNT, DATE, Quantity, in_digits, quantities
from agents.verification.wording import without_function_words
from app.quality.checks.prose import prose_of
from knowledge.text import fold
from knowledge.types import Chunk

MIN_SUBJECT = 2
MAX_WORDS = 40
_NO_MEASURE = frozenset({DATE, "year", "month"})
"""Days and years name times rather than measure anything."""
_VERSION = re.compile(r"(?<![\d.])v?\d+(?:\.\d+){2,}(?![\d.]*\d)")
"""2.1.30 names a version; no number has two points."""


@dataclass(frozen=True, slots=True)
class NumberStatement:
    """A clause with numbers. said: these; words: what else it says, in order, with the clauses without numbers that
    come before it in its sentence; names: models and foreign words; sentence, context: folded, without spaces, the
    context being title, headings and question; subject: what its document is about, as its passages say it.
    """

    chunk: Chunk
    text: str
    said: frozenset[Quantity]
    words: tuple[str, ...]
    names: frozenset[str]
    sentence: str
    context: str
    subject: str


def statements_of(chunk: Chunk, subject: str) -> Iterator[NumberStatement]:
    """All of a passage."""
    context = tight(f"{chunk.context} {chunk.question or ''}")
    for sentence in (found for piece in prose_of(chunk) for found in split_sentences(piece)):
        for part in parts(sentence.text):
            before: list[str] = []
            for clause in clauses(part):
                folded = fold(clause)
                found = quantities(_VERSION.sub(" ", without_codes(folded)))
                said = frozenset(filter(None, (measured(one, folded) for one in found.said)))
                if not said:
                    before.append(folded)
                    continue
                around = " ".join((*before, folded))
                words = words_of(f"{' '.join(before)} {found.rest}")
                if len(words) <= MAX_WORDS:
                    yield NumberStatement(
                        chunk, clause.strip(), said, words, latin_names(around), tight(around), context, subject
                    )


def measured(quantity: Quantity, folded: str) -> Quantity | None:
    """With what is counted as its unit: 48 个座位 is no 最多 16 张. None of a number that measures nothing: things are
    counted in whole numbers, 4.27 版 is a name.
    """
    value, unit = quantity
    if unit in _NO_MEASURE:
        return None
    if unit not in ("", COUNT):
        return quantity
    if not value.isdigit():
        return None
    counted = re.search(rf"(?<![a-z\d.]){re.escape(value)}\s*([\u4e00-\u9fff])", in_digits(folded))
    return (value, counted.group(1)) if counted else None


def subject_of(title: str, texts: Sequence[str]) -> str:
    """The longest piece of a title that passages of the document say again; the whole title where none does."""
    name, bodies = tight(title), [tight(text) for text in texts]
    best = ""
    for start in range(len(name)):
        for end in range(start + max(MIN_SUBJECT, len(best) + 1), len(name) + 1):
            if not any(name[start:end] in body for body in bodies):
                break
            best = name[start:end]
    return best or name


@lru_cache(4096)
def tight(text: str) -> str:
    """Folded, letters and digits alone."""
    return "".join(filter(str.isalnum, fold(text)))


def words_of(text: str) -> tuple[str, ...]:
    """Words of a folded text but those of function; signs left out."""
    import jieba

    plain = without_function_words(text)
    return tuple(word for word in jieba.dt.cut(plain, HMM=False) if any(map(str.isalnum, word)))
