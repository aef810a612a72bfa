"""The part of CSS that decides whether text is visible."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import tinycss2

from knowledge.parsing.colours import BLACK, WHITE, Colour, blend_colours, is_indistinct, read_colour

# Values by property, in lower case, "!important" left out.
Declarations = Mapping[str, str]

_LENGTH = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(px|pt|pc|em|rem|ex|ch|cm|mm|in|vw|vh|vmin|vmax|%)?")
_SHOWN_MEDIA = re.compile(r"(?:only\s+)?(?:screen|all)", re.IGNORECASE)
_PICTURE = re.compile(r"url\(|gradient\(|image\(|var\(")
_PIXELS = {"px": 1.0, "pt": 4 / 3, "pc": 16.0, "cm": 37.8, "mm": 3.78, "in": 96.0}
_PIXELS |= dict.fromkeys(("vw", "vh", "vmin", "vmax"), 10.0)
_SIZES = {"xx-small": 9.0, "x-small": 10.0, "small": 13.0, "medium": 16.0, "large": 18.0, "smaller": 12.0}
_BODY_SIZE = 16.0
# Pixels of a font; smaller print is there for machines.
_READABLE = 3.0
# Pixels to the left or above; to the right and below pages are longer.
_OFF_PAGE = 999.0
_FAR = 5000.0
# Opacity.
_UNSEEN = 0.05
# The one way to hide an element that elements within it can undo.
VISIBILITY = "visibility"
# What scripts change to show what they have made ready.
TOGGLES = frozenset(("display", "opacity", VISIBILITY))
_SPECIFIC = (re.compile(r"#"), re.compile(r"[.\[]"), re.compile(r"(?:^|[\s>+~])[a-z]", re.IGNORECASE))


@dataclass(frozen=True, slots=True)
class TextStyle:
    """How text looks in an element. `size` is in pixels; a colour is None if it cannot be known."""

    colour: Colour | None = BLACK
    background: Colour | None = WHITE
    size: float = _BODY_SIZE
    visible: bool = True
    opacity: float = 1.0

    @property
    def readable(self) -> bool:
        """Whether text directly in the element can be seen."""
        return self.visible and self.size >= _READABLE and not is_indistinct(self.colour, self.background)

    def list_ways_to_hide(self, style: Declarations) -> frozenset[str]:
        """Returns how a style hides an element within this one: some of `TOGGLES`, and "place" if it is out of
        sight.
        """
        size = _read_font_size(style, self.size)
        ways = {
            "display": style.get("display") == "none" or style.get("content-visibility") == "hidden",
            "opacity": self.opacity * _read_share(style.get("opacity", "1")) <= _UNSEEN,
            VISIBILITY: self.visible and style.get("visibility") in ("hidden", "collapse"),
            "place": _is_off_page(style, size) or _is_cut_away(style, size),
        }
        return frozenset(way for way, holds in ways.items() if holds)

    def enter_element(self, style: Declarations) -> TextStyle | None:
        """Returns the style inside an element within this one; None if nothing in it can be seen."""
        if self.list_ways_to_hide(style) - {VISIBILITY}:
            return None
        size = _read_font_size(style, self.size)
        opacity = self.opacity * _read_share(style.get("opacity", "1"))
        background = _read_background(style, self.background)
        colour = self.colour
        if value := style.get("-webkit-text-fill-color") or style.get("color"):
            colour = (
                self.colour if value in ("inherit", "currentcolor") else blend_colours(*read_colour(value), background)
            )
        visible = {"hidden": False, "collapse": False, "visible": True}.get(style.get("visibility", ""), self.visible)
        return replace(self, colour=colour, background=background, size=size, visible=visible, opacity=opacity)


@dataclass(frozen=True, slots=True)
class StyleRule:
    """One selector with its declarations; `weight` orders the rules that apply to one element."""

    selector: str
    style: Declarations
    important: Declarations
    weight: tuple[int, int, int, int]


# Pages repeat the styles of their elements thousands of times; to read one takes 0.15 ms.
@lru_cache(maxsize=4096)
def read_declarations(style: str) -> tuple[dict[str, str], dict[str, str]]:
    """Reads the declarations of a style attribute: the normal ones, then the important ones; the last one counts."""
    return _collect_declarations(tinycss2.parse_blocks_contents(style))


def read_rules(sheet: str) -> list[StyleRule]:
    """Returns the rules that always apply on a screen: no states, no pseudo-elements, no conditions but `@media
    screen`.
    """
    rules: list[StyleRule] = []
    nodes = deque(tinycss2.parse_stylesheet(sheet))
    while nodes:
        node = nodes.popleft()
        if (
            node.type == "at-rule"
            and node.lower_at_keyword == "media"
            and node.content is not None
            and _SHOWN_MEDIA.fullmatch(_write(node.prelude))
        ):
            nodes.extendleft(reversed(tinycss2.parse_rule_list(node.content)))
        elif node.type == "qualified-rule":
            style, important = _collect_declarations(tinycss2.parse_blocks_contents(node.content))
            for selector in _write(node.prelude).split(","):
                if (selector := selector.strip()) and ":" not in selector:
                    ids, classes, tags = (len(pattern.findall(selector)) for pattern in _SPECIFIC)
                    rules.append(StyleRule(selector, style, important, (ids, classes, tags, len(rules))))
    return rules


def _collect_declarations(nodes: Iterable[Any]) -> tuple[dict[str, str], dict[str, str]]:
    found: tuple[dict[str, str], dict[str, str]] = {}, {}
    for node in nodes:
        if node.type == "declaration":
            found[node.important][node.lower_name] = _write(node.value).lower()
    return found


def _write(nodes: Iterable[Any]) -> str:
    """Returns the text of parsed CSS without comments; empty where it is nested as deep as nobody nests it."""
    try:
        text: str = tinycss2.serialize(node for node in nodes if node.type != "comment")
    except RecursionError:
        return ""
    return text.strip()


def _read_background(style: Declarations, behind: Colour | None) -> Colour | None:
    if _PICTURE.search(style.get("background-image", "") + style.get("background", "")):
        return None
    value = style.get("background-color") or style.get("background", "")
    if value in ("", "none", "inherit", "initial", "unset"):
        return behind
    colour, share = read_colour(value)
    if colour is None:  # a shorthand: the one part of it that is a colour
        parts = re.findall(r"[a-z]+\([^)]*\)|[^\s/]+", value)
        colour, share = next((found for part in parts if (found := read_colour(part))[0] is not None), (None, 1.0))
    return behind if share == 0 else blend_colours(colour, share, behind)


def _read_font_size(style: Declarations, parent: float) -> float:
    value = style.get("font-size", "")
    if not value and (font := style.get("font")):
        value = next((part for part in re.split(r"[\s/]+", font) if _LENGTH.fullmatch(part) and _has_unit(part)), "")
    if value in _SIZES:
        return _SIZES[value]
    length = _read_pixels(value, parent, parent)
    return parent if length is None else abs(length)


def _has_unit(part: str) -> bool:
    """Returns whether a number is a size: a weight such as 700 is none, 0 is one."""
    return not part.isdecimal() or part == "0"


def _is_off_page(style: Declarations, size: float) -> bool:
    moved = style.get("position") in ("absolute", "fixed", "relative", "sticky")
    offsets = ["text-indent", "margin-left", "margin-top", *(("left", "top", "right", "bottom") if moved else ())]
    for offset in offsets:
        length = _read_pixels(style.get(offset, ""), size, _OFF_PAGE)
        if length is not None and (length <= -_OFF_PAGE or length >= _FAR):
            return True
    if style.get("text-indent") == "100%" and style.get("overflow") == "hidden":
        return True
    transform = style.get("transform", "")
    if re.search(r"scale[xy]?\(\s*0*\.?0*\s*[,)]", transform):
        return True
    shifts = re.findall(r"translate[xy3d]*\(([^)]*)\)", transform)
    lengths = (_read_pixels(part.strip(), size, 100.0) for shift in shifts for part in shift.split(","))
    return any(length is not None and abs(length) >= _OFF_PAGE for length in lengths)


def _is_cut_away(style: Declarations, size: float) -> bool:
    """Returns whether it is clipped to nothing, or a box of at most a pixel that hides what flows over."""
    clip, path = style.get("clip", ""), style.get("clip-path", "")
    if clip.startswith("rect"):
        parts = re.findall(r"[^\s,()]+", clip.removeprefix("rect"))
        edges = [length for part in parts if (length := _read_pixels(part, size, 0.0)) is not None]
        if len(edges) == 4 and (edges[2] - edges[0] <= 1 or edges[1] - edges[3] <= 1):
            return True
    if re.match(r"inset\(\s*(?:[5-9]\d|100)(?:\.\d+)?%|circle\(\s*0", path):
        return True
    if not any(style.get(name) in ("hidden", "clip") for name in ("overflow", "overflow-x", "overflow-y")):
        return False
    boxes = (_read_pixels(style.get(name, ""), size, 100.0) for name in ("width", "height", "max-width", "max-height"))
    return any(length is not None and 0 <= length <= 1 for length in boxes)


def _read_share(value: str) -> float:
    try:
        return float(value[:-1]) / 100 if value.endswith("%") else float(value)
    except ValueError:
        return 1.0


def _read_pixels(value: str, em: float, whole: float) -> float | None:
    """Reads a length in pixels; None if it is none.

    Args:
        value: The length.
        em: Pixels of 1 em.
        whole: Pixels of 100 %.
    """
    found = _LENGTH.fullmatch(value)
    if not found:
        return None
    number, unit = float(found.group(1)), found.group(2) or "px"
    if unit == "%":
        return number / 100 * whole
    if unit == "rem":
        return number * _BODY_SIZE
    return number * (_PIXELS.get(unit) or (em if unit == "em" else em / 2))
