"""Parsers by file suffix. A parser and its library are imported with the first such file."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePath
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from knowledge.errors import HostileDocument, UnsupportedType
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.limits import ParsingLimits
from knowledge.text import clean
from knowledge.types import FaqColumns, ParsedDocument

if TYPE_CHECKING:
    from knowledge.parsing.recognition import Recogniser

# Characters of a file name.
MAX_NAME = 200
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
_SHOWN = 60


# Suffix -> the module of its parser in this package, and its class.
PARSERS: dict[str, str] = {
    ".md": "markdown:MarkdownParser",
    ".markdown": "markdown:MarkdownParser",
    ".mdx": "markdown:MarkdownParser",
    ".txt": "plain:PlainParser",
    ".html": "html:HtmlParser",
    ".htm": "html:HtmlParser",
    ".pdf": "pdf:PdfParser",
    ".docx": "docx:DocxParser",
    ".xlsx": "xlsx:XlsxParser",
    ".csv": "csv:CsvParser",
    ".tsv": "csv:CsvParser",
    ".pptx": "pptx:PptxParser",
    ".json": "json:JsonParser",
    ".jsonl": "json:JsonParser",
    ".epub": "epub:EpubParser",
    ".eml": "eml:EmlParser",
}
# Need a recogniser.
PICTURES: dict[str, str] = dict.fromkeys(
    (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp"), "picture:PictureParser"
)
# Need a conversion first, see `knowledge.conversion`.
LEGACY: dict[str, str] = dict.fromkeys((".doc", ".xls", ".ppt"), "legacy:LegacyParser")


def load_parser(suffix: str) -> Parser | None:
    """Creates the parser of a suffix, in lower case and with its dot; None if files of that kind are not read."""
    place = PARSERS.get(suffix) or PICTURES.get(suffix) or LEGACY.get(suffix)
    if place is None:
        return None
    parser: Parser = resolve_name(f"knowledge.parsing.{place}")()
    return parser


def parse(
    name: str,
    content: bytes,
    limits: ParsingLimits = ParsingLimits(),  # noqa: B008 - frozen
    columns: FaqColumns | None = None,
    recogniser: Recogniser | None = None,
) -> ParsedDocument:
    """Parses a file by the suffix of its name. Blocking and CPU bound: call it in a thread.

    Nothing but these errors leaves it, whatever the bytes are. The cost of a hostile file is limited by
    `knowledge.sandbox` alone.

    Args:
        name: Name of the file.
        content: The file.
        limits: Limits on the file.
        columns: The columns of questions and answers; None to detect them.
        recogniser: Reads pictures and scanned pages.

    Raises:
        InvalidDocument: By its subclasses; ScannedDocument only without a recogniser.
        MemoryError: If memory runs out.
    """
    name = check_name(name)
    parser = load_parser(PurePath(name).suffix.lower())
    if parser is None:
        raise UnsupportedType(name, f"的类型不支持，请换成 {'、'.join((*PARSERS, *PICTURES, *LEGACY))} 之一")
    return parser.parse(SourceFile(name, content, limits, columns, recogniser))


def check_name(name: str) -> str:
    """Returns the name in NFC, without spaces around it.

    Raises:
        HostileDocument: For a name that no honest client sends.
    """
    shown = _clean_name(name)
    normal = unicodedata.normalize("NFC", name).strip(" ")
    if not normal:
        raise HostileDocument(shown, "没有文件名")
    if len(normal) > MAX_NAME:
        raise HostileDocument(shown, f"的文件名超过 {MAX_NAME} 个字")
    if re.search(r"[/\\]", normal) or normal == "." or normal.startswith(".."):
        raise HostileDocument(shown, "的文件名里不能有路径")
    if clean(normal) != normal or not normal.isprintable():
        raise HostileDocument(shown, "的文件名里有控制字符或不可见字符")
    if _RESERVED.fullmatch(normal):
        raise HostileDocument(shown, "的文件名是系统保留名，请改名后再上传")
    return normal


def _clean_name(name: str) -> str:
    visible = "".join(character for character in clean(name) if character.isprintable()).strip()
    return (visible if len(visible) <= _SHOWN else visible[:_SHOWN] + "…") or "未命名文件"
