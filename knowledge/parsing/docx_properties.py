"""How Word writes properties of paragraphs, runs and tables: as elements with a value, in styles based on others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from docx.oxml.ns import qn as _qualified

_OFF = ("0", "false", "off", "none")
# Styles that are based on each other: a broken file may have a circle of them.
_MOST_BASES = 20


@cache
def qn(name: str) -> str:
    """Returns a name such as w:p with its namespace in braces.

    Cached, because python-docx builds each anew, a hundred thousand times in a long document.
    """
    return str(_qualified(name))


def find_property(element: Any, *path: str) -> Any:
    """Returns what stands below an element at a path such as w:pPr, w:ind; None if it, or the element, is not there."""
    return None if element is None else element.find("/".join(map(qn, path)))


def read_value(element: Any, *path: str) -> str | None:
    """Returns the value of a property, see `find_property`; None if nothing is stated."""
    found = find_property(element, *path)
    return None if found is None else found.get(qn("w:val"))


def read_switch(element: Any, name: str) -> bool | None:
    """Returns whether a property is on, as it is without a value; None if nothing is stated."""
    found = find_property(element, name)
    return None if found is None else found.get(qn("w:val"), "1").lower() not in _OFF


def parse_integer(value: str | None, default: int) -> int:
    """Returns the whole part of a number; `default` if there is none."""
    try:
        return int(float(value)) if value else default
    except (ValueError, OverflowError):
        return default


def list_base_styles(styles: Mapping[str, Any], identifier: str | None) -> Iterator[Any]:
    """Yields a style and those that it is based on, the nearest first. styles: by their ids."""
    for _ in range(_MOST_BASES):
        style = styles.get(identifier or "")
        if style is None:
            return
        yield style
        identifier = read_value(style.element, "w:basedOn")
