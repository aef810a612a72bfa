"""Takes out of a page's tree what no reader of the page sees, so that nobody is told what it says.

A page that hides most of its text waits for a script to show it: articles of WeChat, sections that fade in. That text
is read. What is hidden in another way (off the page, tiny, in the background's colour), in several ways, or within what
is shown then, stays out all the same.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from knowledge.parsing.css import TOGGLES, VISIBILITY, Declarations, TextStyle, read_declarations, read_rules
from knowledge.parsing.markup_runs import list_texts
from knowledge.parsing.omissions import count_visible

_MAY_HIDE = re.compile(r"style|hidden|color|<font", re.IGNORECASE)
# Attributes from before CSS.
_COLOURED = {"color": "color", "text": "color", "bgcolor": "background-color"}
_UNREAD = {"script", "style", "noscript", "template", "head", "svg", "select", "button", "textarea"}
_FURNITURE = {"nav", "footer", "header", "aside", "a"}
_PROSE = re.compile(r"[，。！？；!?;]|[a-z]{2}[.,]\s")
# Texts and characters of a body that a script shows; what is shorter is a fragment.
_LEAST_TEXTS, _LEAST = 3, 30
# What is hidden has at least so many times the characters of all that is shown, and of the sentences in it.
_OF_ALL, _OF_PROSE = 0.6, 1.5
# Other parts that the same page hides are read from this share of the largest on.
_ALSO = 0.25

# What style sheets say of a node, by its `mem_id`, what of it is important, and the selectors that may hide it.
Sheets = Mapping[int, tuple[dict[str, str], dict[str, str], frozenset[str]]]


@dataclass(slots=True)
class _PageVisibility:
    """What was found in a page: hidden nodes, the parts that a script may show, by how they are hidden, and the
    number of visible characters and of those in sentences.
    """

    hidden: list[LexborNode] = field(default_factory=list)
    parts: dict[Hashable, list[LexborNode]] = field(default_factory=dict)
    shown: int = 0
    prose: int = 0


@dataclass(frozen=True, slots=True)
class _InheritedStyle:
    """What an element inherits: its style, the part that hides its text, and whether it is furniture."""

    look: TextStyle
    part: Hashable = None
    furniture: bool = False


def remove_invisible(tree: LexborHTMLParser, html: str, *, reveal: bool = False) -> int:
    """Removes from the body what is not shown: hidden, too small, or in the colour of the background.

    Collapsed <details>, and what is hidden from screen readers only, stay.

    Args:
        tree: The page, which is changed.
        html: Its source.
        reveal: Keep what scripts will show.

    Returns:
        The number of characters kept by `reveal`.
    """
    if tree.body is None or not _MAY_HIDE.search(html):
        return 0
    sheets = _read_sheets(tree)
    sight = _find_hidden(tree, sheets, {})
    revealed = _choose_revealed(sight) if reveal else {}
    if revealed:
        sight = _find_hidden(tree, sheets, revealed)
    for node in sight.hidden:
        node.decompose()
    return sum(map(len, _list_texts(node for part in revealed.values() for node in part)))


def _find_hidden(
    tree: LexborHTMLParser, sheets: Sheets, revealed: Mapping[Hashable, list[LexborNode]]
) -> _PageVisibility:
    """Finds the hidden nodes of a page; the ways to hide of the `revealed` parts do not count."""
    sight = _PageVisibility()
    exempt = {node.mem_id for part in revealed.values() for node in part}
    root, body = tree.root, tree.body
    waiting: list[tuple[LexborNode, _InheritedStyle]] = []
    if body is not None:
        page = (
            None if root is None or root.mem_id in exempt else TextStyle().enter_element(_compute_style(root, sheets))
        )
        waiting = [(body, _InheritedStyle(page or TextStyle()))]
    while waiting:
        node, around = waiting.pop()
        style = _compute_style(node, sheets)
        ways = around.look.list_ways_to_hide(style) | ({"display"} if "hidden" in node.attributes else frozenset())
        part = _identify_part(node, ways, sheets) if ways and ways <= TOGGLES else None
        if part in revealed and (node.mem_id in exempt or isinstance(part, frozenset)):
            style = {name: value for name, value in style.items() if name not in ("display", "opacity", "visibility")}
            ways, part = frozenset(), None
        look = None if ways - {VISIBILITY} else around.look.enter_element(style)
        if look is None:
            sight.hidden.append(node)
            if part is not None:
                sight.parts.setdefault(part, []).append(node)
            continue
        if VISIBILITY in ways and part is not None:
            sight.parts.setdefault(part, []).append(node)
        within = _InheritedStyle(look, part, around.furniture or node.tag in _FURNITURE)
        waiting += _check_children(node, within, sight)
    return sight


def _check_children(
    node: LexborNode, around: _InheritedStyle, sight: _PageVisibility
) -> Iterator[tuple[LexborNode, _InheritedStyle]]:
    for child in node.iter(include_text=True):
        if child.is_element_node:
            yield child, around
        elif child.is_text_node and not around.look.readable:
            sight.hidden.append(child)
        elif child.is_text_node and not around.furniture and node.tag not in _UNREAD:
            text = child.text_content or ""
            size = count_visible(text)
            sight.shown += size
            sight.prose += size if _PROSE.search(text) else 0


def _identify_part(node: LexborNode, ways: frozenset[str], sheets: Sheets) -> Hashable:
    """Identifies elements that are hidden alike: by the same style rules, or by their own attributes in the same
    ways.
    """
    own, _ = read_declarations(node.attributes.get("style") or "")
    if "hidden" in node.attributes or not {"display", "opacity", "visibility"}.isdisjoint(own):
        return node.tag, ways
    selectors = sheets.get(node.mem_id, ({}, {}, frozenset[str]()))[2]
    return selectors or (node.tag, ways)


def _choose_revealed(sight: _PageVisibility) -> dict[Hashable, list[LexborNode]]:
    """Returns the parts to reveal in a page that hides most of its text."""
    sizes: dict[Hashable, int] = {}
    for part, nodes in sight.parts.items():
        texts = _list_texts(nodes)
        size = sum(map(len, texts))
        if len(texts) >= _LEAST_TEXTS and size >= _LEAST:
            sizes[part] = size
    most = max(sizes.values(), default=0)
    if most <= max(_OF_ALL * sight.shown, _OF_PROSE * sight.prose):
        return {}
    return {part: sight.parts[part] for part, size in sizes.items() if size >= _ALSO * most}


def _list_texts(nodes: Iterable[LexborNode]) -> list[str]:
    """Returns the texts below nodes without white space; a single character is an icon or a bullet, and no text."""
    return [text for node in nodes for text in list_texts(node, _UNREAD) if len(text) > 1]


def _read_sheets(tree: LexborHTMLParser) -> Sheets:
    """Reads all <style> elements: declarations by element; a rule of higher weight wins, then a later one."""
    found: dict[int, tuple[dict[str, str], dict[str, str], frozenset[str]]] = {}
    sheet = "\n".join(style.text() for style in tree.css("style"))
    for rule in sorted(read_rules(sheet), key=lambda rule: rule.weight):
        try:
            nodes = tree.css(rule.selector)
        except SelectolaxError:
            continue
        hides = bool(TextStyle().list_ways_to_hide({**rule.style, **rule.important}) & TOGGLES)
        for node in nodes:
            usual, important, selectors = found.get(node.mem_id, ({}, {}, frozenset()))
            usual.update(rule.style)
            important.update(rule.important)
            found[node.mem_id] = usual, important, selectors | {rule.selector} if hides else selectors
    return found


def _compute_style(node: LexborNode, sheets: Sheets) -> Declarations:
    attributes = node.attributes
    style = {name: attributes[key] or "" for key, name in _COLOURED.items() if key in attributes}
    usual, important, _ = sheets.get(node.mem_id, ({}, {}, frozenset()))
    own, own_important = read_declarations(attributes.get("style") or "")
    return style | usual | own | important | own_important
