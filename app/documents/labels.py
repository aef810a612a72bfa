"""What may be said of a document, within bounds; uploads and changes share it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field

from app.errors import Conflict, InvalidRequest
from app.http.fields import CLEANED
from knowledge.errors import InvalidDocument
from knowledge.text import clean

MAX_CATEGORY_CHARS = 100
MAX_TAG_CHARS = 50
MAX_TAGS = 20
MAX_URL_CHARS = 2000
_LETTER = (
    r"A-Za-z0-9\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0400-\u0481"
    r"\u3041-\u3094\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
)
_HOST = rf"[{_LETTER}][{_LETTER}.-]*(?::[0-9]{{1,5}})?"
# A page's address, or none; of what is beyond these letters browsers copy the percent-encoded form.
URL_PATTERN = rf"^ *(?:[Hh][Tt][Tt][Pp][Ss]?://{_HOST}(?:[/?#][!-~{_LETTER}]*)?)? *$"
Tag = Annotated[str, CLEANED, Field(max_length=MAX_TAG_CHARS)]


def check_tags(values: Iterable[str]) -> tuple[str, ...]:
    """Tags in order, without repetitions. Raises InvalidRequest."""
    parts = (clean(value).strip() for value in values)
    tags = tuple(dict.fromkeys(part for part in parts if part))
    if len(tags) > MAX_TAGS or any(len(tag) > MAX_TAG_CHARS for tag in tags):
        raise InvalidRequest(f"tags 最多 {MAX_TAGS} 个，每个不超过 {MAX_TAG_CHARS} 个字")
    return tags


def check_url(value: str) -> str:
    """Returns the address of a document's page, empty for none. Raises InvalidRequest."""
    url = value.strip()
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and "@" not in parts.netloc  # customers are shown it
        valid = parts.scheme in ("http", "https") and named and clean(url) == url and url.isprintable()
    except ValueError:
        valid = False
    if url and (not valid or len(url) > MAX_URL_CHARS):
        shown = f"url 要以 http:// 或 https:// 开头，不带用户名和密码，不超过 {MAX_URL_CHARS} 个字符"
        raise InvalidRequest(shown, field="url")
    return url


def require_valid_period(start: datetime | None, end: datetime | None) -> None:
    """Raises Conflict for a validity that ends before it starts."""
    if start is not None and end is not None and end <= start:
        raise Conflict("valid_until 要晚于 valid_from", code="never_valid")


def check_validity(name: str, start: datetime | None, end: datetime | None) -> None:
    """Raises InvalidDocument where a document would never be found: one end is new, the other still the old."""
    if start is not None and end is not None and end <= start:
        raise InvalidDocument(name, "的失效时间不晚于生效时间，永远检索不到；没给的一端沿用现在的，请两端一起给出")
