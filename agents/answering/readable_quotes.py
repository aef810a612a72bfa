"""Makes sentences readable that were taken out of their text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.answering.question_phrases import HEADING_NUMBER
from agents.passages.quotable import is_safe_text
from agents.passages.units import Passage

MAX_HEADING_CHARS = 20
# Headings that say nothing of what stands under them, or ask.
_FOR_ANYTHING = re.compile(r"问题|问答|说明$|FAQ|[？?：:]", re.IGNORECASE)


def make_readable(passage: Passage, sentences: Sequence[tuple[int, str]], *, first: bool) -> tuple[str, ...]:
    """Returns the sentences with what they need to stand alone; the last one ends as a sentence does.

    An item of a list without its lead-in gets its heading, for 已拆封的滤芯 alone does not say that it cannot be
    returned; a curated answer beside another gets its question: 不会 says nothing alone.

    Args:
        passage: that they are taken from.
        sentences: indices of sentences, ascending, and how each is shown.
        first: whether no other fragment stands before.
    """
    texts = [text for _, text in sentences]
    question = passage.chunk.question or ""
    if not first and 0 < len(question) <= MAX_HEADING_CHARS and sentences[0][0] == 0 and is_safe_text(question):
        texts[0] = f"{question.rstrip('？?')}？{texts[0]}"
    before: int | None = None
    for number, (index, text) in enumerate(sentences):
        opens = before is None or passage.headings[before] != passage.headings[index]
        if opens and passage.sentences[index].is_item:
            heading = _clean_heading(passage.headings[index] or passage.section)
            apart = "：" in text[:12] or (
                number + 1 < len(sentences) and passage.sentences[sentences[number + 1][0]].is_item
            )
            if heading and heading not in text:
                texts[number] = f"{heading}：\n{text}" if apart else f"{heading}：{text}"
        before = index
    if texts[-1].endswith(("；", ";")):
        texts[-1] = f"{texts[-1][:-1]}。"
    return tuple(texts)


def _clean_heading(heading: str) -> str:
    """Returns a heading without its number; empty where it cannot stand before a sentence."""
    name = HEADING_NUMBER.sub("", heading).strip()
    unfit = len(name) > MAX_HEADING_CHARS or _FOR_ANYTHING.search(name) or not is_safe_text(name)
    return "" if unfit else name
