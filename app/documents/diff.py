"""What one version changed of another, paragraph by paragraph."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from enum import StrEnum
from itertools import islice, pairwise

# Of a version; what follows is not compared.
MAX_PARAGRAPHS = 20_000
# In all hunks together.
MAX_LINES = 1000
MAX_LINE_CHARS = 1000
# Paragraphs between two that surely are the same, beyond which they are not looked for one by one: difflib takes a
# time that grows with the square, 19 s for 10,000 questions whose answers all changed.
MAX_SEARCHED = 2000
# Paragraphs that stayed, on either side of those that did not.
CONTEXT = 1


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
    """Changes that stand together."""

    # old_start and new_start: the number of its first paragraph in each, from 1.
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


def compare_paragraphs(old: Sequence[str], new: Sequence[str], version: int, against: int) -> Diff:
    """Compares two versions paragraph by paragraph. Blocking."""
    truncated = max(len(old), len(new)) > MAX_PARAGRAPHS
    old, new = old[:MAX_PARAGRAPHS], new[:MAX_PARAGRAPHS]
    matcher = _Anchored(old, new)
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    hunks: list[DiffHunk] = []
    left = MAX_LINES
    for group in matcher.get_grouped_opcodes(CONTEXT) if changes else ():
        lines = [line for code in group for line in _build_lines(old, new, code)]
        truncated |= len(lines) > left
        hunks.append(DiffHunk(group[0][1] + 1, group[0][3] + 1, tuple(islice(lines, left))))
        left -= len(hunks[-1].lines)
        if not left:
            truncated |= group[-1][2] < len(old) or group[-1][4] < len(new)
            break
    added = sum(end - start for _, _, _, start, end in changes)
    removed = sum(end - start for _, start, end, _, _ in changes)
    return Diff(version, against, added, removed, tuple(hunks), truncated)


class _Anchored(SequenceMatcher[str]):
    """Paragraphs that stand once in either version are the same where their order is, and the others are looked for
    between them.
    """

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        super().__init__(None, old, new)
        self._old, self._new = old, new

    def get_matching_blocks(self) -> list[Match]:
        """See `SequenceMatcher`."""
        old, new = self._old, self._new
        starts = [(-1, -1), *_find_anchors(old, new), (len(old), len(new))]
        blocks: list[Match] = []
        for (a, b), (next_a, next_b) in pairwise(starts):
            blocks.extend(_match_between(old, new, (a + 1, next_a), (b + 1, next_b)))
            blocks.append(Match(next_a, next_b, 1))
        return [*_join_blocks(blocks[:-1]), Match(len(old), len(new), 0)]


def _find_anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Returns the positions of paragraphs that occur once on either side: as many as possible that are in the same
    order.
    """
    times_old, times_new = Counter(old), Counter(new)
    place = {text: at for at, text in enumerate(new) if times_new[text] == 1}
    pairs = [(at, place[text]) for at, text in enumerate(old) if times_old[text] == 1 and text in place]
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, at) in enumerate(pairs):  # the longest increasing subsequence, by patience
        length = bisect_left(ends, at)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1], last[length : length + 1] = [at], [number]
    kept = []
    number = last[-1] if last else -1
    while number >= 0:
        kept.append(pairs[number])
        number = before[number]
    return kept[::-1]


def _match_between(old: Sequence[str], new: Sequence[str], of: tuple[int, int], to: tuple[int, int]) -> Iterator[Match]:
    """Yields the same paragraphs of two stretches, from one position until before another."""
    (a, end_a), (b, end_b) = of, to
    first = a, b
    while a < end_a and b < end_b and old[a] == new[b]:
        a, b = a + 1, b + 1
    yield Match(*first, a - first[0])
    after = end_a, end_b
    while end_a > a and end_b > b and old[end_a - 1] == new[end_b - 1]:
        end_a, end_b = end_a - 1, end_b - 1
    if max(end_a - a, end_b - b) <= MAX_SEARCHED:
        for block in SequenceMatcher(None, old[a:end_a], new[b:end_b]).get_matching_blocks():
            yield Match(block.a + a, block.b + b, block.size)
    yield Match(end_a, end_b, after[0] - end_a)


def _join_blocks(blocks: Sequence[Match]) -> list[Match]:
    """Drops empty matches, and joins matches that meet."""
    found: list[Match] = []
    for block in blocks:
        if found and (found[-1].a + found[-1].size, found[-1].b + found[-1].size) == (block.a, block.b):
            found[-1] = found[-1]._replace(size=found[-1].size + block.size)
        elif block.size:
            found.append(block)
    return found


def _build_lines(old: Sequence[str], new: Sequence[str], code: tuple[str, int, int, int, int]) -> list[DiffLine]:
    kind, from_old, to_old, from_new, to_new = code
    if kind == "equal":
        return [DiffLine(LineKind.SAME, text[:MAX_LINE_CHARS]) for text in old[from_old:to_old]]
    removed = [DiffLine(LineKind.REMOVED, text[:MAX_LINE_CHARS]) for text in old[from_old:to_old]]
    return [*removed, *(DiffLine(LineKind.ADDED, text[:MAX_LINE_CHARS]) for text in new[from_new:to_new])]
