"""Fonts and colours of the diagrams, by light and by dark."""

from __future__ import annotations

from collections.abc import Mapping

_SANS = 'system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC", sans-serif'
_MONO = 'ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace'
# Names of classes -> fill and stroke.
_Palette = Mapping[str, tuple[str | None, str | None]]
_LIGHT: _Palette = {
    ".sheet": ("#ffffff", "#dfe3ea"),
    ".group": ("#f7f8fb", "#e6e9f0"),
    ".step": ("#f1f4f9", "#bcc5d4"),
    ".model": ("#eef1ff", "#93a1ee"),
    ".agent": ("#eaf8f1", "#6dbb98"),
    ".person": ("#fff3e4", "#e0a35a"),
    ".stop": ("#fbeeee", "#dba3a3"),
    "text": ("#1d2330", "none"),
    ".quiet": ("#5b6679", None),
    ".line": ("none", "#77839a"),
    ".life": ("none", "#d3d9e3"),
    ".head, .dot": ("#77839a", "none"),
    ".over": (None, "#ffffff"),
}
_DARK: _Palette = {
    ".sheet": ("#1d212a", "#353c4a"),
    ".group": ("#232833", "#323947"),
    ".step": ("#2b313e", "#566178"),
    ".model": ("#292e52", "#7482dd"),
    ".agent": ("#1c3a2f", "#4f9f7d"),
    ".person": ("#40301c", "#bb8544"),
    ".stop": ("#3f2729", "#a86a6c"),
    "text": ("#e8ebf2", "none"),
    ".quiet": ("#a3adbe", None),
    ".line": ("none", "#94a0b5"),
    ".life": ("none", "#3d4556"),
    ".head, .dot": ("#94a0b5", "none"),
    ".over": (None, "#1d212a"),
}
_SHAPES = f"""text {{ font: 13px {_SANS}; white-space: pre; }}
.mono {{ font-family: {_MONO}; font-size: 12px; }}
.bold {{ font-weight: 600; }}
.small {{ font-size: 12px; }}
.line {{ stroke-width: 1.4; }}
.life {{ stroke-width: 1.4; stroke-dasharray: 3 4; }}
.over {{ paint-order: stroke; stroke-width: 7px; stroke-linejoin: round; }}"""


def style() -> str:
    """The style sheet; which colours hold is up to the reader."""
    return f"{_SHAPES}\n{_colours(_LIGHT)}\n@media (prefers-color-scheme: dark) {{\n{_colours(_DARK)}\n}}"


def _colours(palette: _Palette) -> str:
    rules = []
    for names, colours in palette.items():
        painted = (f"{part}: {colour};" for part, colour in zip(("fill", "stroke"), colours, strict=True) if colour)
        rules.append(f"{names} {{ {' '.join(painted)} }}")
    return "\n".join(rules)
