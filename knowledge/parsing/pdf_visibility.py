"""Decides which text of a PDF page is visible, by the objects that draw it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pypdfium2 import raw

from knowledge.parsing.colours import WHITE, Colour, is_indistinct

# Left, bottom, right, top, in points of the page.
Box = tuple[float, float, float, float]
Matrix = tuple[float, float, float, float, float, float]

_IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
# Points; nobody prints smaller for people.
_READABLE = 1.5
_FAINT = 0.1
_UNDRAWN = {raw.FPDF_TEXTRENDERMODE_INVISIBLE, raw.FPDF_TEXTRENDERMODE_CLIP}
_OUTLINED = {raw.FPDF_TEXTRENDERMODE_STROKE, raw.FPDF_TEXTRENDERMODE_STROKE_CLIP}
# Share of the page that a picture covers, whose recognised text is laid over it unseen.
_SCAN = 0.5
# Points; what is thinner is a line, nobody's background.
_MIN_SIDE = 4.0
_MAX_DEPTH = 12


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
    for handle, matrix in _list_objects(page.raw, raw.FPDFPage_CountObjects, raw.FPDFPage_GetObject, _IDENTITY, 0):
        if raw.FPDFPageObj_GetType(handle) == raw.FPDF_PAGEOBJ_TEXT:
            texts.append(_read_text(handle, matrix, len(surfaces)))
        elif (surface := _read_surface(handle, matrix)) is not None:
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


def _list_objects(container: Any, count: Any, get: Any, matrix: Matrix, depth: int) -> Iterator[tuple[Any, Matrix]]:
    """Yields all drawn objects in order, with the matrix that maps them to the page; forms are opened."""
    for index in range(count(container)):
        handle = get(container, index)
        if raw.FPDFPageObj_GetType(handle) != raw.FPDF_PAGEOBJ_FORM:
            yield handle, matrix
        elif depth < _MAX_DEPTH:
            inner = _join_matrices(_read_matrix(handle), matrix)
            yield from _list_objects(handle, raw.FPDFFormObj_CountObjects, raw.FPDFFormObj_GetObject, inner, depth + 1)


def _read_text(handle: Any, matrix: Matrix, below: int) -> _Text:
    size = ctypes.c_float()
    raw.FPDFTextObj_GetFontSize(handle, size)
    _, _, skewed, height, _, _ = _join_matrices(_read_matrix(handle), matrix)
    colour, opacity = _read_paint(handle)
    return _Text(
        address=_get_address(handle),
        box=_read_box(handle, matrix),
        size=abs(size.value) * (skewed**2 + height**2) ** 0.5,
        mode=raw.FPDFTextObj_GetTextRenderMode(handle),
        colour=colour,
        opacity=opacity,
        below=below,
    )


def _read_surface(handle: Any, matrix: Matrix) -> _Surface | None:
    """Returns the surface; None if it is not filled, or too thin to carry text."""
    kind = raw.FPDFPageObj_GetType(handle)
    box = _read_box(handle, matrix)
    if min(box[2] - box[0], box[3] - box[1]) < _MIN_SIDE:
        return None
    if kind in (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING):
        return _Surface(box, None, kind == raw.FPDF_PAGEOBJ_IMAGE)
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    if not raw.FPDFPath_GetDrawMode(handle, fill, stroke) or not fill.value:
        return None
    colour, opacity = _read_paint(handle)
    return _Surface(box, colour, False) if opacity >= _FAINT else None


def _read_paint(handle: Any) -> tuple[Colour, float]:
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not raw.FPDFPageObj_GetFillColor(handle, red, green, blue, alpha):
        return (0, 0, 0), 1.0
    return (red.value, green.value, blue.value), alpha.value / 255


def _read_matrix(handle: Any) -> Matrix:
    found = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(handle, found)
    return found.a, found.b, found.c, found.d, found.e, found.f


def _join_matrices(first: Matrix, then: Matrix) -> Matrix:
    """Returns the matrix that applies one after the other."""
    a, b, c, d, e, f = first
    g, h, i, j, k, m = then
    return a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m


def _read_box(handle: Any, matrix: Matrix) -> Box:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    raw.FPDFPageObj_GetBounds(handle, left, bottom, right, top)
    a, b, c, d, e, f = matrix
    corners = [(x.value, y.value) for x in (left, right) for y in (bottom, top)]
    across = [a * x + c * y + e for x, y in corners]
    upward = [b * x + d * y + f for x, y in corners]
    return min(across), min(upward), max(across), max(upward)


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
