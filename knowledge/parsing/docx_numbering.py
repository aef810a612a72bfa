"""The numbers that Word shows before paragraphs: ECMA-376, part 1, section 17.9.

Of the libraries that read Word, docx2python 3.7 knows six forms of numbers, no `lvlText` and no numbering by styles,
and writes "--" for 第一章; mammoth and docling know lists as bulleted or not. So it is read here, by the definitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from knowledge.parsing.docx_properties import (
    find_property,
    list_base_styles,
    parse_integer,
    qn,
    read_switch,
    read_value,
)
from knowledge.parsing.numerals import format_numeral

_VAL = qn("w:val")
_PART = "/word/numbering.xml"
_PLACE = re.compile(r"%([1-9])")
_DEEPEST = 8
# Definitions that stand for each other.
_MOST_LINKS = 20
# Of every bullet: its character belongs to a font of signs, or says no more than that an item begins.
BULLET = "-"


@dataclass(frozen=True, slots=True)
class Number:
    """What stands before a paragraph. `marker` is empty if Word counts the paragraph but shows nothing."""

    level: int
    marker: str


@dataclass(frozen=True, slots=True)
class _Level:
    form: str = "decimal"
    text: str = ""
    start: int = 1
    restart: int | None = None
    legal: bool = False
    style: str = ""

    @classmethod
    def from_element(cls, element: Any) -> _Level:
        """Reads a level from its w:lvl element."""
        form = _read_form(element)
        restart = read_value(element, "w:lvlRestart")
        return cls(
            form=form,
            text=read_value(element, "w:lvlText") or "",
            start=parse_integer(read_value(element, "w:start"), 0 if form in ("bullet", "none") else 1),
            restart=None if restart is None else parse_integer(restart, 0),
            legal=bool(read_switch(element, "w:isLgl")),
            style=read_value(element, "w:pStyle") or "",
        )


@dataclass(frozen=True, slots=True)
class _List:
    """A w:num. Lists with the same `abstract` count together."""

    identifier: str
    abstract: str
    levels: Mapping[int, _Level]
    # The levels that restart with this list.
    starts: Mapping[int, int]


@dataclass(slots=True)
class ListCounters:
    """The current numbers of the lists of one story: the body, the text boxes, or the notes."""

    reached: dict[str, dict[int, int]] = field(default_factory=dict)
    begun: set[tuple[str, int]] = field(default_factory=set)


class Numbering:
    """The numbering of one document. styles: by their ids, as python-docx gives them."""

    def __init__(self, document: Any, styles: Mapping[str, Any]) -> None:
        self._styles = styles
        self._lists = dict(_read_lists(document, styles))
        self._places: dict[str, tuple[str, int]] = {}

    def count_paragraph(self, paragraph: Any, style: str, counters: ListCounters) -> Number | None:
        """Counts a paragraph and returns its number; None if it has none.

        Args:
            paragraph: The w:p element.
            style: Id of its style.
            counters: The numbers so far, which are advanced.
        """
        identifier, level = self._find_list(paragraph, style)
        found = self._lists.get(identifier)
        if found is None:
            return None
        level = min(max(level, 0), _DEEPEST)
        reached = _count_level(found, level, counters)
        return Number(level, _format_marker(found, level, reached))

    def _find_list(self, paragraph: Any, style: str) -> tuple[str, int]:
        """Returns list and level of a paragraph: each from the paragraph itself, else from its style or the style's
        bases.
        """
        own = find_property(paragraph, "w:pPr", "w:numPr")
        if own is None:
            if style not in self._places:
                self._places[style] = self._find_inherited_list(style, None, None)
            return self._places[style]
        return self._find_inherited_list(style, *_read_list_reference(own))

    def _find_inherited_list(self, style: str, identifier: str | None, level: int | None) -> tuple[str, int]:
        for base in list_base_styles(self._styles, style):
            if identifier is not None and level is not None:
                break
            inherited, depth = _read_list_reference(find_property(base.element, "w:pPr", "w:numPr"))
            if inherited is None and depth is None:
                continue
            if identifier is None:
                identifier = inherited
            if level is None and inherited in (None, identifier):
                linked = self._find_linked_level(identifier, base.style_id)
                level = linked if linked is not None else depth
        return identifier or "0", level or 0

    def _find_linked_level(self, identifier: str | None, style: str) -> int | None:
        """Returns the level of a list that a style is linked to, or None."""
        found = self._lists.get(identifier or "")
        levels = found.levels.items() if found else ()
        return next((depth for depth, level in levels if level.style == style), None)


def _count_level(found: _List, level: int, counters: ListCounters) -> dict[int, int]:
    """Counts a paragraph of this level; returns the numbers by level."""
    reached = counters.reached.setdefault(found.abstract, {})
    if level in found.starts and (found.identifier, level) not in counters.begun:
        reached[level] = found.starts[level]
    elif level in reached:
        reached[level] += 1
    else:
        reached[level] = _get_start(found, level)
    counters.begun.add((found.identifier, level))
    for deeper in [depth for depth in reached if depth > level]:
        restart = found.levels.get(deeper, _Level()).restart
        if restart is None or (restart and level < restart):
            del reached[deeper]
    return reached


def _get_start(found: _List, level: int) -> int:
    return found.starts.get(level, found.levels.get(level, _Level()).start)


def _format_marker(found: _List, level: int, reached: Mapping[int, int]) -> str:
    shape = found.levels.get(level, _Level())
    if shape.form == "bullet":
        return shape.text.strip() if _is_word(shape.text) else BULLET

    def format_place(placeholder: re.Match[str]) -> str:
        depth = int(placeholder[1]) - 1
        if depth > level:
            return ""
        form = found.levels.get(depth, _Level()).form
        number = reached.get(depth, _get_start(found, depth))
        return format_numeral(number, "decimal" if shape.legal and form != "none" else form)

    return " ".join(_PLACE.sub(format_place, shape.text).split())


def _is_word(bullet: str) -> bool:
    """Returns whether a bullet is a word (注：) and no sign: a single letter may be any sign of a symbol font."""
    return len(bullet.strip()) > 1 and any(map(str.isalpha, bullet))


def _read_lists(document: Any, styles: Mapping[str, Any]) -> Iterator[tuple[str, _List]]:
    parts = document.part.package.iter_parts()
    part = next((part for part in parts if part.partname == _PART), None)
    root = part.element if part is not None else None
    if root is None:
        return
    abstracts = {abstract.get(qn("w:abstractNumId")): abstract for abstract in root.iterfind(qn("w:abstractNum"))}
    numbers = {number.get(qn("w:numId")): number for number in root.iterfind(qn("w:num"))}
    shapes: dict[str, dict[int, _Level]] = {}
    for identifier, number in numbers.items():
        abstract = _resolve_definition(read_value(number, "w:abstractNumId"), abstracts, numbers, styles)
        if abstract not in abstracts:
            continue
        if abstract not in shapes:
            shapes[abstract] = dict(_read_levels(abstracts[abstract]))
        levels, starts = dict(shapes[abstract]), {}
        for override in number.iterfind(qn("w:lvlOverride")):
            depth = parse_integer(override.get(qn("w:ilvl")), 0)
            levels.update(_read_levels(override))
            if (start := read_value(override, "w:startOverride")) is not None:
                starts[depth] = parse_integer(start, 1)
        yield identifier, _List(identifier, abstract, levels, starts)


def _read_levels(parent: Any) -> Iterator[tuple[int, _Level]]:
    for element in parent.iterfind(qn("w:lvl")):
        yield parse_integer(element.get(qn("w:ilvl")), 0), _Level.from_element(element)


def _resolve_definition(
    identifier: str | None, abstracts: Mapping[str, Any], numbers: Mapping[str, Any], styles: Mapping[str, Any]
) -> str:
    """Returns the id of a list definition, or of that of the list style which it refers to."""
    for _ in range(_MOST_LINKS):
        abstract = abstracts.get(identifier or "")
        style = styles.get(read_value(abstract, "w:numStyleLink") or "")
        if style is None:
            break
        number = numbers.get(read_value(style.element, "w:pPr", "w:numPr", "w:numId") or "")
        if number is None:
            break
        identifier = read_value(number, "w:abstractNumId")
    return identifier or ""


def _read_list_reference(properties: Any) -> tuple[str | None, int | None]:
    """Returns the list and the level that a w:numPr names."""
    level = read_value(properties, "w:ilvl")
    return read_value(properties, "w:numId"), None if level is None else parse_integer(level, 0)


def _read_form(element: Any) -> str:
    """Returns the number form; that of Word 2010 ("001, 002, …") stands beside one for older readers."""
    for found in element.iter(qn("w:numFmt")):
        if found.get(_VAL) != "custom":
            return found.get(_VAL) or "decimal"
        sample = (found.get(qn("w:format")) or "").partition(",")[0].strip()
        if sample.isdecimal():
            return f"decimal{len(sample)}"
    return "decimal"
