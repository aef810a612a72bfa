"""Markdown: rendered to HTML (tables and inline HTML included), then read like a page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore

from knowledge.parsing import markup
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.decoding import decode
from knowledge.parsing.pieces import Piece, Title

_FRONT_MATTER = re.compile(r"\A\s*---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^[\w-]+[ \t]*:", re.MULTILINE)
_TITLE = re.compile(r"^title[ \t]*:[ \t]*(?:\"(.*)\"|'(.*)'|(.*?))[ \t]*$", re.MULTILINE | re.IGNORECASE)
_STRONG = re.compile(r"(?P<kept>\\.|(?P<ticks>`+).+?(?P=ticks))|\*\*(?=\S)(?P<strong>[^*]+?)(?<=\S)\*\*", re.DOTALL)

_MAX_INLINE = 10_000
"""Characters; unmatched emphasis takes 11 s at 70,000."""


class MarkdownParser(Parser):
    """Front matter gives the title and nothing else."""

    def _pieces(self, source: SourceFile) -> Iterator[Piece]:
        text = decode(source.name, source.content)
        front = _FRONT_MATTER.match(text)
        if front and _FIELD.match(front.group(1) or ""):
            text = text[front.end() :]
            if title := _TITLE.search(front.group(1)):
                yield Title(next(filter(None, title.groups()), ""))
        body = markup.parse_tree(source.name, _renderer().render(text)).body
        if body is not None:
            yield from markup.pieces(body, certain=False)


def _renderer() -> MarkdownIt:
    renderer = MarkdownIt("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"])
    renderer.core.ruler.before("inline", "long_text", _long_text)
    renderer.core.ruler.before("inline", "cjk_strong", _cjk_strong)
    return renderer


def _long_text(state: StateCore) -> None:
    """Takes an over-long paragraph as it stands: emphasis and brackets cost quadratic time."""
    for token in state.tokens:
        if token.type == "inline" and len(token.content) > _MAX_INLINE:
            token.type = "text"


def _cjk_strong(state: StateCore) -> None:
    """CommonMark cannot close **注意：**请, where a letter follows the punctuation, so the asterisks go beforehand."""
    for token in state.tokens:
        if token.type == "inline":
            token.content = _STRONG.sub(lambda match: match["kept"] or match["strong"], token.content)
