"""Paragraphs of PowerPoint as shown: with numbers, bullets, fields, line breaks and formulas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pptx.oxml.ns import qn

from knowledge.blocks import Block, BlockKind
from knowledge.parsing.formulas import FORMULA, PARAGRAPH, write_formula
from knowledge.parsing.numerals import format_numeral
from knowledge.parsing.omissions import Omissions, OmittedPart
from knowledge.parsing.pieces import build_item

# Hundredths of a point; smaller text is not seen.
_SMALLEST = 150
_BULLETS = {qn("a:buChar"), qn("a:buBlip")}
_NUMBERED, _PLAIN = qn("a:buAutoNum"), qn("a:buNone")
# By how the name of a kind of numbers begins (alphaLcParenR); all others are written in digits.
_FORMS = {
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
    "circleNum": "decimalEnclosedCircle",
    "ea1": "chineseCountingThousand",
    "arabicDb": "decimalFullWidth",
}
_SHAPES = {"ParenBoth": "({})", "ParenR": "{})", "Period": "{}.", "Minus": "- {} -"}


@dataclass(slots=True)
class _Count:
    kind: tuple[str, str]
    reached: int


class _Markers:
    """The markers before the paragraphs of one text body."""

    def __init__(self) -> None:
        self._counts: dict[int, _Count] = {}

    def get_marker(self, paragraph: Any, level: int) -> str:
        """Returns a number, "-" for a bullet, or "" for none; a paragraph below the first level is an item in any
        case.
        """
        properties = paragraph.find(qn("a:pPr"))
        properties_by_tag = {child.tag: child for child in properties} if properties is not None else {}
        self._counts = {depth: count for depth, count in self._counts.items() if depth <= level}
        if (number := properties_by_tag.get(_NUMBERED)) is not None:
            return self._count_number(number, level)
        self._counts.pop(level, None)
        return "-" if _BULLETS & properties_by_tag.keys() or (level and _PLAIN not in properties_by_tag) else ""

    def _count_number(self, number: Any, level: int) -> str:
        kind, start = number.get("type") or "arabicPeriod", number.get("startAt") or "1"
        count = self._counts.get(level)
        if count is None or count.kind != (kind, start):
            count = self._counts[level] = _Count((kind, start), (int(start) if start.isdecimal() else 1) - 1)
        count.reached += 1
        form = next((form for name, form in _FORMS.items() if kind.startswith(name)), "decimal")
        shape = next((shape for name, shape in _SHAPES.items() if kind.endswith(name)), "{}")
        return shape.format(format_numeral(count.reached, form))


def read_paragraphs(body: Any, page: int, left_out: Omissions) -> Iterator[Block]:
    """Yields the non-empty paragraphs of a p:txBody or a:txBody."""
    markers = _Markers()
    for paragraph in body.iterfind(qn("a:p")):
        parts: list[str] = []
        formulas: list[str] = []
        _read_nodes(paragraph, parts, formulas, page, left_out)
        text = "".join(parts).replace("\v", "\n").strip()
        if not text:
            continue
        level = _read_level(paragraph)
        if marker := markers.get_marker(paragraph, level):
            yield build_item(marker, text, level, page)
        else:
            alone = any(formulas) and "".join(formulas).strip() == text
            yield Block(text, page=page, kind=BlockKind.FORMULA if alone else BlockKind.PARAGRAPH)


def _read_nodes(parent: Any, parts: list[str], formulas: list[str], page: int, left_out: Omissions) -> None:
    for node in parent:
        if node.tag in (qn("a:r"), qn("a:fld")):
            text = node.findtext(qn("a:t")) or ""
            if node.get("type") == "slidenum":
                left_out.add(OmittedPart.PAGE_NUMBER, text, page)
            elif _is_readable(node):
                parts.append(text)
        elif node.tag == qn("a:br"):
            parts.append("\n")
        elif node.tag in (FORMULA, PARAGRAPH):
            formulas.append(write_formula(node))
            parts.append(formulas[-1])
        elif isinstance(node.tag, str) and not node.tag.endswith("}Fallback"):
            _read_nodes(node, parts, formulas, page, left_out)


def _is_readable(run: Any) -> bool:
    properties = run.find(qn("a:rPr"))
    size = properties.get("sz") or "" if properties is not None else ""
    return not size.isdecimal() or int(size) >= _SMALLEST


def _read_level(paragraph: Any) -> int:
    properties = paragraph.find(qn("a:pPr"))
    level = properties.get("lvl") or "" if properties is not None else ""
    return int(level) if level.isdecimal() else 0
