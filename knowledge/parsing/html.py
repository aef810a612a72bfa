"""HTML pages: the main article, without navigation and other furniture."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from knowledge.parsing import furniture, markup
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.decoding import decode
from knowledge.parsing.pieces import Heading, Piece, Title

_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_-]{1,40})", re.IGNORECASE)


class HtmlParser(Parser):
    """The title is the first h1 of the article, else <title>."""

    def _pieces(self, source: SourceFile) -> Iterator[Piece]:
        tree = page_tree(source.name, source.content)
        article = _article(tree)
        if article is None:
            return
        skipped = furniture.TAGS if article.tag != "body" else furniture.TAGS | {"header"}
        furniture.remove_furniture(article)
        found = list(markup.pieces(article, skipped))
        title = tree.css_first("head > title")
        if title is not None and not any(isinstance(piece, Heading) and piece.level == 1 for piece in found):
            yield Title(title.text())
        yield from found


def page_tree(name: str, content: bytes, *, hidden: bool = False) -> LexborHTMLParser:
    """The tree of a page in whatever encoding; hidden: see `parse_tree`. Raises HostileDocument, WrongEncoding."""
    charset = _CHARSET.search(content[:4096])
    declared = charset.group(1).decode("ascii") if charset else ""
    return markup.parse_tree(name, decode(name, content, declared), hidden=hidden)


def _article(tree: LexborHTMLParser) -> LexborNode | None:
    """<main>, else the only <article>, else the body; whichever has text."""
    for selector in ("main, [role=main]", "article"):
        found = tree.css(selector)
        if len(found) == 1 and found[0].text().strip():
            return found[0]
    return tree.body
