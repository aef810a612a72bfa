"""Sentences of a chunk as verbatim spans."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_SENTENCE_CHARS = 200
"""Longer ones are cut at a clause, so that one run-on sentence cannot become the whole reply."""
MAX_HEADING_CHARS = 30

_END = re.compile(
    r"(?:(?<!<)(?:[。！？?]|!(?!\[))+(?![”’」』\"']*\s+[a-z])|(?<![0-9A-Z])\.(?=\s+[A-Z\u4e00-\u9fff\"'“]))[”’」』）)】》\"']*"
)
"""A semicolon does not end a sentence: 型号：A4；噪声：30 dB is one row of a table, and half of it is misleading. Nor
does the sign before an image, ![图](a.png).
"""
_CLAUSE = re.compile(r"[；;，,：:、](?!\d)")
_ITEM = re.compile(
    r"\s*(?:[-*•·●▪◦+](?=\s)|\d{1,2}(?:[.)](?=\s)|[、）．])|[（(]\d{1,2}[)）]|[①-⑳]|第[一二三四五六七八九十\d]+步|步骤\s*[一二三四五六七八九十\d]+)"
)
_MARKER = re.compile(r"\s*(?:[-*•·●▪◦+]\s+|\d{1,2}(?:[.)]\s+|[、）．])|[（(]\d{1,2}[)）]|[①-⑳])\s*(?=\S)")
_BULLET = re.compile(r"\s*[-*•·●▪◦+]")
_ROW = re.compile(r"[^：；。]{1,40}：[^；]*；[^：；。]{1,40}：.*")
_QUESTION_MARK = re.compile(r"\s*(?:问|Q|提问|问题)\s*\d*\s*[：:、.]", re.IGNORECASE)
_NO_HEADING = re.compile(r"^\s*[-*•·●▪◦+①-⑳]|[。！!；;，,：:…”」』.]\s*$|[：；]")
_CONTINUES = re.compile(
    r"(?:但是?|除外|不过|然而|其中|此外|另外|同时|而且|并且|因此|所以|否则|若不|如仍|随后|然后|接着|之后|例如|比如|注意|这|该|其|它|上述|以上)"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` is `chunk[start:end]`; `line` counts the chunk's non-empty lines from 0."""

    text: str
    start: int
    end: int
    line: int

    @property
    def is_item(self) -> bool:
        """A list item or numbered step."""
        return _ITEM.match(self.text) is not None

    @property
    def is_step(self) -> bool:
        """A numbered item."""
        return self.is_item and _BULLET.match(self.text) is None

    @property
    def unmarked(self) -> str:
        """Without its mark: the fourth step of a list that is not quoted is no fourth step to a reader."""
        match = _MARKER.match(self.text)
        return self.text[match.end() :] if match else self.text

    @property
    def may_head(self) -> bool:
        """Short and without an end, as headings are that became lines of a chunk."""
        return len(self.text) <= MAX_HEADING_CHARS and not _NO_HEADING.search(self.text) and not self.is_row

    @property
    def is_row(self) -> bool:
        """A row of a table, its cells named by the heads of their columns."""
        return not self.is_item and _ROW.fullmatch(self.text) is not None

    @property
    def leads_in(self) -> bool:
        """Announces what follows, or asks: answers nothing alone."""
        return self.text.endswith(("：", ":", "如下", "如下。")) or self.asks

    @property
    def asks(self) -> bool:
        """A question."""
        return self.text.endswith(("？", "?"))

    @property
    def marked_question(self) -> bool:
        """The question of a dialogue, whose answer is the next line."""
        return self.asks and _QUESTION_MARK.match(self.text) is not None

    @property
    def continues(self) -> bool:
        """Refers to the sentence before it: is misleading or unclear alone."""
        return _CONTINUES.match(self.text) is not None


def split_sentences(text: str) -> list[Sentence]:
    """All sentences in order. Line breaks and sentence ends separate; nothing but white space is lost."""
    sentences: list[Sentence] = []
    line = 0
    for match in re.finditer(r"[^\r\n]+", text):
        found = [span for span in _spans(text, match.start(), match.end()) if span[0] < span[1]]
        sentences.extend(Sentence(text[start:end], start, end, line) for start, end in found)
        line += bool(found)
    return sentences


def _spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    spans = []
    for match in _END.finditer(text, start, end):
        spans.extend(_bounded(text, start, match.end()))
        start = match.end()
    spans.extend(_bounded(text, start, end))
    return spans


def _bounded(text: str, start: int, end: int) -> list[tuple[int, int]]:
    spans = []
    while end - start > MAX_SENTENCE_CHARS:
        cuts = [m.end() for m in _CLAUSE.finditer(text, start + MAX_SENTENCE_CHARS // 4, start + MAX_SENTENCE_CHARS)]
        cut = cuts[-1] if cuts else start + MAX_SENTENCE_CHARS
        spans.append(_strip(text, start, cut))
        start = cut
    spans.append(_strip(text, start, end))
    return spans


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
