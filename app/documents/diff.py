"""What one version changed of another, paragraph by paragraph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import islice

MAX_PARAGRAPHS = 20_000
"""Of a version; what follows is not compared."""
MAX_LINES = 1000
"""In all hunks together."""
MAX_LINE_CHARS = 1000
CONTEXT = 1
"""Paragraphs that stayed, on either side of those that did not."""


class LineKind(StrEnum):
    """What became of a paragraph."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One paragraph, cut after MAX_LINE_CHARS."""

    kind: LineKind
    text: str


@dataclass(frozen=True, slots=True)
class DiffHunk:
    """Changes that stand together. `old_start`, `new_start`: the number of its first paragraph in each, from 1."""

    old_start: int
    new_start: int
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class Diff:
    """`against`: the version that it is compared with, 0 for none. `added`, `removed`: paragraphs, also of what is left
    out; `truncated`: something is.
    """

    version: int
    against: int
    added: int
    removed: int
    hunks: tuple[DiffHunk, ...]
    truncated: bool


def compared(old: Sequence[str], new: Sequence[str], version: int, against: int) -> Diff:
    """Blocking. Paragraphs that stand in more than a hundredth of a long document are not looked for one by one, so
    that it takes no longer than the document is long.
    """
    truncated = max(len(old), len(new)) > MAX_PARAGRAPHS
    old, new = old[:MAX_PARAGRAPHS], new[:MAX_PARAGRAPHS]
    matcher = SequenceMatcher(None, old, new)
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    hunks: list[DiffHunk] = []
    left = MAX_LINES
    for group in matcher.get_grouped_opcodes(CONTEXT) if changes else ():
        lines = [line for code in group for line in _lines(old, new, code)]
        truncated |= len(lines) > left
        hunks.append(DiffHunk(group[0][1] + 1, group[0][3] + 1, tuple(islice(lines, left))))
        left -= len(hunks[-1].lines)
        if not left:
            truncated |= group[-1][2] < len(old) or group[-1][4] < len(new)
            break
    added = sum(end - start for _, _, _, start, end in changes)
    removed = sum(end - start for _, start, end, _, _ in changes)
    return Diff(version, against, added, removed, tuple(hunks), truncated)


def _lines(old: Sequence[str], new: Sequence[str], code: tuple[str, int, int, int, int]) -> list[DiffLine]:
    kind, from_old, to_old, from_new, to_new = code
    if kind == "equal":
        return [DiffLine(LineKind.SAME, text[:MAX_LINE_CHARS]) for text in old[from_old:to_old]]
    removed = [DiffLine(LineKind.REMOVED, text[:MAX_LINE_CHARS]) for text in old[from_old:to_old]]
    return [*removed, *(DiffLine(LineKind.ADDED, text[:MAX_LINE_CHARS]) for text in new[from_new:to_new])]
