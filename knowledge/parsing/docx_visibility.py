"""Decides which runs of a Word document are visible: not hidden, not tiny, not in the colour of the background."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from docx.oxml.ns import nsmap

from knowledge.parsing.colours import BLACK, WHITE, Colour, is_indistinct, read_colour
from knowledge.parsing.docx_properties import (
    find_property,
    list_base_styles,
    parse_integer,
    qn,
    read_switch,
    read_value,
)
from knowledge.parsing.formulas import MATH

_VAL = qn("w:val")
# Half points of a font.
_READABLE = 3
# Percent of a character's width.
_NARROWEST = 5
# Twips; a page of A4 is 11,906 wide.
_FAR_LEFT, _FAR_RIGHT = -8000, 20000
_HIGHLIGHTS = {"lightGray": "lightgray", "darkGray": "darkgray", "darkBlue": "navy", "darkGreen": "green"}
_W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_WPS = "{http://schemas.microsoft.com/office/word/2010/wordprocessingShape}"
_A = f"{{{nsmap['a']}}}"
_RUNS = (qn("w:r"), f"{MATH}r")
_PAINT = ("solidFill", "gradFill", "blipFill", "pattFill")


# What a style or a run says about how its text looks; what it says nothing about is not there.
_Ink = dict[str, Any]


class Visibility:
    """The visibility of text in one document. styles: by their ids, as python-docx gives them."""

    def __init__(self, document: Any, styles: Mapping[str, Any], default: Any) -> None:
        self._styles = styles
        self._default = default
        self._inks: dict[str, _Ink] = {}
        self._painted: dict[str, bool] = {}
        self._basic = _read_ink(find_property(document.styles.element, "w:docDefaults", "w:rPrDefault", "w:rPr"))
        page = document.element.find(qn("w:background"))
        self._page = _read_fill(page.get(qn("w:color"))) if page is not None else WHITE

    def is_visible(self, node: Any) -> bool:
        """Returns whether the text of a run is seen: a w:r, the m:r of a formula, or an element within one."""
        run = (
            node
            if node.tag in _RUNS
            else next((parent for parent in node.iterancestors() if parent.tag in _RUNS), None)
        )
        if run is None:
            return True
        paragraph = next((parent for parent in run.iterancestors() if parent.tag == qn("w:p")), None)
        properties = run.find(qn("w:rPr"))
        ink = self._basic | self._get_paragraph_ink(paragraph)
        if properties is not None:
            if (style := read_value(properties, "w:rStyle")) is not None:
                ink |= self._get_style_ink(style)
            ink |= _read_ink(properties)
        small = (ink.get("size") or _READABLE) < _READABLE or (ink.get("width") or 100) < _NARROWEST
        if small or ink.get("vanish") or ink.get("clear"):
            return False
        written = ink.get("colour", "auto")
        colour = BLACK if written == "auto" else read_colour(written)[0]
        return colour == BLACK or not is_indistinct(colour, self._find_background(run, properties, paragraph))

    def is_off_page(self, paragraph: Any) -> bool:
        """Returns whether a paragraph or its frame is moved out of the page."""
        indent = find_property(paragraph, "w:pPr", "w:ind")
        frame = find_property(paragraph, "w:pPr", "w:framePr")
        offsets = [indent.get(qn(f"w:{name}")) for name in ("left", "start", "firstLine")] if indent is not None else []
        offsets += [frame.get(qn(f"w:{name}")) for name in ("x", "y")] if frame is not None else []
        return any(not _FAR_LEFT < parse_integer(offset, 0) < _FAR_RIGHT for offset in offsets)

    def _get_paragraph_ink(self, paragraph: Any) -> _Ink:
        usual = self._default.style_id if self._default is not None else ""
        return self._get_style_ink(read_value(paragraph, "w:pPr", "w:pStyle") or usual)

    def _get_style_ink(self, identifier: str) -> _Ink:
        if identifier not in self._inks:
            ink: _Ink = {}
            for style in reversed(list(list_base_styles(self._styles, identifier))):
                ink |= _read_ink(style.element.find(qn("w:rPr")))
            self._inks[identifier] = ink
        return self._inks[identifier]

    def _find_background(self, run: Any, properties: Any, paragraph: Any) -> Colour | None:
        """Returns the colour behind a run: its own, the paragraph's, the cell's, the text box's or the page's."""
        if (highlight := read_value(properties, "w:highlight") or "none") != "none":
            return read_colour(_HIGHLIGHTS.get(highlight, highlight))[0]
        if (shading := _Shading.from_properties(properties)) is not None:
            return shading.colour
        for parent in run.iterancestors():
            if parent.tag in (qn("w:p"), qn("w:tc")):
                own = parent.find(qn("w:pPr") if parent.tag == qn("w:p") else qn("w:tcPr"))
                if (shading := _Shading.from_properties(own)) is not None:
                    return shading.colour
                if parent.tag == qn("w:p") and (shading := self._find_style_shading(own)) is not None:
                    return shading.colour
            elif parent.tag == qn("w:tbl") and self._has_table_colours(parent):
                return None
            elif parent.tag == qn("w:txbxContent"):
                return _read_box_colour(parent)
        return self._page

    def _find_style_shading(self, properties: Any) -> _Shading | None:
        for style in list_base_styles(self._styles, read_value(properties, "w:pStyle")):
            if (shading := _Shading.from_properties(style.element.find(qn("w:pPr")))) is not None:
                return shading
        return None

    def _has_table_colours(self, table: Any) -> bool:
        """Returns whether a table's style colours some of its cells; only Word knows which ones."""
        identifier = read_value(table, "w:tblPr", "w:tblStyle") or ""
        if identifier not in self._painted:
            styles = list_base_styles(self._styles, identifier)
            shades = (shade for style in styles for shade in style.element.iter(qn("w:shd")))
            self._painted[identifier] = any(_read_fill(shade.get(qn("w:fill"))) != WHITE for shade in shades)
        return self._painted[identifier]


@dataclass(frozen=True, slots=True)
class _Shading:
    colour: Colour | None

    @classmethod
    def from_properties(cls, properties: Any) -> _Shading | None:
        shade = find_property(properties, "w:shd")
        if shade is None or shade.get(_VAL) == "nil":
            return None
        if shade.get(_VAL, "clear") not in ("clear", "solid"):
            return cls(None)  # a pattern
        value = shade.get(qn("w:color") if shade.get(_VAL) == "solid" else qn("w:fill"))
        return None if value in (None, "auto") else cls(_read_fill(value))


def _read_ink(properties: Any) -> _Ink:
    """Reads the look from run properties."""
    if properties is None:
        return {}
    size, width = read_value(properties, "w:sz"), read_value(properties, "w:w")
    fill = properties.find(f"{_W14}textFill")
    ink = {
        "vanish": read_switch(properties, "w:vanish"),
        "colour": read_value(properties, "w:color"),
        "size": None if size is None else parse_integer(size, 24),
        "width": None if width is None else parse_integer(width.rstrip("%"), 100),
        "clear": None if fill is None else fill.find(f"{_W14}noFill") is not None,
    }
    return {name: value for name, value in ink.items() if value is not None}


def _read_box_colour(content: Any) -> Colour | None:
    """Returns the colour of a text box; white if it has none, None if a picture or a theme decides."""
    for parent in content.iterancestors():
        if parent.tag == f"{_WPS}wsp":
            shape = parent.find(f"{_WPS}spPr")
            painted = shape is not None and any(shape.find(_A + name) is not None for name in _PAINT)
            styled = parent.find(f"{_WPS}style") is not None and (shape is None or shape.find(f"{_A}noFill") is None)
            return None if painted or styled else WHITE
        if parent.get("fillcolor"):
            return None
    return WHITE


def _read_fill(value: str | None) -> Colour | None:
    return WHITE if value in (None, "auto") else read_colour(value or "")[0]
