"""What a file that came from a URL is called: a path to file it under, and the suffix by which it is read."""

from __future__ import annotations

import hashlib
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from app.documents.paths import MAX_DEPTH, MAX_PATH_CHARS
from knowledge.errors import HostileDocument
from knowledge.lazy import LazyModule
from knowledge.parsing.registry import LEGACY, PARSERS, PICTURES, check_name

if TYPE_CHECKING:
    import httpx
else:
    httpx = LazyModule("httpx")

_SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "text/markdown": ".md",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/epub+zip": ".epub",
    "application/json": ".json",
    "application/x-ndjson": ".jsonl",
    "message/rfc822": ".eml",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/msword": ".doc",
    "application/vnd.ms-excel": ".xls",
    "application/vnd.ms-powerpoint": ".ppt",
}
_PICTURES = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/tiff": ".tiff",
    "image/bmp": ".bmp",
    "image/webp": ".webp",
}
# Types that say less than the suffix of the URL; many a server calls CSV a sheet of Excel.
_GENERIC = frozenset(
    {"", "text/plain", "application/octet-stream", "binary/octet-stream", "application/zip", "application/vnd.ms-excel"}
)
# Characters of a folder or file name.
_MAX_PART = 60
_UNFIT = frozenset('\\/:*?"<>|')
# Characters of a path that the folder of a source may take.
_ROOM = 150


def choose_suffix(url: httpx.URL, media_type: str, *, pictures: bool = False) -> str | None:
    """Returns the suffix by whose parser a body is read; None if no parser reads it.

    pictures: whether pictures are read too; those of a website are logos and buttons.
    """
    own = PurePosixPath(url.path).suffix.lower()
    if media_type in _GENERIC and (own in PARSERS | LEGACY or (pictures and own in PICTURES)):
        return own
    if pictures and media_type in _PICTURES:
        return _PICTURES[media_type]
    return _SUFFIXES.get(media_type) or (".txt" if media_type == "text/plain" else None)


def build_path(url: httpx.URL, suffix: str) -> str:
    """Builds the path of a page: host and path of the URL as folders and a file name.

    What differs only in the query differs in the name. `app.documents.paths.parse_filing` always takes the path, also
    below another folder.
    """
    parts = [part for part in url.path.split("/") if part]
    last = parts.pop() if parts and not url.path.endswith("/") else "index"
    stem = PurePosixPath(last).stem if PurePosixPath(last).suffix.lower() in PARSERS | LEGACY | PICTURES else last
    query = url.query.decode("ascii", "replace")
    name = f"{_fit_part(stem)}{f'-{_hash_text(query)}' if query else ''}{suffix}"
    folders = [_fit_part(url.host), *map(_fit_part, parts)]
    # Five levels and _ROOM characters are left for the folder that a source files its pages under.
    if len(folders) > MAX_DEPTH - 5 or len("/".join(folders)) + len(name) > MAX_PATH_CHARS - _ROOM:
        folders = [*folders[:1], _hash_text(url.path)]
    return "/".join([*folders, name])


def _fit_part(part: str) -> str:
    text = "".join(
        character if character.isprintable() and character not in _UNFIT else "_" for character in unquote(part)
    )
    text = text.strip(" .")[:_MAX_PART].strip(" .") or "_"
    try:
        return check_name(text)
    except HostileDocument:
        return f"_{_hash_text(part)}"


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
