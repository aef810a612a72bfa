"""What a reader of a file sees, taken from it by other means than the parsers', and what of it was lost."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import markdown
import openpyxl
import pypdfium2
from lxml import etree
from selectolax.lexbor import LexborHTMLParser

from knowledge.types import ParsedDocument

_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_UNSEEN = "script, style, noscript, template, svg, iframe, object, select, button, input, textarea, rp, rt, head"
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


def _markdown(content: bytes) -> str:
    text = _FRONT_MATTER.sub("", content.decode())
    return _html(markdown.markdown(text, extensions=["tables", "fenced_code", "sane_lists"]).encode())


def _html(content: bytes) -> str:
    tree = LexborHTMLParser(content)
    for node in tree.css(_UNSEEN):
        node.decompose()
    return tree.body.text() if tree.body else ""


def _of_tags(content: bytes, part: re.Pattern[str], *tags: str) -> str:
    found = []
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            if part.fullmatch(name):
                root = etree.fromstring(archive.read(name))
                found += [node.text or "" for node in root.iter(*tags)]
    return "".join(found)


def _docx(content: bytes) -> str:
    return _of_tags(content, re.compile(r"word/(?:document|footnotes|endnotes)\.xml"), f"{_WORD}t")


def _pptx(content: bytes) -> str:
    return _of_tags(content, re.compile(r"ppt/slides/slide\d+\.xml"), f"{_DRAWING}t")


def _xlsx(content: bytes) -> str:
    book = openpyxl.load_workbook(io.BytesIO(content), data_only=True)
    sheets = (sheet for sheet in book.worksheets if sheet.sheet_state == "visible")
    return "".join(cell for sheet in sheets for row in sheet.values for cell in row if isinstance(cell, str))


def _csv(content: bytes) -> str:
    return "".join(cell for row in csv.reader(io.StringIO(content.decode("utf-8-sig"))) for cell in row)


def _pdf(content: bytes) -> str:
    with pypdfium2.PdfDocument(content) as document:
        return "".join(page.get_textpage().get_text_range() for page in document)


def _epub(content: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        chapters = [name for name in archive.namelist() if name.endswith((".xhtml", ".html"))]
        return "".join(_html(archive.read(name)) for name in chapters)


SEEN: dict[str, Callable[[bytes], str]] = {
    ".md": _markdown,
    ".html": _html,
    ".docx": _docx,
    ".pptx": _pptx,
    ".xlsx": _xlsx,
    ".csv": _csv,
    ".pdf": _pdf,
    ".epub": _epub,
}


def held(parsed: ParsedDocument) -> str:
    """All that the blocks and headings of a document say."""
    headings = dict.fromkeys(heading for block in parsed.blocks for heading in block.heading_path)
    headings |= dict.fromkeys(heading for pair in parsed.faqs for heading in pair.heading_path)
    pairs = ("".join((pair.question, pair.answer, *pair.variants, pair.category)) for pair in parsed.faqs)
    cells = (name for block in parsed.blocks for name, _ in block.cells)
    return "".join([parsed.title, *headings, *(block.text for block in parsed.blocks), *pairs, *cells])


def lost(name: str, content: bytes, parsed: ParsedDocument) -> Counter[str]:
    """Letters and digits that a reader sees and no block holds. What the report says was left out is not taken off."""
    seen = SEEN[Path(name).suffix.lower()](content)
    return _letters(seen) - _letters(held(parsed))


def reported(parsed: ParsedDocument) -> int:
    """Characters that the report says were left out."""
    return sum(notice.characters for notice in parsed.notices)


def _letters(text: str) -> Counter[str]:
    return Counter(character for character in text if character.isalnum())
