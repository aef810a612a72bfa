"""Parsers by file suffix. A parser and its library are imported with the first such file."""

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

# Characters of a file name.
MAX_NAME = 200
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
_SHOWN = 60


def _build_markdown() -> Parser:
    from knowledge.parsing.markdown import MarkdownParser

    return MarkdownParser()


def _build_text() -> Parser:
    from knowledge.parsing.plain import PlainParser

    return PlainParser()


def _build_html() -> Parser:
    from knowledge.parsing.html import HtmlParser

    return HtmlParser()


def _build_pdf() -> Parser:
    from knowledge.parsing.pdf import PdfParser

    return PdfParser()


def _build_docx() -> Parser:
    from knowledge.parsing.docx import DocxParser

    return DocxParser()


def _build_xlsx() -> Parser:
    from knowledge.parsing.xlsx import XlsxParser

    return XlsxParser()


def _build_csv() -> Parser:
    from knowledge.parsing.csv import CsvParser

    return CsvParser()


def _build_pptx() -> Parser:
    from knowledge.parsing.pptx import PptxParser

    return PptxParser()


def _build_json() -> Parser:
    from knowledge.parsing.json import JsonParser

    return JsonParser()


def _build_epub() -> Parser:
    from knowledge.parsing.epub import EpubParser

    return EpubParser()


def _build_eml() -> Parser:
    from knowledge.parsing.eml import EmlParser

    return EmlParser(lambda name, content, mail: parse(name, content, mail.limits, recogniser=mail.recogniser))


def _build_picture() -> Parser:
    from knowledge.parsing.picture import PictureParser

    return PictureParser()


def _build_legacy() -> Parser:
    from knowledge.parsing.legacy import LegacyParser

    return LegacyParser()


PARSERS: dict[str, Callable[[], Parser]] = {
    ".md": _build_markdown,
    ".markdown": _build_markdown,
    ".mdx": _build_markdown,
    ".txt": _build_text,
    ".html": _build_html,
    ".htm": _build_html,
    ".pdf": _build_pdf,
    ".docx": _build_docx,
    ".xlsx": _build_xlsx,
    ".csv": _build_csv,
    ".tsv": _build_csv,
    ".pptx": _build_pptx,
    ".json": _build_json,
    ".jsonl": _build_json,
    ".epub": _build_epub,
    ".eml": _build_eml,
}
# Need a recogniser.
PICTURES: dict[str, Callable[[], Parser]] = dict.fromkeys(
    (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp"), _build_picture
)
# Need a conversion first, see `knowledge.conversion`.
LEGACY: dict[str, Callable[[], Parser]] = dict.fromkeys((".doc", ".xls", ".ppt"), _build_legacy)


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
    suffix = PurePath(name).suffix.lower()
    make = PARSERS.get(suffix) or PICTURES.get(suffix) or LEGACY.get(suffix)
    if make is None:
        raise UnsupportedType(name, f"的类型不支持，请换成 {'、'.join((*PARSERS, *PICTURES, *LEGACY))} 之一")
    return make().parse(SourceFile(name, content, limits, columns, recogniser))


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
