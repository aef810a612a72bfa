"""The statements of passages with numbers: about what, in which words, how much."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agents.passages.sentences import split_sentences
from agents.verification.claims import split_clauses, split_parts
from agents.verification.names import find_latin_names, remove_codes
from agents.verification.quantities import COUNT, DATE, Quantity, convert_numerals, find_quantities
from agents.verification.wording import remove_function_words
from app.quality.checks.prose import extract_prose
from knowledge.text import fold
from knowledge.types import Chunk

MIN_SUBJECT = 2
MAX_WORDS = 40
# Days and years name times rather than measure anything.
_NO_MEASURE = frozenset({DATE, "year", "month"})
# 2.1.30 names a version; no number has two points.
_VERSION = re.compile(r"(?<![\d.])v?\d+(?:\.\d+){2,}(?![\d.]*\d)")


@dataclass(frozen=True, slots=True)
class NumberStatement:
    """A clause with numbers. quantities: these; words: what else it says, in order, with the clauses without numbers
    that come before it in its sentence; names: models and foreign words; sentence, context: folded, without spaces, the
    context being title, headings and question; subject: what its document is about, as its passages say it.
    """

    chunk: Chunk
    text: str
    quantities: frozenset[Quantity]
    words: tuple[str, ...]
    names: frozenset[str]
    sentence: str
    context: str
    subject: str


def extract_statements(chunk: Chunk, subject: str) -> Iterator[NumberStatement]:
    """Yields all statements with numbers of a passage."""
    context = strip_signs(f"{chunk.context} {chunk.question or ''}")
    for sentence in (found for piece in extract_prose(chunk) for found in split_sentences(piece)):
        for part in split_parts(sentence.text):
            before: list[str] = []
            for clause in split_clauses(part):
                folded = fold(clause)
                found = find_quantities(_VERSION.sub(" ", remove_codes(folded)))
                quantities = frozenset(filter(None, (find_measure(one, folded) for one in found.stated)))
                if not quantities:
                    before.append(folded)
                    continue
                around = " ".join((*before, folded))
                words = split_words(f"{' '.join(before)} {found.rest}")
                if len(words) <= MAX_WORDS:
                    yield NumberStatement(
                        chunk,
                        clause.strip(),
                        quantities,
                        words,
                        find_latin_names(around),
                        strip_signs(around),
                        context,
                        subject,
                    )


def find_measure(quantity: Quantity, folded: str) -> Quantity | None:
    """Returns a quantity with what is counted as its unit: 48 个座位 is no 最多 16 张. None of a number that measures
    nothing: things are counted in whole numbers, 4.27 版 is a name.
    """
    value, unit = quantity
    if unit in _NO_MEASURE:
        return None
    if unit not in ("", COUNT):
        return quantity
    if not value.isdigit():
        return None
    counted = re.search(rf"(?<![a-z\d.]){re.escape(value)}\s*([\u4e00-\u9fff])", convert_numerals(folded))
    return (value, counted.group(1)) if counted else None


def find_subject(title: str, texts: Sequence[str]) -> str:
    """Returns the longest piece of a title that passages of the document say again; the whole title where none does."""
    name, bodies = strip_signs(title), [strip_signs(text) for text in texts]
    best = ""
    for start in range(len(name)):
        for end in range(start + max(MIN_SUBJECT, len(best) + 1), len(name) + 1):
            if not any(name[start:end] in body for body in bodies):
                break
            best = name[start:end]
    return best or name


@lru_cache(4096)
def strip_signs(text: str) -> str:
    """Returns a text folded, with letters and digits alone."""
    return "".join(filter(str.isalnum, fold(text)))


def split_words(text: str) -> tuple[str, ...]:
    """Returns the words of a folded text without function words and signs."""
    import jieba

    plain = remove_function_words(text)
    return tuple(word for word in jieba.dt.cut(plain, HMM=False) if any(map(str.isalnum, word)))
