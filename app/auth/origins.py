"""Web pages that may use a key, by their origins."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from app.auth.principal import Principal
from app.errors import Forbidden


def normalize_origin(text: str) -> str:
    """Returns an origin as browsers write it. Raises ValueError, with a message for people, for a text that is none."""
    given = text.strip().lower().rstrip("/")
    parts = urlsplit(given)
    if parts.scheme not in ("http", "https") or not parts.hostname or given != f"{parts.scheme}://{parts.netloc}":
        raise ValueError(f"来源 {text!r} 不可用：须如 https://shop.example.com，带协议，端口可选，没有路径")
    if "@" in parts.netloc or "*" in parts.netloc:
        raise ValueError(f"来源 {text!r} 不可用：不能有通配符与用户名")
    return given


def require_origin(principal: Principal, headers: Mapping[str, str]) -> None:
    """Refuses pages of other sites where a key is for certain ones; what is no browser sends no Origin. Raises
    Forbidden.
    """
    asking = headers.get("origin")
    if not asking or not principal.origins or asking in principal.origins or is_own_page(asking, headers):
        return
    raise Forbidden("这个密钥不允许从这个网页使用", code="origin_not_allowed", origin=asking[:200])


def is_own_page(asking: str, headers: Mapping[str, str]) -> bool:
    """Whether the page was loaded from this server."""
    return asking.partition("://")[2].lower() == headers.get("host", "").lower()
