"""What may be said of a document, within bounds; uploads and changes share it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from urllib.parse import urlsplit

from app.errors import InvalidRequest
from knowledge.errors import InvalidDocument
from knowledge.text import clean

MAX_CATEGORY_CHARS = 100
MAX_TAG_CHARS = 50
MAX_TAGS = 20
MAX_URL_CHARS = 2000


def checked_tags(values: Iterable[str]) -> tuple[str, ...]:
    """Tags in order, without repetitions. Raises InvalidRequest."""
    parts = (clean(value).strip() for value in values)
    tags = tuple(dict.fromkeys(part for part in parts if part))
    if len(tags) > MAX_TAGS or any(len(tag) > MAX_TAG_CHARS for tag in tags):
        raise InvalidRequest(f"tags 最多 {MAX_TAGS} 个，每个不超过 {MAX_TAG_CHARS} 个字")
    return tags


def checked_url(value: str) -> str:
    """The address of a document's page, or nothing. Raises InvalidRequest."""
    url = value.strip()
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and clean(url) == url and url.isprintable()
    except ValueError:
        valid = False
    if url and (not valid or len(url) > MAX_URL_CHARS):
        raise InvalidRequest(f"url 要以 http:// 或 https:// 开头，不超过 {MAX_URL_CHARS} 个字符", field="url")
    return url


def checked_validity(start: datetime | None, end: datetime | None) -> None:
    """Raises InvalidRequest for a validity that ends before it starts."""
    if start is not None and end is not None and end <= start:
        raise InvalidRequest("valid_until 要晚于 valid_from", field="valid_until")


def check_validity(name: str, start: datetime | None, end: datetime | None) -> None:
    """Raises InvalidDocument where a document would never be found: one end is new, the other still the old."""
    if start is not None and end is not None and end <= start:
        raise InvalidDocument(name, "的失效时间不晚于生效时间，永远检索不到；没给的一端沿用现在的，请两端一起给出")
