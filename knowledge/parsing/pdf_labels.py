"""Labels of the fields of a PDF form: their own, else the text beside or above them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from knowledge.parsing.pdf_layout import LineCell, PageLine

# Em to the left, further than which no text belongs to a field.
_FAR = 25.0
# Em to the right of a box, and between a field and the text above it.
_NEXT = 2.5
# Points by which boxes and texts overlap that stand beside each other.
_TOUCH = 3.0
_RULE = re.compile(r"[\s_＿.…·:：]+$|^[\s_＿]+")
_INDEX = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class LabelPlace:
    """A box; edges in points from the left and the bottom of the page."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def middle(self) -> float:
        """Height of its middle on the page."""
        return (self.bottom + self.top) / 2


@dataclass(frozen=True, slots=True)
class Widget:
    """A place where a field is shown. title: the name that its author gave; value: what a tick in a box stands for."""

    name: str
    title: str
    value: str
    place: LabelPlace
    is_box: bool = False
    is_choice: bool = False
    ticked: bool = False


@dataclass(frozen=True, slots=True)
class Label:
    """`option`: the meaning of one of several buttons."""

    name: str
    option: str = ""


def find_labels(widgets: Sequence[Widget], lines: Sequence[PageLine]) -> Iterator[Label]:
    """Yields the label of each widget, in order. lines: the text of the page."""
    places = [widget.place for widget in widgets]
    for widget in widgets:
        called = widget.title or _INDEX.sub("", widget.name.rpartition(".")[2]) or "表单"
        others = [place for place in places if place is not widget.place]
        if widget.is_choice:
            group = [other.place for other in widgets if other.is_choice and other.name == widget.name]
            first = min(group, key=lambda place: (-round(place.top), place.left))
            beside = _find_left(first, lines, others) or _find_above(first, lines)
            yield Label(widget.title or beside or called, _find_right(widget.place, lines, others))
        elif widget.is_box:
            beside = _find_right(widget.place, lines, others) or _find_left(widget.place, lines, others)
            yield Label(widget.title or beside or called)
        else:
            beside = _find_left(widget.place, lines, others) or _find_above(widget.place, lines)
            yield Label(widget.title or beside or called)


def _find_left(place: LabelPlace, lines: Sequence[PageLine], others: Sequence[LabelPlace]) -> str:
    """Returns the nearest text before a field on its line, unless another field stands between."""
    nearest: tuple[float, str] | None = None
    before = [other.right for other in others if _is_level(place, other) and other.right <= place.left + _TOUCH]
    for line, cell in _list_level_texts(place, lines):
        begun = max((edge for edge in before if edge < cell.right - _TOUCH), default=cell.left)
        text, _, right = _clip_text(cell, begun, place.left)
        gap = place.left - right
        if not text or not -_TOUCH <= gap <= _FAR * line.size or (nearest is not None and gap >= nearest[0]):
            continue
        between = (other for other in others if right - _TOUCH <= other.left < place.left - _TOUCH)
        if not any(_is_level(place, other) for other in between):
            nearest = gap, text
    return nearest[1] if nearest else ""


def _find_right(place: LabelPlace, lines: Sequence[PageLine], others: Sequence[LabelPlace]) -> str:
    """Returns the text directly behind a box, up to the next box."""
    after = [other.left for other in others if _is_level(place, other) and other.left >= place.right - _TOUCH]
    nearest: tuple[float, str] | None = None
    for line, cell in _list_level_texts(place, lines):
        text, left, _ = _clip_text(cell, place.right, min(after, default=cell.right))
        gap = left - place.right
        if text and -_TOUCH <= gap <= _NEXT * line.size and (nearest is None or gap < nearest[0]):
            nearest = gap, text
    return nearest[1] if nearest else ""


def _find_above(place: LabelPlace, lines: Sequence[PageLine]) -> str:
    """Returns the nearest text above a field."""
    over = [
        (line.base - place.top, cell.text)
        for line in lines
        for cell in line.cells
        if cell.left < place.right and place.left < cell.right + _TOUCH
        if -_TOUCH <= line.base - place.top <= _NEXT * line.size
    ]
    return _RULE.sub("", min(over)[1]) if over else ""


def _list_level_texts(place: LabelPlace, lines: Sequence[PageLine]) -> Iterator[tuple[PageLine, LineCell]]:
    """Yields the texts on the line of a field, or on the first line of a taller one."""
    for line in lines:
        if line.base < place.top - 1 and line.base + line.size > max(place.bottom, place.top - 2 * line.size):
            yield from ((line, cell) for cell in line.cells)


def _is_level(place: LabelPlace, other: LabelPlace) -> bool:
    return other.bottom < place.middle < other.top


def _clip_text(cell: LineCell, start: float, end: float) -> tuple[str, float, float]:
    """Returns the part of a text between two edges, without the rule to write on, and the part's edges.

    Letters are assumed to have the same width.
    """
    share = len(cell.text) / (cell.right - cell.left) if cell.right > cell.left else 0.0
    first = round(share * (start - _TOUCH - cell.left)) if start > cell.left else 0
    last = round(share * (end - cell.left)) if end < cell.right else len(cell.text)
    text = cell.text[max(0, first) : max(0, last)]
    return _RULE.sub("", text), max(start, cell.left), min(end, cell.right)
