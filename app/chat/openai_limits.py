"""Where a reply ends for a client that gave `stop` or `max_tokens`.

The reply itself is made and kept whole: it may come out of the cache, and it is what staff see. A token is about
what tokenizers make of text: a character of Chinese or a punctuation mark, 4 letters or 3 digits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Finish = Literal["stop", "length"]
_TOKEN = re.compile(r"\s*(?:[0-9]{1,3}|[A-Za-z]{1,4}|\S)")


@dataclass(frozen=True, slots=True)
class ReplyLimits:
    """stops: texts before which a reply ends, none of them empty; tokens: how long it may be, None for any length."""

    stops: tuple[str, ...] = ()
    tokens: int | None = None

    def cut_reply(self, reply: str) -> tuple[str, Finish]:
        """Cuts a whole reply where it has to end. Returns it with the reason why it ends there."""
        stopped = min((at for stop in self.stops if (at := reply.find(stop)) >= 0), default=len(reply))
        longest = self._find_longest_end(reply)
        return (reply[:longest], "length") if longest < stopped else (reply[:stopped], "stop")

    def cut_settled(self, begun: str) -> str:
        """Returns the part of an unfinished reply that may be sent already: without an end that may be the beginning of
        a stop text.
        """
        text, _ = self.cut_reply(begun)
        if len(text) < len(begun):
            return text
        held = max((_measure_overlap(text, stop) for stop in self.stops), default=0)
        return text[: len(text) - held]

    def _find_longest_end(self, reply: str) -> int:
        if self.tokens is None or len(reply) <= self.tokens:
            return len(reply)
        end = 0
        for count, token in enumerate(_TOKEN.finditer(reply), 1):
            if count > self.tokens:
                return end
            end = token.end()
        return len(reply)


def _measure_overlap(text: str, stop: str) -> int:
    """Counts the characters at the end of the text that are the beginning of the stop."""
    return next((size for size in range(min(len(stop) - 1, len(text)), 0, -1) if text.endswith(stop[:size])), 0)
