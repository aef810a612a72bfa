"""Reads Markdown: rendered to HTML (with tables and inline HTML), then read like a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from knowledge.parsing import markup, mdx
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.decoding import decode
from knowledge.parsing.document_date import read_day
from knowledge.parsing.markdown_dialects import make_renderer
from knowledge.parsing.pieces import FrontMatter, Piece, Title

_FRONT_MATTER = re.compile(r"\A\s*---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML_MATTER = re.compile(r"\A\s*\+\+\+[ \t]*\n(.*?\n)?\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^[\w-]+[ \t]*[:=]", re.MULTILINE)
_VALUE = re.compile(
    r"^(title|product|version|product_version|lastmod|updated|updated_at|last_updated|date)"
    r"[ \t]*[:=][ \t]*(?:\"(.*)\"|'(.*)'|(.*?))[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)

_DATED = ("lastmod", "updated", "updated_at", "last_updated", "date")


class MarkdownParser(Parser):
    """Front matter gives title, product, version and date. `markdown_dialects` lists what is understood."""

    def _read_pieces(self, source: SourceFile) -> Iterator[Piece]:
        text = decode(source.name, source.content)
        front = _FRONT_MATTER.match(text) or _TOML_MATTER.match(text)
        if front and _FIELD.match(front.group(1) or ""):
            text = text[front.end() :]
            fields = {
                found[1].lower(): found[2] or found[3] or found[4] or "" for found in _VALUE.finditer(front.group(1))
            }
            yield Title(fields.get("title", ""))
            version = fields.get("product_version") or fields.get("version", "")
            days = (read_day(fields[key]) for key in _DATED if key in fields)
            yield FrontMatter(fields.get("product", ""), version, next(filter(None, days), ""))
        components = PurePath(source.name).suffix.lower() == ".mdx" or mdx.is_mdx(text)
        if components:
            text = mdx.convert_to_markdown(text)
        html = make_renderer(indented_code=not components).render(text, {"source": text.lower()})
        body = markup.parse_tree(source.name, html).body
        if body is not None:
            yield from markup.read_pieces(body, certain=False)
