"""Decides which text of a PDF page is visible, by the objects that draw it."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from pypdfium2 import PdfMatrix, raw

from knowledge.parsing.colours import WHITE, Colour, is_indistinct

# Left, bottom, right, top, in points of the page.
Box = tuple[float, float, float, float]

# Points; nobody prints smaller for people.
_READABLE = 1.5
_FAINT = 0.1
_UNDRAWN = {raw.FPDF_TEXTRENDERMODE_INVISIBLE, raw.FPDF_TEXTRENDERMODE_CLIP}
_OUTLINED = {raw.FPDF_TEXTRENDERMODE_STROKE, raw.FPDF_TEXTRENDERMODE_STROKE_CLIP}
# Share of the page that a picture covers, whose recognised text is laid over it unseen.
_SCAN = 0.5
# Points; what is thinner is a line, nobody's background.
_MIN_SIDE = 4.0
# The page, and forms within forms.
_MAX_DEPTH = 13


@dataclass(frozen=True, slots=True)
class _Surface:
    """A painted surface behind text; `colour` is None for pictures and shadings."""

    box: Box
    colour: Colour | None
    picture: bool


@dataclass(frozen=True, slots=True)
class _Text:
    """A text object."""

    address: int
    box: Box
    size: float
    mode: int
    colour: Colour
    opacity: float
    # How many surfaces were painted before it.
    below: int


def remove_invisible(page: Any, text_page: Any, text: str) -> str:
    """Returns the page's text with a blank for every invisible character, so that places in it stay valid."""
    hidden = _find_hidden(page)
    if not hidden:
        return text
    kept = list(text)
    for index in range(len(kept)):
        character = raw.FPDFText_GetCharIndexFromTextIndex(text_page, index)
        if character >= 0 and _get_address(raw.FPDFText_GetTextObject(text_page, character)) in hidden:
            kept[index] = " "
    return "".join(kept)


def _find_hidden(page: Any) -> frozenset[int]:
    """Returns the addresses of the text objects that are not visible."""
    shown: Box = page.get_bbox()
    surfaces: list[_Surface] = []
    texts: list[_Text] = []
    for item in page.get_objects(max_depth=_MAX_DEPTH):
        if item.type == raw.FPDF_PAGEOBJ_TEXT:
            texts.append(_read_text(item, len(surfaces)))
        elif item.type != raw.FPDF_PAGEOBJ_FORM and (surface := _read_surface(item)) is not None:
            surfaces.append(surface)
    colours = {surface.colour for surface in surfaces} | {WHITE}
    scans = [
        surface
        for surface in surfaces
        if surface.picture and _compute_area(surface.box) >= _SCAN * _compute_area(shown)
    ]
    return frozenset(text.address for text in texts if _is_unseen(text, shown, surfaces, colours, scans))


def _is_unseen(
    text: _Text, shown: Box, surfaces: list[_Surface], colours: set[Colour | None], scans: list[_Surface]
) -> bool:
    if not _has_overlap(text.box, shown) or (text.size < _READABLE and text.box[3] - text.box[1] < _READABLE):
        return True
    if text.mode in _UNDRAWN or text.opacity < _FAINT:
        return not any(_contains_middle(scan.box, text.box) for scan in scans)
    if text.mode in _OUTLINED or not any(is_indistinct(text.colour, colour) for colour in colours):
        return False
    behind = (surface for surface in reversed(surfaces[: text.below]) if _contains_middle(surface.box, text.box))
    surface = next(behind, None)
    return is_indistinct(text.colour, surface.colour if surface is not None else WHITE)


def _read_text(item: Any, below: int) -> _Text:
    matrix = item.get_matrix().multiply(_build_page_matrix(item))
    colour, opacity = _read_paint(item)
    return _Text(
        address=_get_address(item.raw),
        box=_read_box(item),
        size=abs(item.get_font_size()) * (matrix.c**2 + matrix.d**2) ** 0.5,
        mode=raw.FPDFTextObj_GetTextRenderMode(item),
        colour=colour,
        opacity=opacity,
        below=below,
    )


def _read_surface(item: Any) -> _Surface | None:
    """Returns the surface; None if it is not filled, or too thin to carry text."""
    box = _read_box(item)
    if min(box[2] - box[0], box[3] - box[1]) < _MIN_SIDE:
        return None
    if item.type in (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING):
        return _Surface(box, None, item.type == raw.FPDF_PAGEOBJ_IMAGE)
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    if not raw.FPDFPath_GetDrawMode(item, fill, stroke) or not fill.value:
        return None
    colour, opacity = _read_paint(item)
    return _Surface(box, colour, False) if opacity >= _FAINT else None


def _read_paint(item: Any) -> tuple[Colour, float]:
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not raw.FPDFPageObj_GetFillColor(item, red, green, blue, alpha):
        return (0, 0, 0), 1.0
    return (red.value, green.value, blue.value), alpha.value / 255


def _read_box(item: Any) -> Box:
    box: Box = _build_page_matrix(item).on_rect(*item.get_bounds())
    return box


def _build_page_matrix(item: Any) -> Any:
    """Returns the matrix that maps the coordinates around an object, which are those of its form, to the page."""
    matrix = PdfMatrix()
    while (item := item.container) is not None:
        matrix = matrix.multiply(item.get_matrix())
    return matrix


def _get_address(handle: Any) -> int:
    return ctypes.cast(handle, ctypes.c_void_p).value or 0


def _has_overlap(one: Box, other: Box) -> bool:
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]


def _contains_middle(outer: Box, inner: Box) -> bool:
    """Returns whether the middle of one box is inside another."""
    across, upward = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] <= across <= outer[2] and outer[1] <= upward <= outer[3]


def _compute_area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
