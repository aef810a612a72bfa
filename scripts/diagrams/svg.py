"""A sheet of boxes, arrows and text that becomes an SVG: the same input gives the same bytes.

The sheet brings its own background, light or dark as the reader prefers, so it can be read on any page. Fonts are
those of the reader; nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from unicodedata import east_asian_width
from xml.sax.saxutils import escape, quoteattr

# Between the edge of a box and its text.
PAD = 12
# Fonts and colours, by light and by dark.
_STYLE = Path(__file__).with_name("theme.css").read_text("utf-8").strip()


@dataclass(frozen=True, slots=True)
class DrawnBox:
    """A rectangle in pixels, from its upper left corner."""

    x: int
    y: int
    width: int
    height: int

    @property
    def right(self) -> int:
        return self.x + self.width

    @property
    def bottom(self) -> int:
        return self.y + self.height

    @property
    def middle(self) -> tuple[int, int]:
        return self.x + self.width // 2, self.y + self.height // 2


@dataclass(frozen=True, slots=True)
class DrawnSpan:
    """A piece of a line of text; style: classes of the sheet, such as `mono`, `bold`, `quiet`."""

    text: str
    style: str = ""

    @property
    def width(self) -> float:
        """About, in pixels and rather too much: Chinese fills a square, Latin a good half of one."""
        style = self.style.split()
        narrow = 0.62 if "mono" in style else 0.66 if "bold" in style else 0.57
        size = 12 if "mono" in style or "small" in style else 13
        return size * sum(1.0 if east_asian_width(char) in "WF" else narrow for char in self.text)


def measure_width(spans: Sequence[DrawnSpan]) -> float:
    """About how long a line of text is, in pixels."""
    return sum(span.width for span in spans)


class Sheet:
    """Collects shapes in the order of painting."""

    def __init__(self, width: int, title: str, language: str) -> None:
        self._width = width
        self._title = title
        self._language = language
        self._shapes: list[str] = []

    def add_box(self, box: DrawnBox, kind: str, *, name: str = "") -> None:
        """kind: its colours. name: what of the code it stands for; stays in the file for who reads that."""
        data = f" data-name={quoteattr(name)}" if name else ""
        shape = f'x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}" rx="7"'
        self._shapes.append(f'<rect class="{kind}" {shape}{data}/>')

    def add_text(
        self, x: float, y: int, spans: Sequence[DrawnSpan], anchor: str = "start", *, over: bool = False
    ) -> None:
        """Adds a line of text. y: its base line; over: on top of lines, which it interrupts."""
        pieces = "".join(_render_span(span) for span in spans)
        style = ' class="over"' if over else ""
        self._shapes.append(f'<text{style} x="{x:g}" y="{y}" text-anchor="{anchor}">{pieces}</text>')

    def add_row(self, box: DrawnBox, y: int, columns: Sequence[tuple[int, DrawnSpan]], right: DrawnSpan) -> None:
        """A line inside a box: spans, each so far from the left edge, and one that ends at the right edge.

        Raises ValueError when one reaches into the next.
        """
        ends = [start for start, _ in columns[1:]] + [box.width - PAD - round(right.width)]
        for (start, span), end in zip(columns, ends, strict=True):
            _check_fit(start + span.width, end, span)
            self.add_text(box.x + start, y, [span])
        if right.text:
            self.add_text(box.right - PAD, y, [right], "end")

    def add_centred(self, box: DrawnBox, y: int, spans: Sequence[DrawnSpan]) -> None:
        """Adds a line in the middle of a box. Raises ValueError when it does not fit."""
        _check_fit(measure_width(spans), box.width - 8, *spans)
        self.add_text(box.middle[0], y, spans, "middle")

    def add_line(self, points: Sequence[tuple[int, int]], kind: str = "line") -> None:
        """Adds straight pieces between the points."""
        path = " ".join(f"{x},{y}" for x, y in points)
        self._shapes.append(f'<polyline class="{kind}" points="{path}"/>')

    def add_curve(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Adds a curve that leaves and arrives horizontally."""
        (x1, y1), (x2, y2) = start, end
        bend = (x1 + x2) // 2
        self._shapes.append(f'<path class="line" d="M{x1},{y1} C{bend},{y1} {bend},{y2} {x2},{y2}"/>')

    def add_arrow(self, points: Sequence[tuple[int, int]]) -> None:
        """A line with its head at the last point; its last piece is horizontal or vertical."""
        (x1, y1), (x2, y2) = points[-2:]
        dx, dy = (x2 > x1) - (x2 < x1), (y2 > y1) - (y2 < y1)
        back = x2 - 7 * dx, y2 - 7 * dy
        self.add_line([*points[:-1], back])
        self.add_head((x2, y2), (dx, dy))

    def add_head(self, tip: tuple[int, int], direction: tuple[int, int]) -> None:
        """Adds an arrow's head. direction: a unit step along an axis."""
        (x, y), (dx, dy) = tip, direction
        sides = [(x - 9 * dx + side * dy, y - 9 * dy + side * dx) for side in (4, -4)]
        path = " ".join(f"{a},{b}" for a, b in ((x, y), *sides))
        self._shapes.append(f'<polygon class="head" points="{path}"/>')

    def add_dot(self, x: int, y: int, radius: int = 4) -> None:
        self._shapes.append(f'<circle class="dot" cx="{x}" cy="{y}" r="{radius}"/>')

    def render(self, height: int) -> str:
        """Returns the whole file."""
        size = f'viewBox="0 0 {self._width} {height}" width="{self._width}" height="{height}"'
        frame = f'<rect class="sheet" x="0.5" y="0.5" width="{self._width - 1}" height="{height - 1}" rx="10"/>'
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" xml:lang="{self._language}">',
                f"<title>{escape(self._title)}</title>",
                f"<style>\n{_STYLE}\n</style>",
                frame,
                *self._shapes,
                "</svg>\n",
            ]
        )


def _check_fit(needed: float, room: float, *spans: DrawnSpan) -> None:
    if needed > room:
        raise ValueError(f"{needed:.0f} px long, {room:.0f} px of room: {''.join(span.text for span in spans)}")


def _render_span(span: DrawnSpan) -> str:
    style = f' class="{span.style}"' if span.style else ""
    return f"<tspan{style}>{escape(span.text)}</tspan>"
