"""Reads HTML pages: the main article, without navigation and other furniture."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from knowledge.parsing import furniture, markup
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.decoding import decode
from knowledge.parsing.html_visibility import remove_invisible
from knowledge.parsing.pieces import Heading, Piece, Title
from knowledge.types import Notice, NoticeCode

_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_-]{1,40})", re.IGNORECASE)


class HtmlParser(Parser):
    """The title is the first h1 of the article, else <title>. Omitted text is reported by its length."""

    def _read_pieces(self, source: SourceFile) -> Iterator[Piece]:
        html = _decode_page(source.name, source.content)
        tree = markup.parse_tree(source.name, html, hidden=True)
        revealed = remove_invisible(tree, html, reveal=True)
        article = _find_article(tree)
        if article is None or tree.body is None:
            return
        shown = furniture.count_text(tree.body)
        skipped = furniture.TAGS if article.tag != "body" else furniture.TAGS | {"header"}
        furniture.remove_furniture(article)
        left_out = shown - furniture.count_text(article, skipped)
        found = list(markup.read_pieces(article, skipped))
        title = tree.css_first("head > title")
        if title is not None and not any(isinstance(piece, Heading) and piece.level == 1 for piece in found):
            yield Title(title.text())
        yield from found
        yield from _build_notices(revealed, left_out)


def _build_notices(revealed: int, left_out: int) -> Iterator[Notice]:
    if revealed:
        text = f"网页的正文（{revealed} 字）要等脚本运行后才显示，已照常读取"
        yield Notice(NoticeCode.HIDDEN_READ, text, characters=revealed)
    if left_out:
        text = f"网页的导航、页脚等正文以外的文字（{left_out} 字）没有读取"
        yield Notice(NoticeCode.LEFT_OUT, text, part="导航与页脚", characters=left_out)


def _decode_page(name: str, content: bytes) -> str:
    charset = _CHARSET.search(content[:4096])
    return decode(name, content, charset.group(1).decode("ascii") if charset else "")


def parse_page(name: str, content: bytes) -> LexborHTMLParser:
    """Parses a page of any encoding into a tree, with what the page does not show.

    Args:
        name: Name of the file.
        content: The page.

    Raises:
        HostileDocument, WrongEncoding: If it cannot be read safely.
    """
    return markup.parse_tree(name, _decode_page(name, content), hidden=True)


def _find_article(tree: LexborHTMLParser) -> LexborNode | None:
    """Returns <main>, else the only <article>, else the body; the first that has text."""
    for selector in ("main, [role=main]", "article"):
        found = tree.css(selector)
        if len(found) == 1 and found[0].text().strip():
            return found[0]
    return tree.body
