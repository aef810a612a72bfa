"""Markdown: rendered to HTML (tables and inline HTML included), then read like a page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from selectolax.lexbor import LexborHTMLParser

from knowledge.parsing import markup
from knowledge.parsing.base import Parser, Source
from knowledge.parsing.decoding import decode
from knowledge.parsing.pieces import Piece, Title

_FRONT_MATTER = re.compile(r"\A\s*---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^[\w-]+[ \t]*:", re.MULTILINE)
_TITLE = re.compile(r"^title[ \t]*:[ \t]*(?:\"(.*)\"|'(.*)'|(.*?))[ \t]*$", re.MULTILINE | re.IGNORECASE)
_STRONG = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")


class MarkdownParser(Parser):
    """Front matter gives the title and nothing else."""

    def _pieces(self, source: Source) -> Iterator[Piece]:
        text = decode(source.name, source.content)
        front = _FRONT_MATTER.match(text)
        if front and _FIELD.match(front.group(1) or ""):
            text = text[front.end() :]
            if title := _TITLE.search(front.group(1)):
                yield Title(next(filter(None, title.groups()), ""))
        body = LexborHTMLParser(_renderer().render(text)).body
        if body is not None:
            yield from markup.pieces(body)


def _renderer() -> MarkdownIt:
    renderer = MarkdownIt("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"])
    renderer.core.ruler.push("cjk_strong", _cjk_strong)
    return renderer


def _cjk_strong(state: StateCore) -> None:
    """CommonMark leaves the asterisks of **注意：**请 in the text, since a CJK letter follows the punctuation."""
    for token in state.tokens:
        for child in token.children or ():
            if child.type == "text":
                child.content = _STRONG.sub(r"\2", child.content)
