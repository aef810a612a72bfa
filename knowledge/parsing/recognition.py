"""Turns texts that were recognised in a picture into lines of a page, which are then read like any others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Protocol

from knowledge.parsing.lines import join_wrapped
from knowledge.parsing.pdf_layout import LineCell, PageLine
from knowledge.types import Notice, NoticeCode

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    # Rows, columns and the channels blue, green, red.
    Pixels = NDArray[np.uint8]

# Pixels; of a page of A4 at 170 dpi. Larger pictures are made smaller: more says no more to the recogniser.
LONGEST_SIDE = 2000
# Of the height of a recognised line, which has a margin above and below.
_EM = 0.7
# Heights of lines of one size differ by what is written in them.
_SAME_SIZE = 1.25
# Of the height of a line.
_SAME_ROW = 0.5
# Em; see `pdf_layout`.
_CELL_GAP = 0.9
# Times its height is a line that tells how the page lies.
_LONG = 5


@dataclass(frozen=True, slots=True)
class RecognisedText:
    """A line or a part of one. Pixels from the left and the top."""

    text: str
    left: float
    right: float
    middle: float
    height: float
    # Rise to the right by width.
    slope: float


class Recogniser(Protocol):
    """Reads the text in pictures. Blocking and CPU bound."""

    def recognise_texts(self, picture: Pixels) -> Sequence[RecognisedText]:
        """Returns the texts of a picture in no particular order."""
        ...


def compute_scale(width: float, height: float) -> float:
    """Returns the factor that makes the longer side of a picture `LONGEST_SIDE`."""
    return LONGEST_SIDE / max(width, height, 1)


def build_lines(texts: Iterable[RecognisedText], page: int, scale: float = 1.0) -> list[PageLine]:
    """Builds lines from the top to the bottom, in the sizes that were found; see `normalize_sizes`. scale: pixels by
    point.
    """
    found = _remove_slope([text for text in texts if text.text.strip()])
    return [_build_line(row, page, scale) for row in _group_rows(found)]


def normalize_sizes(
    pages: Sequence[Sequence[PageLine]], beside: Sequence[Sequence[PageLine]] = ()
) -> list[list[PageLine]]:
    """Gives the body of a document's recognised pages one size. beside: its pages of text, which set that size."""
    body = _measure_body_size(pages)
    usual = _measure_body_size(beside) or body

    def get_size(line: PageLine) -> float:
        larger = line.size / body
        return usual * (larger if larger > _SAME_SIZE or larger * _SAME_SIZE < 1 else 1)

    return [[replace(line, size=get_size(line)) for line in page] for page in pages]


def build_recognised_notice(pages: Sequence[int]) -> Notice:
    """Builds the notice for people who check what was recognised."""
    names = "、".join(map(str, pages[:20])) + (" 等" if len(pages) > 20 else "")
    return Notice(NoticeCode.RECOGNISED, f"第 {names} 页由文字识别读出（共 {len(pages)} 页），可能有错字", tuple(pages))


def _remove_slope(texts: Sequence[RecognisedText]) -> list[RecognisedText]:
    """Returns the texts as if the page lay straight."""
    slopes = [text.slope for text in texts if text.right - text.left > _LONG * text.height]
    slope = median(slopes) if slopes else 0.0
    return [replace(text, middle=text.middle - slope * (text.left + text.right) / 2) for text in texts]


def _group_rows(texts: Sequence[RecognisedText]) -> Iterator[list[RecognisedText]]:
    row: list[RecognisedText] = []
    for text in sorted(texts, key=lambda text: text.middle):
        if row and text.middle - row[0].middle > _SAME_ROW * min(text.height, row[0].height):
            yield sorted(row, key=lambda text: text.left)
            row = []
        row.append(text)
    if row:
        yield sorted(row, key=lambda text: text.left)


def _measure_body_size(pages: Sequence[Sequence[PageLine]]) -> float:
    """Returns the median of the sizes of all characters; 0.0 without any."""
    amounts: Counter[float] = Counter()
    for page in pages:
        for line in page:
            amounts[line.size] += len(line.text)
    half = amounts.total() / 2
    for size in sorted(amounts):
        half -= amounts[size]
        if half <= 0:
            return size
    return 0.0


def _build_line(row: Sequence[RecognisedText], page: int, scale: float) -> PageLine:
    size = _EM * max(text.height for text in row)
    cells = [_build_cell(row[0], scale)]
    for before, text in pairwise(row):
        if text.left - before.right > _CELL_GAP * size:
            cells.append(_build_cell(text, scale))
        else:
            joined = join_wrapped(cells[-1].text, text.text.strip())
            cells[-1] = replace(cells[-1], text=joined, right=text.right / scale)
    whole = " ".join(cell.text for cell in cells)
    return PageLine(whole, page, size / scale, tuple(cells), -row[0].middle / scale)


def _build_cell(text: RecognisedText, scale: float) -> LineCell:
    return LineCell(text.text.strip(), text.left / scale, text.right / scale)
