"""Whether what was found speaks of the model that is asked about, or of another one. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.passages.quotable import safe_text
from agents.passages.units import quotable_sentences
from agents.types import Question
from agents.understanding.asking import IDENTIFIER, bare_name
from agents.understanding.normalise import whole_word
from knowledge.text import fold
from knowledge.types import Candidate, Chunk

_CORE = re.compile(r"([a-z]+)[-_ ]?\d+")
_ENDING = re.compile(r"[\s?？!！。.~～]+$")
_PAIR = 2
"""Characters that a message shares with a title which it means."""


@dataclass(frozen=True, slots=True)
class OtherSubject:
    """What is asked about, what was found instead, both as they are printed, and the question about that."""

    asked: str
    found: str
    question: str


def other_subject(question: Question, found: Sequence[Candidate]) -> OtherSubject | None:
    """What the best of the candidates is about, where that is another model than the one asked about: by the message,
    or, without one in it, by the conversation. None where they name no model, or the right one.

    found: at least one, best first.
    """
    text = question.rewrite or question.searched
    filled = question.follow_up if question.rewrite is None and question.follow_up else text
    about = filled if names(text).keys() <= names(filled).keys() else text  # 那 W9 呢 as a whole question
    asked = names(text) or names(about) or _talked_about(question, found[0].chunk)
    other = foreign(asked, [candidate.chunk for candidate in found], bare=bare_name(text) is not None)
    if other is None:
        return None
    own = next(iter(asked))
    question_about = _about(asked[own], other, about)
    return OtherSubject(asked[own], other, question_about) if safe_text(question_about) else None


def names(text: str) -> dict[str, str]:
    """The models that a text names: folded -> as it prints them, in order."""
    return {_folded(match.group()): match.group() for match in IDENTIFIER.finditer(text)}


def foreign(asked: dict[str, str], chunks: Sequence[Chunk], *, bare: bool = False) -> str | None:
    """The model that the first of the chunks is about, as printed, where none speaks of one that is asked about.

    bare: nothing but a name is asked, which then is no model where its letters are others: E03 beside YS-W5.
    """
    if not asked or not chunks or any(_speaks_of(chunk, asked) for chunk in chunks):
        return None
    letters = {_letters(name) for name in asked} - {""}
    for name, printed in _subject(chunks[0]).items():
        own = _letters(name)
        if own in letters or (not bare and own and len(own) in map(len, letters)):
            return printed
    return None


def mentions(chunk: Chunk, name: str) -> bool:
    """Whether a passage has a name or code as a whole word."""
    return whole_word(fold(name)).search(fold(chunk.indexed_text)) is not None


def _subject(chunk: Chunk) -> dict[str, str]:
    """What a passage is about: the models above it, else those of the sentence that it opens with."""
    above = names(chunk.above)
    if above:
        return above
    sentences, _ = quotable_sentences(chunk.text, chunk.layout)
    return names(sentences[0].text) if sentences else {}


def _speaks_of(chunk: Chunk, asked: dict[str, str]) -> bool:
    """YS-W5 is the W5 that is asked about, and W5 Pro another one."""
    said = names(f"{chunk.above}\n{chunk.text}")
    return any(_same(name, own) for name in said for own in asked)


def _same(name: str, other: str) -> bool:
    longer, shorter = (name, other) if len(name) >= len(other) else (other, name)
    return longer == shorter or longer.endswith((f"-{shorter}", f" {shorter}", f"_{shorter}"))


def _letters(name: str) -> str:
    """Of the series: w of ys-w5, h of h30 pro; empty for usb-c. Names of one kind have as many of them: neither iphone
    nor a standard like wi-fi is compared with w5.
    """
    found = _CORE.findall(name)
    return str(found[-1]) if found else ""


def _talked_about(question: Question, chunk: Chunk) -> dict[str, str]:
    """Of the last question that names one, where the message does not bring the subject of the passage itself."""
    if question.rewrite is not None or _brings(question.searched, chunk):
        return {}
    named = (names(text) for text in reversed(question.state.context.questions))
    return next((found for found in named if found), {})


def _brings(text: str, chunk: Chunk) -> bool:
    asked, title = fold(text), fold(chunk.document.title)
    return any(title[start : start + _PAIR] in asked for start in range(len(title) - 1))


def _about(asked: str, other: str, text: str) -> str:
    text = _ENDING.sub("", text)
    return text.replace(asked, other) if asked in text else f"{other} {text}"


def _folded(name: str) -> str:
    return " ".join(fold(name).split())
