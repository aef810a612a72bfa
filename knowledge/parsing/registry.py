"""Parsers by file suffix. A parser and its library are imported when the first such file comes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import PurePath
from typing import TYPE_CHECKING

from knowledge.errors import HostileDocument, UnsupportedType
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.limits import ParsingLimits
from knowledge.text import clean
from knowledge.types import FaqColumns, ParsedDocument

if TYPE_CHECKING:
    from knowledge.parsing.recognition import Recogniser

MAX_NAME = 200
"""Characters of a file name."""
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
_SHOWN = 60


def _markdown() -> Parser:
    from knowledge.parsing.markdown import MarkdownParser

    return MarkdownParser()


def _text() -> Parser:
    from knowledge.parsing.plain import PlainParser

    return PlainParser()


def _html() -> Parser:
    from knowledge.parsing.html import HtmlParser

    return HtmlParser()


def _pdf() -> Parser:
    from knowledge.parsing.pdf import PdfParser

    return PdfParser()


def _docx() -> Parser:
    from knowledge.parsing.docx import DocxParser

    return DocxParser()


def _xlsx() -> Parser:
    from knowledge.parsing.xlsx import XlsxParser

    return XlsxParser()


def _csv() -> Parser:
    from knowledge.parsing.csv import CsvParser

    return CsvParser()


def _pptx() -> Parser:
    from knowledge.parsing.pptx import PptxParser

    return PptxParser()


def _json() -> Parser:
    from knowledge.parsing.json import JsonParser

    return JsonParser()


def _epub() -> Parser:
    from knowledge.parsing.epub import EpubParser

    return EpubParser()


def _eml() -> Parser:
    from knowledge.parsing.eml import EmlParser

    return EmlParser(lambda name, content, mail: parse(name, content, mail.limits, recogniser=mail.recogniser))


def _picture() -> Parser:
    from knowledge.parsing.picture import PictureParser

    return PictureParser()


def _legacy() -> Parser:
    from knowledge.parsing.legacy import LegacyParser

    return LegacyParser()


PARSERS: dict[str, Callable[[], Parser]] = {
    ".md": _markdown,
    ".markdown": _markdown,
    ".mdx": _markdown,
    ".txt": _text,
    ".html": _html,
    ".htm": _html,
    ".pdf": _pdf,
    ".docx": _docx,
    ".xlsx": _xlsx,
    ".csv": _csv,
    ".tsv": _csv,
    ".pptx": _pptx,
    ".json": _json,
    ".jsonl": _json,
    ".epub": _epub,
    ".eml": _eml,
}
PICTURES: dict[str, Callable[[], Parser]] = dict.fromkeys(
    (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp"), _picture
)
"""Need a recogniser."""
LEGACY: dict[str, Callable[[], Parser]] = dict.fromkeys((".doc", ".xls", ".ppt"), _legacy)
"""Need a conversion first, see `knowledge.conversion`."""


def parse(
    name: str,
    content: bytes,
    limits: ParsingLimits = ParsingLimits(),  # noqa: B008 - frozen
    columns: FaqColumns | None = None,
    recogniser: Recogniser | None = None,
) -> ParsedDocument:
    """Parses a file by the suffix of its name. Blocking and CPU bound: call it in a thread.

    columns: where its tables hold questions and answers; None finds out. recogniser: reads pictures and scanned pages.

    Raises HostileDocument, UnsupportedType, EmptyDocument, ScannedDocument without a recogniser, ReaderMissing,
    EncryptedDocument, BrokenDocument, WrongEncoding and DocumentTooLarge, and MemoryError; nothing else leaves it,
    whatever the bytes are. What a hostile file takes is bounded by `knowledge.sandbox` alone.
    """
    name = check_name(name)
    suffix = PurePath(name).suffix.lower()
    make = PARSERS.get(suffix) or PICTURES.get(suffix) or LEGACY.get(suffix)
    if make is None:
        raise UnsupportedType(name, f"的类型不支持，请换成 {'、'.join((*PARSERS, *PICTURES, *LEGACY))} 之一")
    return make().parse(SourceFile(name, content, limits, columns, recogniser))


def check_name(name: str) -> str:
    """The name in NFC, without spaces around it. Raises HostileDocument for a name that no honest client sends."""
    shown = _shown(name)
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


def _shown(name: str) -> str:
    visible = "".join(character for character in clean(name) if character.isprintable()).strip()
    return (visible if len(visible) <= _SHOWN else visible[:_SHOWN] + "…") or "未命名文件"
