"""Decides whether text can be told from its background by colour."""

from __future__ import annotations

import re
from colorsys import hls_to_rgb

# Red, green and blue, 0 to 255. None elsewhere: a colour that cannot be known (a picture, a variable).
Colour = tuple[int, int, int]

WHITE: Colour = (255, 255, 255)
BLACK: Colour = (0, 0, 0)
# Largest difference of a channel that no reader sees: #e0e0e0 on white.
_NEAR = 32
# Share of its own colour under which text is as good as transparent.
_FAINT = 0.1
# fmt: off
_NAMES: dict[str, Colour] = {
    "white": WHITE, "snow": (255, 250, 250), "ivory": (255, 255, 240), "ghostwhite": (248, 248, 255),
    "whitesmoke": (245, 245, 245), "floralwhite": (255, 250, 240), "mintcream": (245, 255, 250),
    "azure": (240, 255, 255), "aliceblue": (240, 248, 255), "honeydew": (240, 255, 240),
    "seashell": (255, 245, 238), "lightyellow": (255, 255, 224), "lightcyan": (224, 255, 255), "black": BLACK,
    "gray": (128, 128, 128), "grey": (128, 128, 128), "silver": (192, 192, 192), "lightgray": (211, 211, 211),
    "lightgrey": (211, 211, 211), "gainsboro": (220, 220, 220), "darkgray": (169, 169, 169), "red": (255, 0, 0),
    "darkred": (139, 0, 0), "maroon": (128, 0, 0), "green": (0, 128, 0), "lime": (0, 255, 0), "blue": (0, 0, 255),
    "navy": (0, 0, 128), "yellow": (255, 255, 0), "orange": (255, 165, 0), "purple": (128, 0, 128),
    "teal": (0, 128, 128), "aqua": (0, 255, 255), "cyan": (0, 255, 255), "fuchsia": (255, 0, 255),
    "magenta": (255, 0, 255), "olive": (128, 128, 0), "pink": (255, 192, 203), "brown": (165, 42, 42),
}
# fmt: on
_HEX = re.compile(r"#?([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_FUNCTION = re.compile(r"(rgb|hsl)a?\(([^()]{1,80})\)")
_PART = re.compile(r"-?[\d.]+%?")


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


def read_colour(value: str) -> tuple[Colour | None, float]:
    """Reads a CSS or Office colour and its opacity; (None, 1.0) if it is not understood."""
    value = value.strip().lower()
    if value == "transparent":
        return BLACK, 0.0
    if value in _NAMES:
        return _NAMES[value], 1.0
    if found := _HEX.fullmatch(value):
        return _read_hex(found.group(1))
    if found := _FUNCTION.fullmatch(value):
        return _read_function(found.group(1), _PART.findall(found.group(2)))
    return None, 1.0


def _read_hex(digits: str) -> tuple[Colour, float]:
    if len(digits) < 6:
        digits = "".join(digit * 2 for digit in digits)
    red, green, blue, *alpha = bytes.fromhex(digits)
    return (red, green, blue), alpha[0] / 255 if alpha else 1.0


def _read_function(kind: str, parts: list[str]) -> tuple[Colour | None, float]:
    if len(parts) not in (3, 4):
        return None, 1.0
    try:
        alpha = _read_number(parts[3], 1.0) if len(parts) == 4 else 1.0
        if kind == "hsl":
            shares: tuple[float, ...]
            hue, light = float(parts[0].rstrip("%")) / 360, _read_number(parts[2], 1.0)
            shares = hls_to_rgb(hue % 1, light, _read_number(parts[1], 1.0))
        else:
            first, second, third = (_read_number(part, 255.0) / 255 for part in parts[:3])
            shares = first, second, third
    except ValueError:
        return None, 1.0
    red, green, blue = (min(255, max(0, round(share * 255))) for share in shares)
    return (red, green, blue), alpha


def _read_number(part: str, whole: float) -> float:
    return float(part[:-1]) / 100 * whole if part.endswith("%") else float(part)
