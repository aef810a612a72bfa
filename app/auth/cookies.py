"""Cookies for the pages that this server shows itself: out of reach of scripts, and of every other page.

A browser sends them along by itself, so they count only where it says, too, that a page of this server asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from starlette.requests import HTTPConnection
from starlette.responses import Response

from app.auth.origins import is_own_page


@dataclass(frozen=True, slots=True)
class PageCookie:
    """`prefix` holds browsers to what they promise by it, over https: RFC 6265bis, 4.1.3."""

    name: str
    prefix: str
    path: str

    def read_value(self, connection: HTTPConnection) -> str:
        """Returns the cookie that a page of this server sends; empty without one, or if another page asks."""
        if "cookie" not in connection.headers or not from_own_page(connection.headers):
            return ""
        held = connection.cookies.get(self.prefix + self.name)
        if held is None and not _is_secure(connection):
            held = connection.cookies.get(self.name)
        return unquote(held or "")

    def keep(self, response: Response, connection: HTTPConnection, value: str, seconds: int | None = None) -> None:
        """Has the browser keep it. seconds: None for as long as the browser runs."""
        secure = _is_secure(connection)
        response.set_cookie(
            self.prefix + self.name if secure else self.name,
            quote(value, safe=""),
            max_age=seconds,
            path=self.path,
            secure=secure,
            httponly=True,
            samesite="strict",
        )

    def drop(self, response: Response, connection: HTTPConnection) -> None:
        """Has the browser forget it."""
        self.keep(response, connection, "", 0)


# The customer's newest session and its secret. For this host alone, so that no neighbouring one can plant its own.
SESSION = PageCookie("yingda-session", "__Host-", "/")
# The secret of a sign-in of staff, which the server can end; on a host with several applications the others do not
# see it.
SIGN_IN = PageCookie("yingda-signin", "__Secure-", "/api")


def from_own_page(headers: Mapping[str, str]) -> bool:
    """Whether a page of this server asks. Browsers say so over https and on this machine by Sec-Fetch-Site; elsewhere
    it is the page's address that tells, as far as they send it. No script can write these headers.
    """
    if (site := headers.get("sec-fetch-site")) is not None:
        return site == "same-origin"
    page = _read_page(headers)
    return bool(page) and is_own_page(page, headers)


def read_session_secret(connection: HTTPConnection, session_id: str) -> str:
    """Returns the secret of a session from the cookie; empty if that holds another session or none."""
    held, token = read_session(connection)
    return token if held == session_id else ""


def read_session(connection: HTTPConnection) -> tuple[str, str]:
    """Returns the session in the cookie and its secret; both empty without one."""
    session_id, _, token = SESSION.read_value(connection).rpartition(".")
    return session_id, token


def keep_session(response: Response, connection: HTTPConnection, session_id: str, token: str, seconds: int) -> None:
    """Has the browser keep a session, in the place of the one before."""
    SESSION.keep(response, connection, f"{session_id}.{token}", seconds)


def _read_page(headers: Mapping[str, str]) -> str:
    """Returns the origin of the page that asks; empty if the browser does not say."""
    if (origin := headers.get("origin")) is not None:
        return origin
    try:
        parts = urlsplit(headers.get("referer", ""))
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""


def _is_secure(connection: HTTPConnection) -> bool:
    """Whether the page came over https, also where a proxy in front does not say that it did."""
    return connection.url.scheme in ("https", "wss") or _read_page(connection.headers).startswith("https://")
