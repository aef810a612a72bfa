"""Detects blocks that are questions with an answer below: by their mark, their type, or their number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

from knowledge.blocks import Block, BlockKind
from knowledge.parsing.faq_columns import is_question

# Characters of a question that stands alone.
MAX_QUESTION = 80
_QUESTION = re.compile(r"\s*(?:问题?|[QqＱ])\s*\d{0,3}\s*[：:.．、]\s*(?=\S)")
_ANSWER = re.compile(r"\s*(?:答案?|[AaＡ])\s*\d{0,3}\s*[：:]\s*")
_ANSWER_BEHIND = re.compile(r"(?<=[？?。！!\s])\s*(?:答案?|[AaＡ])\s*\d{0,3}\s*[：:]\s*")
_NUMBER = re.compile(
    r"\s*(?:[（(](?:\d{1,3}|[一二三四五六七八九十]{1,3})[）)]|\d{1,3}(?:[．、）)]|[.](?!\d))"
    r"|[一二三四五六七八九十]{1,3}[、．.])\s*(?=\S)"
)
_BOLD = re.compile(r"\s*(?:(?:[-*+]|\d{1,3}[.)])\s+)?(\*\*|__)(?=\S)((?:(?!\1).)+)\1")
# What somebody said in a conversation, and no question of the document.
_SPEAKER = re.compile(r"[^：:]{1,12}[：:]")
_ENDS = ("？", "?")
_BREAKS = re.compile(r"[。！；!;？?](?=.)")


class QuestionMark(IntEnum):
    """How a block is known to be a question, the surest first."""

    # 問：, Q1：
    NAMED = 0
    BOLD = 1
    NUMBERED = 2
    # A question mark at its end, and nothing else in its paragraph.
    ALONE = 3


@dataclass(frozen=True, slots=True)
class QuestionOpening:
    """A question, and the rest of its block. answered: whether the rest is marked as the answer."""

    question: str
    rest: str
    mark: QuestionMark
    answered: bool = False


def find_opening(block: Block) -> QuestionOpening | None:
    """Returns the question that a block is, or begins with on a line of its own; else None."""
    if block.kind not in (BlockKind.PARAGRAPH, BlockKind.ITEM):
        return None
    text = block.text.strip()
    if block.marker and text.startswith(block.marker):
        text = text[len(block.marker) :].lstrip()
    line, _, rest = text.partition("\n")
    if (bold := _get_bold_beginning(block)) and text.startswith(bold) and has_question_mark(bold):
        line, rest = bold, text[len(bold) :].strip()
    answered = False
    if behind := _ANSWER_BEHIND.search(line):
        line, rest, answered = line[: behind.start()], f"{line[behind.end() :]}\n{rest}", True
    mark = _find_mark(block, line)
    if mark is None:
        return None
    return QuestionOpening(strip_question(line), rest.strip("\n"), mark, answered or is_answer(rest))


def strip_question(text: str) -> str:
    """Removes number and mark from a question; nobody asks with them."""
    text = _NUMBER.sub("", text, count=1) if _NUMBER.match(text) else text
    text = _QUESTION.sub("", text, count=1) if _QUESTION.match(text) else text
    return " ".join(text.split())


def is_answer(text: str) -> bool:
    """Returns whether a text is marked as an answer."""
    return bool(_ANSWER.match(text))


def strip_answer(text: str) -> str:
    """Removes the mark of an answer."""
    return _ANSWER.sub("", text, count=1) if is_answer(text) else text


def has_question_mark(text: str) -> bool:
    """Returns whether a text ends with a question mark."""
    return text.rstrip().endswith(_ENDS)


def _get_bold_beginning(block: Block) -> str:
    """Returns the bold beginning of a block; empty if there is none."""
    found = _BOLD.match(block.markdown)
    return found[2].strip() if found else ""


def _find_mark(block: Block, line: str) -> QuestionMark | None:
    if len(line) > MAX_QUESTION:
        return None
    numbered = _NUMBER.match(line)
    if _QUESTION.match(line[numbered.end() :] if numbered else line):
        return QuestionMark.NAMED
    question = strip_question(line)
    whole = has_question_mark(question) and not _BREAKS.search(question)
    if _get_bold_beginning(block) == line and (whole or is_question(question)):
        return QuestionMark.BOLD
    if not whole or _SPEAKER.match(question):
        return None
    return QuestionMark.NUMBERED if numbered or any(map(str.isdigit, block.marker)) else QuestionMark.ALONE
