"""Decides whether what was found is about the model that is asked about, or about another one. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from agents.answering.scoring import extract_bigrams
from agents.passages.quotable import is_safe_text
from agents.passages.sentences import Sentence
from agents.passages.units import split_quotable_sentences
from agents.types import Question
from agents.understanding.normalise import compile_whole_word
from agents.understanding.question_words import extract_bare_name
from agents.understanding.utterance import RewriteKind
from knowledge.codes import (
    Code,
    are_neighbours,
    find_codes,
    find_question_codes,
    get_series,
    has_all_codes,
    has_one_code,
    is_code,
)
from knowledge.text import fold
from knowledge.types import Candidate, Chunk

_ENDING = re.compile(r"[\s?？!！。.~～]+$")


@dataclass(frozen=True, slots=True)
class OtherSubject:
    """The model asked about, the model found instead, both as printed, and the question about the latter."""

    asked_model: str
    found: str
    question: str


def find_other_subject(question: Question, found: Sequence[Candidate]) -> OtherSubject | None:
    """Returns the model of the best candidate, where it is another than the one asked about in the message or the
    conversation.

    None where they name no model, or the right one. found: at least one, best first.
    """
    utterance = question.utterance
    text = utterance.searched_text
    filled = text if utterance.rewrite else utterance.get_rewrite(RewriteKind.RULES) or text
    own = find_question_codes(text)
    about = filled if has_all_codes(own, find_codes(filled)) else text  # 那 W9 呢 as a whole question
    codes = own or find_question_codes(about) or _find_earlier_models(question, found[0].chunk)
    chunks = [candidate.chunk for candidate in found]
    other = find_foreign_model(codes, chunks, bare=extract_bare_name(text) is not None)
    if other is None:
        return None
    question_about = _replace_model(codes, other, about, chunks)
    return OtherSubject(codes[0].text, other.text, question_about) if is_safe_text(question_about) else None


def find_foreign_model(codes: Sequence[Code], chunks: Sequence[Chunk], *, bare: bool = False) -> Code | None:
    """Returns the model of the first chunk that is most like the one asked about, where no chunk is about the latter;
    else None.

    bare: only a name is asked, which then is no model where its letters differ: E03 beside YS-W5.
    """
    if not codes or not chunks or any(is_about(chunk, codes) for chunk in chunks):
        return None
    subject = _find_subjects(chunks[0])
    neighbours = [code for code in subject if any(are_neighbours(code, own) for own in codes)]
    if neighbours:
        return max(neighbours, key=lambda code: _compute_likeness(code, codes[0]))
    lengths = {len(get_series(code)) for code in codes} - {0}
    return next((code for code in subject if not bare and len(get_series(code)) in lengths), None)


def has_name(chunk: Chunk, name: str) -> bool:
    """Whether a passage has a name as a whole word, or a code in whatever spelling."""
    if codes := find_codes(name):
        return has_all_codes(codes, find_codes(chunk.indexed_text))
    return compile_whole_word(fold(name)).search(fold(chunk.indexed_text)) is not None


def _find_subjects(chunk: Chunk) -> tuple[Code, ...]:
    """Returns the models that a passage is about: those in its headings, else those that its first sentence, rows,
    items and headings begin with; a paragraph that names one elsewhere is about something else.
    """
    above = find_codes(chunk.above)
    if above:
        return above
    sentences, _ = split_quotable_sentences(chunk.text, chunk.layout)
    return tuple(
        code
        for number, sentence in enumerate(sentences)
        if not number or _is_leading(sentence)
        for code in find_codes(sentence.text)
    )


def _is_leading(sentence: Sentence) -> bool:
    return sentence.is_row or sentence.is_item or is_code(sentence.text.strip())


def is_about(chunk: Chunk, codes: Sequence[Code]) -> bool:
    """Whether a passage names a model that is asked about, or belongs to it: YS-W5 is W5, and W5 Pro another one."""
    document = chunk.document
    return has_one_code(
        find_codes(f"{chunk.above}\n{chunk.text}\n{document.product}\nV{document.product_version}"), codes
    )


def _compute_likeness(code: Code, other: Code) -> float:
    return SequenceMatcher(None, code.form, other.form, autojunk=False).ratio()


def _find_earlier_models(question: Question, chunk: Chunk) -> tuple[Code, ...]:
    """Returns the models of the last question that names one, unless the message has the passage's own subject."""
    shared = extract_bigrams(question.utterance.normalized) & extract_bigrams(chunk.document.title)
    if question.utterance.rewrite or shared:
        return ()
    named = (find_codes(text) for text in reversed(question.state.context.questions))
    return next((found for found in named if found), ())


def _replace_model(codes: Sequence[Code], other: Code, text: str, chunks: Sequence[Chunk]) -> str:
    """Returns the question with the model that the documents have; of a question with further unknown models, the model
    alone.
    """
    text = _ENDING.sub("", text)
    own = next((code for code in find_question_codes(text) if has_one_code((code,), codes)), None)
    rest = text if own is None else f"{text[: own.start]} {text[own.end :]}"
    found = [code for chunk in chunks for code in find_codes(f"{chunk.above}\n{chunk.text}")]
    if not has_all_codes(find_question_codes(rest), found):
        return other.text
    return f"{other.text} {text}" if own is None else text[: own.start] + other.text + text[own.end :]
