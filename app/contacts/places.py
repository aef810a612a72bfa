"""Where a customer was, as far as it is kept."""

from __future__ import annotations

from urllib.parse import urlsplit

from agents.types import Page

URL_CHARS, TITLE_CHARS = 500, 200


def read_place(page: Page) -> tuple[str, str] | None:
    """Address and title of a page, the address without its query and fragment, which may hold secrets; None for what is
    no page of the web.
    """
    try:
        parts = urlsplit(page.url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"[:URL_CHARS], " ".join(page.title.split())[:TITLE_CHARS]
