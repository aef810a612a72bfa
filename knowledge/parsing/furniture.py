"""Removes the parts of a page that are not its article: paths, menus, lists of other pages, advertisements, footers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from knowledge.parsing.markup_runs import UNREAD_TAGS, list_texts
from knowledge.parsing.notes import find_label_of_classes
from knowledge.parsing.omissions import count_visible

# Never read. An <aside> may be a note.
TAGS = frozenset(("nav", "footer", "dialog"))
_UNREAD = {"script", "style", "noscript", "template"}
_ROLES = {"navigation", "complementary", "banner", "contentinfo", "search", "dialog", "alertdialog"}
_CONTAINERS = {"aside", "div", "section", "ul", "ol", "dl", "table", "form", "header", "center", "span", "p"}
# fmt: off
# Parts of class names and ids by which the makers of pages call such things, whatever the page is about.
_NAMES = frozenset((
    "ad", "ads", "adsbygoogle", "advert", "advertisement", "aside", "banner", "breadcrumb", "breadcrumbs", "cookie",
    "copyright", "crumb", "crumbs", "foot", "footer", "guess", "menu", "nav", "navbar", "newsletter", "pager",
    "pagination", "popup", "recommend", "related", "share", "sidebar", "sponsor", "subscribe", "toc", "toolbar",
    "topbar",
))
# fmt: on
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SENTENCE = re.compile(r"[。！？；!?]|[a-z]{2}\.(?:\s|$)")
_RIGHTS = re.compile(r"©|版权所有|copyright|ICP\s?备", re.IGNORECASE)
# Share of a block's characters that are links; an article's paragraph with links has less.
_LINKED = 0.55
# Characters of a notice of copyright with what stands around it.
_FEW = 200
# Characters of a block above the title that is no sentence: a path, a greeting, a menu.
_LABEL = 80
# Share of the page's own words: what has more is the article, whatever its name.
_MOST = 0.4
# Share of the page's text that must be left, or else a sentence: a page of links alone is read as it is.
_LEAST = 0.3


# Sentences of its own: a block that says so much is not taken out for its name.
_SAYS = 4


@dataclass(slots=True)
class _WordCounts:
    """Counts of a block: characters without white space, those in links, links, sentences outside of links, and h1
    titles.
    """

    all: int = 0
    linked: int = 0
    links: int = 0
    sentences: int = 0
    titles: int = 0

    @property
    def own(self) -> int:
        return self.all - self.linked


def remove_furniture(article: LexborNode) -> None:
    """Removes furniture from the tree below the article's element, unless hardly anything would be left. Linear."""
    words: dict[int, _WordCounts] = {}
    _count_elements(article, words)
    whole = words[article.mem_id]
    found: list[LexborNode] = []
    waiting = [(article, whole.titles == 1)]
    while waiting:
        parent, above = waiting.pop()
        for child in parent.iter():
            says = words[child.mem_id]
            if not says.titles and _is_furniture(child, says, whole, above):
                found.append(child)
            else:
                waiting.append((child, above and bool(says.titles)))
            above = above and not says.titles
    gone = [words[node.mem_id] for node in found]
    remaining = whole.all - sum(each.all for each in gone)
    if remaining >= _LEAST * whole.all or whole.sentences > sum(each.sentences for each in gone):
        for node in found:
            node.decompose()


def count_text(root: LexborNode, skipped: frozenset[str] = frozenset()) -> int:
    """Counts the characters shown below a node, without white space and without the `skipped` tags."""
    return sum(map(len, list_texts(root, UNREAD_TAGS | skipped)))


def _is_furniture(node: LexborNode, words: _WordCounts, whole: _WordCounts, above: bool) -> bool:
    """Returns whether an element is furniture. `above`: it stands before the page's only title."""
    if not words.all or words.own > _MOST * whole.own:
        return False
    attributes = node.attributes
    if node.tag in TAGS or attributes.get("role") in _ROLES:
        return True
    if node.tag != "aside" and find_label_of_classes(attributes.get("class") or "") is not None:
        return False
    if node.tag == "aside" and (not words.sentences or words.links > 1):
        return True  # one that says something is a note within the article
    if node.tag not in _CONTAINERS:
        return False
    if node.tag == "form" or (words.all <= _FEW and _RIGHTS.search(node.text())):
        return True
    names = " ".join(attributes.get(name) or "" for name in ("class", "id", "aria-label"))
    if words.sentences < _SAYS and not _NAMES.isdisjoint(part.lower() for part in _PART.findall(names)):
        return True
    if words.sentences:
        return False
    return (above and words.all <= _LABEL) or (words.links > 1 and words.linked >= _LINKED * words.all)


def _count_elements(article: LexborNode, words: dict[int, _WordCounts]) -> None:
    """Counts every element, the innermost first; without recursion, since pages may be nested deeply."""
    order: list[tuple[LexborNode, bool]] = []
    waiting = [(article, False)]
    while waiting:
        node, linked = waiting.pop()
        linked = linked or (node.tag == "a" and "href" in node.attributes)
        order.append((node, linked))
        waiting += [(child, linked) for child in node.iter()]
    for node, linked in reversed(order):
        words[node.mem_id] = _count_element(node, linked, words)


def _count_element(node: LexborNode, linked: bool, words: dict[int, _WordCounts]) -> _WordCounts:
    sums = _WordCounts(links=int(node.tag == "a" and linked), titles=int(node.tag == "h1"))
    for child in node.iter(include_text=True):
        if child.is_element_node:
            inner = words[child.mem_id]
            for name in ("all", "linked", "links", "sentences", "titles"):
                setattr(sums, name, getattr(sums, name) + getattr(inner, name))
        elif child.is_text_node and node.tag not in _UNREAD:
            text = child.text_content or ""
            size = count_visible(text)
            sums.all += size
            sums.linked += size * linked
            sums.sentences += 0 if linked else len(_SENTENCE.findall(text))
    return sums
