"""Removes the thoughts of a reasoning model from its text as it streams.

They come in a field of their own, which is not read, or in the text between tags, which chunks split anywhere. Where a
server puts the opening tag into the prompt, the text begins within the thoughts.
"""

from __future__ import annotations

import re

from agents.errors import ThoughtsAloud

_NAMES = "think", "thinking", "thought", "thoughts", "reasoning", "seed:think"
OPENING = (*(f"<{name}>" for name in _NAMES), "◁think▷")
CLOSING = (*(f"</{name}>" for name in _NAMES), "◁/think▷")
_TAG = re.compile("|".join(map(re.escape, (*OPENING, *CLOSING))), re.IGNORECASE)
_BEGINNINGS = frozenset(tag[:end] for tag in (*OPENING, *CLOSING) for end in range(1, len(tag)))
_LONGEST = max(map(len, _BEGINNINGS))


class ThoughtFilter:
    """The filter of one reply: takes pieces as they come and returns what may be shown, often nothing."""

    def __init__(self, *, within: bool = False) -> None:
        """within: whether the text begins in thoughts that no tag opens."""
        self._depth = int(within)
        self._headless = within
        self._pending = ""
        self._spoken, self._fresh = False, True

    def leave_thoughts(self) -> None:
        """Notes that thoughts came in a field of their own: the text does not begin within them."""
        if self._headless:
            self._depth, self._headless = 0, False

    def feed(self, text: str) -> str:
        """Takes a piece and returns what may be shown. Raises ThoughtsAloud where shown text turns out to have been
        thoughts.
        """
        self._pending += text
        outside = ""
        while tag := _TAG.search(self._pending):
            outside += self._drop_thoughts(self._pending[: tag.start()])
            self._pending = self._pending[tag.end() :]
            if tag[0].lower() in OPENING:
                self._depth += not self._headless
            elif self._depth:
                self._depth, self._fresh = self._depth - 1, True
            elif self._spoken:  # nothing before it: a template that closed what it did not open
                raise ThoughtsAloud("thoughts without a beginning were taken for the reply")
            self._headless = False
        kept = self._count_held_back()
        ready, self._pending = self._pending[: len(self._pending) - kept], self._pending[len(self._pending) - kept :]
        return outside + self._drop_thoughts(ready)

    def finish(self) -> str:
        """Returns what was held back as the possible beginning of a tag. Thoughts that never end are not shown."""
        rest, self._pending = self._pending, ""
        return self._drop_thoughts(rest)

    def _count_held_back(self) -> int:
        """Returns how many characters at the end may become a tag."""
        tail = self._pending[-_LONGEST:].lower()
        return next((len(tail) - at for at in range(len(tail)) if tail[at:] in _BEGINNINGS), 0)

    def _drop_thoughts(self, text: str) -> str:
        """Returns the text, unless it is a thought; without empty lines at the beginning and after a thought."""
        if self._depth:
            return ""
        if self._fresh:
            text = text.lstrip()
            self._fresh = not text
        self._spoken = self._spoken or bool(text.strip())
        return text


def has_headless_thoughts(reply: str) -> bool:
    """Whether a whole reply begins within thoughts: its first tag closes them."""
    first = _TAG.search(reply)
    return first is not None and first[0].lower() in CLOSING
