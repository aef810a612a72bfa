"""Sitemaps (sitemaps.org, protocol 0.9): lists of pages, and lists of such lists; compressed or not."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from xml.parsers import expat

from app.errors import FetchFailed
from app.net.inflater import TooLong, inflate

# Decompressed, as the protocol has it.
MAX_BYTES = 50 * 2**20
MAX_URLS = 50_000
# Of a site that are read.
MAX_SITEMAPS = 50
MAX_ELEMENTS = 1_000_000
# With those of extensions, for pictures and films. Nested without end, 50 MB took 2 GB.
MAX_DEPTH = 16
# No tag of a sitemap, nor a text: one tag of 50 MB of attributes took minutes.
_LONG = re.compile(rb"<[^<]{65536}")
_GZIP = b"\x1f\x8b"
_HEAD = 512


@dataclass(frozen=True, slots=True)
class Sitemap:
    """pages: URLs; sitemaps: of further sitemaps, where this is an index."""

    pages: tuple[str, ...]
    sitemaps: tuple[str, ...]


class _NoSitemap(Exception):
    """A document type, whose declarations may grow without end, or more than any sitemap has."""


def is_sitemap(content: bytes) -> bool:
    """Whether it begins as one does."""
    head = content[:_HEAD]
    if head.startswith(_GZIP):
        try:
            head = zlib.decompressobj(31).decompress(head, _HEAD)
        except zlib.error:
            return False
    return b"<urlset" in head or b"<sitemapindex" in head


def read_sitemap(content: bytes) -> Sitemap:
    """Reads a sitemap. Blocking. Raises FetchFailed for anything else, or one that is too large."""
    try:
        if content.startswith(_GZIP):
            content = inflate(content, MAX_BYTES)
        if _LONG.search(content):
            raise _NoSitemap
        reader = _Reader()
        reader.parser.Parse(content, True)
    except TooLong as error:
        raise FetchFailed("站点地图解压后过大", code="sitemap_too_large") from error
    except (expat.ExpatError, zlib.error, _NoSitemap, ValueError) as error:
        raise FetchFailed("站点地图的内容不合规", code="sitemap_broken") from error
    return Sitemap(tuple(reader.found["url"]), tuple(reader.found["sitemap"]))


class _Reader:
    """Collects `loc` of each `url` and each `sitemap`."""

    def __init__(self) -> None:
        self.found: dict[str, list[str]] = {"url": [], "sitemap": []}
        self._path: list[str] = []
        self._elements = 0
        self._text = ""
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end_element
        self.parser.CharacterDataHandler = self._read_text

    def _refuse_doctype(self, *_: object) -> None:
        raise _NoSitemap

    def _start(self, name: str, _: object) -> None:
        self._path.append(name.rpartition(" ")[2])
        self._elements += 1
        if len(self._path) > MAX_DEPTH or self._elements > MAX_ELEMENTS:
            raise _NoSitemap
        self._text = ""

    def _read_text(self, text: str) -> None:
        if self._path[-1] == "loc" and len(self._text) < 4000:
            self._text += text

    def _end_element(self, _: str) -> None:
        inside = self._path[-2] if len(self._path) > 1 else ""
        if self._path.pop() == "loc" and inside in self.found and len(self.found[inside]) < MAX_URLS:
            self.found[inside].append(self._text.strip())
