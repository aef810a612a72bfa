"""Takes out of a page's tree what no reader of the page sees, so that nobody is told what it says."""

from __future__ import annotations

import re
from collections.abc import Mapping

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from knowledge.parsing.css import Declarations, Look, declarations, rules

_MAY_HIDE = re.compile(r"style|hidden|color|<font", re.IGNORECASE)
_COLOURED = {"color": "color", "text": "color", "bgcolor": "background-color"}
"""Attributes from before CSS."""

Sheets = Mapping[int, tuple[dict[str, str], dict[str, str]]]
"""What style sheets say of a node, by its `mem_id`, and what of it is important."""


def remove_invisible(tree: LexborHTMLParser, html: str) -> None:
    """Removes hidden elements and text below the body: not shown, not there, too small, or in the background's colour.

    Collapsed <details> and what is hidden from screen readers alone stay. `html`: the page's source.
    """
    if tree.body is None or not _MAY_HIDE.search(html):
        return
    sheets = _sheets(tree)
    waiting: list[tuple[LexborNode, Look]] = [(tree.body, Look())]
    if tree.root is not None and (page := Look().inside(_style(tree.root, sheets))):
        waiting = [(tree.body, page)]
    hidden: list[LexborNode] = []
    while waiting:
        node, around = waiting.pop()
        look = None if "hidden" in node.attributes else around.inside(_style(node, sheets))
        if look is None:
            hidden.append(node)
            continue
        child = node.first_child
        while child is not None:
            if child.is_element_node:
                waiting.append((child, look))
            elif child.is_text_node and not look.readable:
                hidden.append(child)
            child = child.next
    for node in hidden:
        node.decompose()


def _sheets(tree: LexborHTMLParser) -> Sheets:
    """Of all <style> elements; a rule of more weight, then a later one, has the last word."""
    found: dict[int, tuple[dict[str, str], dict[str, str]]] = {}
    sheet = "\n".join(style.text() for style in tree.css("style"))
    for rule in sorted(rules(sheet), key=lambda rule: rule.weight):
        try:
            nodes = tree.css(rule.selector)
        except SelectolaxError:
            continue
        for node in nodes:
            usual, important = found.setdefault(node.mem_id, ({}, {}))
            usual.update(rule.style)
            important.update(rule.important)
    return found


def _style(node: LexborNode, sheets: Sheets) -> Declarations:
    attributes = node.attributes
    style = {name: attributes[key] or "" for key, name in _COLOURED.items() if key in attributes}
    usual, important = sheets.get(node.mem_id, ({}, {}))
    own, own_important = declarations(attributes.get("style") or "")
    return style | usual | own | important | own_important
