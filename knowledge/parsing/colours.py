"""Decides whether text can be told from its background by colour."""

from __future__ import annotations

import re
from functools import lru_cache

from tinycss2.color4 import Color, parse_color

# Red, green and blue, 0 to 255. None elsewhere: a colour that cannot be known (a picture, a variable).
Colour = tuple[int, int, int]

WHITE: Colour = (255, 255, 255)
BLACK: Colour = (0, 0, 0)
# Largest difference of a channel that no reader sees: #e0e0e0 on white.
_NEAR = 32
# Share of its own colour under which text is as good as transparent.
_FAINT = 0.1
# Those that tinycss2 turns into red, green and blue.
_SPACES = {"srgb", "hsl", "hwb"}
# As Office writes a colour: without "#".
_HEX = re.compile(r"[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8}")


def is_indistinct(text: Colour | None, background: Colour | None) -> bool:
    """Returns whether text of one colour cannot be read on another."""
    if text is None or background is None:
        return False
    return max(abs(one - other) for one, other in zip(text, background, strict=True)) <= _NEAR


def blend_colours(colour: Colour | None, share: float, background: Colour | None) -> Colour | None:
    """Returns what a colour of some opacity (0 to 1) looks like on a background."""
    if share <= _FAINT:
        return background
    if share >= 1 or colour is None or background is None:
        return colour
    red, green, blue = (round(one * share + other * (1 - share)) for one, other in zip(colour, background, strict=True))
    return red, green, blue


# Documents repeat their colours.
@lru_cache(maxsize=1024)
def read_colour(value: str) -> tuple[Colour | None, float]:
    """Reads a CSS or Office colour and its opacity; (None, 1.0) if it is not understood."""
    value = value.strip().lower()
    colour = parse_color(f"#{value}" if _HEX.fullmatch(value) else value)
    if not isinstance(colour, Color) or colour.space not in _SPACES:  # nothing, or "currentcolor"
        return None, 1.0
    red, green, blue = (round(255 * min(1.0, max(0.0, share))) for share in colour.to("srgb").coordinates)
    return (red, green, blue), colour.alpha
