"""Removes sentences about another model than the one asked about. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agents.answering.subjects import is_about
from agents.passages.sentences import Sentence
from agents.passages.units import Passage
from knowledge.codes import Code, are_neighbours, find_codes, find_first_code, has_one_code

# A code from here on that nothing speaks of is of a thing that the documents have not, and what they say of another
# code of that length is no answer.
STRANGE_CHARS = 4


def remove_other_models(passages: Sequence[Passage], codes: Sequence[Code]) -> list[Passage]:
    """Returns the passages without what is said of models that may be taken for the one asked about.

    Where a row or an item begins with the model asked about, rows and items that begin with another are removed. A name
    with a blank before its number stays where no passage has it: Android 8.0 and later, asked for Android 12.
    """
    known = any(is_about(passage.chunk, codes) for passage in passages)
    if not codes or (not known and all(code.spaced for code in codes)):
        return list(passages)
    strange = not known and any(len(code.form) >= STRANGE_CHARS for code in codes)
    keyed = any(_is_keyed(sentence, codes) for passage in passages for sentence in passage.sentences)
    return [
        kept
        for passage in passages
        if (kept := _remove_other_sentences(passage, codes, keyed=keyed, strange=strange)).sentences
    ]


def _remove_other_sentences(passage: Passage, codes: Sequence[Code], *, keyed: bool, strange: bool) -> Passage:
    pairs = zip(passage.sentences, _list_levels(passage), strict=True)
    other = [_is_other(sentence, texts, codes, keyed=keyed, strange=strange) for sentence, texts in pairs]
    if any(sentence.is_row and _is_keyed(sentence, codes) for sentence in passage.sentences):
        rows = [sentence.is_row for sentence in passage.sentences]  # the table as it is: its row is chosen later
        other = [drop and not row for drop, row in zip(other, rows, strict=True)]
    return replace(
        passage,
        sentences=tuple(sentence for sentence, drop in zip(passage.sentences, other, strict=True) if not drop),
        headings=tuple(heading for heading, drop in zip(passage.headings, other, strict=True) if not drop),
    )


def _is_other(
    sentence: Sentence, levels: tuple[str, str], codes: Sequence[Code], *, keyed: bool, strange: bool
) -> bool:
    text = "\n".join(levels)
    if has_one_code(find_codes(text), codes):
        return False
    if any(are_neighbours(code, own) for code in find_codes(text) for own in codes):
        return True
    own = find_first_code(levels[1])
    return own is not None and ((keyed and _can_be_keyed(sentence)) or (strange and len(own.form) >= STRANGE_CHARS))


def _list_levels(passage: Passage) -> Iterator[tuple[str, str]]:
    """Yields for each sentence what says of which model it speaks: its headings, and its line up to its end."""
    line, text = -1, ""
    for sentence, heading in zip(passage.sentences, passage.headings, strict=True):
        text = f"{text}\n{sentence.text}" if sentence.line == line and not _can_be_keyed(sentence) else sentence.text
        line = sentence.line
        yield f"{passage.chunk.above}\n{heading}", text


def _is_keyed(sentence: Sentence, codes: Sequence[Code]) -> bool:
    key = find_first_code(sentence.text) if _can_be_keyed(sentence) else None
    return key is not None and has_one_code((key,), codes)


def _can_be_keyed(sentence: Sentence) -> bool:
    return sentence.is_row or sentence.is_item
