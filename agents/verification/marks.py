"""The citation marks in a text, finished or still being written."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.prompt_library import UNANSWERED

_NUMBERS = r"\d{1,3}(?:\s*[,，、]\s*\d{1,3})*"
_MARK = re.compile(rf"[\[【［](?:\^|资料|来源)?\s*({_NUMBERS}|{UNANSWERED[1:-1]})\s*[\]】］]")
_BEGUN = "|".join(UNANSWERED[1:end] for end in range(2, len(UNANSWERED)))
# What may still become a mark.
_UNFINISHED = re.compile(rf"[\[【［](?:[\s\d,，、^资料来源]{{0,12}}|{_BEGUN})$")


@dataclass(frozen=True, slots=True)
class Mark:
    """`[1]` or `[1, 2]`: numbers as written; none for the words that say that the fragments do not answer."""

    numbers: tuple[int, ...]


class MarkScanner:
    """Passes text on at once, except for the few characters that may be the beginning of a mark."""

    def __init__(self) -> None:
        self._held = ""

    def scan_text(self, text: str) -> list[str | Mark]:
        """Takes the next piece of a text, and returns text and marks in order; nothing is lost."""
        text = self._held + text
        unfinished = _UNFINISHED.search(text)
        self._held = unfinished.group() if unfinished else ""
        return _split_marks(text[: len(text) - len(self._held)])

    def flush_rest(self) -> list[str | Mark]:
        """Returns what was held back and did not become a mark."""
        pending, self._held = self._held, ""
        return [pending] if pending else []


def strip_marks(text: str) -> str:
    """Returns a reply without its citations."""
    return "".join(part for part in _split_marks(text) if isinstance(part, str))


def find_cited_numbers(text: str) -> frozenset[int]:
    """Returns the numbers of the marks in a text."""
    return frozenset(number for part in _split_marks(text) if isinstance(part, Mark) for number in part.numbers)


def _split_marks(text: str) -> list[str | Mark]:
    parts: list[str | Mark] = []
    position = 0
    for match in _MARK.finditer(text):
        parts += [text[position : match.start()], Mark(tuple(map(int, re.findall(r"\d+", match.group(1)))))]
        position = match.end()
    return [part for part in (*parts, text[position:]) if part != ""]
