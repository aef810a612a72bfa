"""Reads what an HTML page tells a crawler: its links, and the address under which it wants to be known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from knowledge.errors import BrokenDocument, KnowledgeError

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

# Of a page; more are not looked at.
MAX_LINKS = 2000
# Characters of a link.
MAX_LINK = 2000


@dataclass(frozen=True, slots=True)
class PageLinks:
    """As written in the page, relative ones and those of menus that open later too. base: what they are
    relative to, where the page says so; canonical: its own address, or empty; index, follow: whether it allows that.
    """

    links: tuple[str, ...] = ()
    base: str = ""
    canonical: str = ""
    index: bool = True
    follow: bool = True


def read_page_links(name: str, content: bytes) -> PageLinks:
    """Reads the links of a page, its own address, and whether it lets crawlers in. Blocking and CPU bound.

    Raises:
        InvalidDocument: By its subclasses.
        MemoryError: If memory runs out.
    """
    from knowledge.parsing.html import parse_page

    try:
        return _collect_links(parse_page(name, content))
    except (KnowledgeError, MemoryError):
        raise
    except Exception as error:  # a library may raise anything on a broken page; the caller knows one reaction
        raise BrokenDocument(name, "无法解析，文件可能已损坏，或内容与扩展名不符") from error


def _collect_links(tree: LexborHTMLParser) -> PageLinks:
    targets = {
        word.strip() for node in tree.css("meta[name=robots i], meta[name=yingdabot i]") for word in _split_words(node)
    }
    links: dict[str, None] = {}
    for node in tree.css("a[href], area[href]"):
        attributes = node.attributes
        href = (attributes.get("href") or "").strip()
        if href and len(href) <= MAX_LINK and "nofollow" not in (attributes.get("rel") or "").lower().split():
            links[href] = None
        if len(links) == MAX_LINKS:
            break
    return PageLinks(
        tuple(links),
        _read_attribute(tree, "base[href]"),
        _read_attribute(tree, "link[rel=canonical i][href]"),
        index=not targets & {"noindex", "none"},
        follow=not targets & {"nofollow", "none"},
    )


def _split_words(node: LexborNode) -> list[str]:
    return (node.attributes.get("content") or "").lower().split(",")


def _read_attribute(tree: LexborHTMLParser, selector: str) -> str:
    node = tree.css_first(selector)
    found = (node.attributes.get("href") or "").strip() if node is not None else ""
    return found if len(found) <= MAX_LINK else ""
