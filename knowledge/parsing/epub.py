"""Reads EPUB: the chapters of a book in the order of its spine, each an HTML page."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from urllib.parse import unquote
from xml.etree import ElementTree

from selectolax.lexbor import LexborNode

from knowledge.errors import BrokenDocument, EncryptedDocument
from knowledge.parsing import furniture, markup
from knowledge.parsing.archive import check_archive
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.decoding import decode
from knowledge.parsing.omissions import Omissions, OmittedPart
from knowledge.parsing.pieces import Heading, Piece, Title

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = ("application/xhtml+xml", "text/html")
_VOID = "area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr"
# <title/> is an empty element in XHTML, and the beginning of one in HTML.
_CLOSED = re.compile(rf"<(?!(?:{_VOID})\b)([A-Za-z][\w:-]*)((?:\s[^<>]*)?)/>")


class EpubParser(Parser):
    """The title is that of the book; a chapter without a heading continues the one before it."""

    signature = b"PK\x03\x04"

    def _read_pieces(self, source: SourceFile) -> Iterator[Piece]:
        check_archive(source)
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            book = _Book(source, archive)
            if title := book.title:
                yield Title(title)
            left_out = Omissions()
            for path, contents in book.list_chapters():
                tree = _parse_page(source, archive.read(path))
                if tree is None:
                    continue
                if contents:
                    left_out.add(OmittedPart.CONTENTS, tree.text())
                else:
                    yield from _read_chapter(tree, left_out)
            yield from left_out.build_notices()


class _Book:
    """The package of a book.

    Raises:
        BrokenDocument: If the archive is no book.
        EncryptedDocument: If its text is encrypted.
    """

    def __init__(self, source: SourceFile, archive: zipfile.ZipFile) -> None:
        self._name = source.name
        self._entries = set(archive.namelist())
        if _CONTAINER not in self._entries:
            raise BrokenDocument(source.name, "的内容与扩展名不符：不是 EPUB 电子书")
        rootfile = _parse_xml(archive.read(_CONTAINER)).find(".//{*}rootfile")
        path = rootfile.get("full-path") if rootfile is not None else None
        if not path or path not in self._entries:
            raise BrokenDocument(source.name, "里找不到书的目录（OPF），文件可能已损坏")
        self._folder = posixpath.dirname(path)
        self._package = _parse_xml(archive.read(path))
        self._locked = (
            _list_encrypted(_parse_xml(archive.read(_ENCRYPTION))) if _ENCRYPTION in self._entries else frozenset()
        )

    @property
    def title(self) -> str:
        return " ".join((self._package.findtext(".//{http://purl.org/dc/elements/1.1/}title") or "").split())

    def list_chapters(self) -> Iterator[tuple[str, bool]]:
        """Yields the entries in reading order, and whether each is the table of contents."""
        seen: set[str] = set()
        items = {item.get("id"): item for item in self._package.iterfind(".//{*}manifest/{*}item")}
        for reference in self._package.iterfind(".//{*}spine/{*}itemref"):
            item = items.get(reference.get("idref"))
            if item is None or item.get("media-type") not in _PAGES:
                continue
            path = posixpath.normpath(posixpath.join(self._folder, unquote(item.get("href") or "")))
            if path in self._locked:
                raise EncryptedDocument(self._name, "有版权保护（DRM），请换成没有加密的版本")
            if path in self._entries and path not in seen:  # a spine names each once
                seen.add(path)
                yield path, "nav" in (item.get("properties") or "").split()


def _list_encrypted(encryption: ElementTree.Element) -> frozenset[str]:
    """Returns the encrypted entries; fonts often are, in books that anybody can read."""
    found = (reference.get("URI") for reference in encryption.iterfind(".//{*}CipherReference"))
    return frozenset(unquote(path) for path in found if path)


def _parse_page(source: SourceFile, content: bytes) -> LexborNode | None:
    """Returns the body of a page as it is shown; None if there is none."""
    if not content.strip():
        return None
    return markup.parse_tree(source.name, _CLOSED.sub(r"<\1\2></\1>", decode(source.name, content))).body


def _read_chapter(body: LexborNode, left_out: Omissions) -> Iterator[Piece]:
    shown = furniture.count_text(body)
    furniture.remove_furniture(body)
    if gone := shown - furniture.count_text(body, furniture.TAGS):
        left_out.count(OmittedPart.NAVIGATION, gone)
    for piece in markup.read_pieces(body, furniture.TAGS):
        yield Heading(piece.level + 1, piece.text) if isinstance(piece, Heading) else piece


def _parse_xml(content: bytes) -> ElementTree.Element:
    return ElementTree.fromstring(content)  # entity definitions have been refused
