"""Checks by which name, from which page and through which proxy a request comes.

While no key is configured, every caller on loopback has every role. So do pages that a browser on this machine shows
(their requests, and names of theirs that resolve to loopback) and whatever a proxy passes on, unless it is told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from app.auth.principal import is_loopback
from app.errors import AppError, Forbidden

_FORWARDING = frozenset(
    (b"forwarded", b"via", b"x-real-ip", b"x-client-ip", b"x-cluster-client-ip", b"true-client-ip", b"cf-connecting-ip")
)
_TELLING = _FORWARDING | {b"origin", b"sec-fetch-site"}
# `none`: the user typed the address.
_OWN_SITE = frozenset((b"same-origin", b"none"))


class OriginMiddleware:
    """Without keys, lets only this machine through: names of its own, no foreign page, no proxy.

    With keys, the key is the proof, and only the name is looked at, where names are configured.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str]) -> None:
        """hosts: names beside those of this machine; `*.example.com` is any name below it."""
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts if not host.startswith("*"))
        self._suffixes = tuple(host[1:].lower() for host in hosts if host.startswith("*"))
        self._any_host = not hosts
        self._known = lru_cache(maxsize=256)(self._is_known)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises Forbidden; the handshake of a socket is answered here, since nothing catches errors around it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        error: AppError | None = None
        if await scope["app"].state.container.keys.is_keyless():
            error = self._check_host_name(scope)
            if error is None and _is_telling(scope):
                error = _check_page(scope) or _check_forwarded(scope)
        elif not self._any_host:
            error = self._check_host_name(scope)
        if error is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            raise error
        else:
            await send({"type": "websocket.close"})  # which the server answers with 403

    def _check_host_name(self, scope: Scope) -> AppError | None:
        given = [value for name, value in scope["headers"] if name == b"host"]
        if len(given) == 1 and self._known(given[0]):
            return None
        return Forbidden("不接受以这个主机名发来的请求；确实要用它时，请把它加入 ALLOWED_HOSTS", code="foreign_host")

    def _is_known(self, given: bytes) -> bool:
        host = _read_name(given)
        return bool(host) and (is_loopback(host) or host in self._hosts or host.endswith(self._suffixes))


def _is_telling(scope: Scope) -> bool:
    """Whether anything is to be looked at beyond the name; in most requests nothing is."""
    for name, _ in scope["headers"]:
        if name in _TELLING or name.startswith(b"x-forwarded"):
            return True
    return bool(scope["http_version"] == "1.0")


def _check_page(scope: Scope) -> AppError | None:
    """Browsers tell which page asks; that a page may not read the answer does not keep it from acting."""
    host = next(value for name, value in scope["headers"] if name == b"host").decode("latin-1").lower()
    for name, value in scope["headers"]:
        if (name == b"origin" and not _is_page_of(host, value.decode("latin-1"))) or (
            name == b"sec-fetch-site" and value not in _OWN_SITE
        ):
            return Forbidden("没有配置密钥时，只接受本机页面的请求", code="foreign_origin")
    return None


def _check_forwarded(scope: Scope) -> AppError | None:
    """Returns the error for requests that a proxy on this machine passes on, by which the whole world would be this
    machine.

    Some proxies name nothing but speak HTTP/1.0.
    """
    named = any(name in _FORWARDING or name.startswith(b"x-forwarded") for name, _ in scope["headers"])
    if not named and scope["http_version"] != "1.0":
        return None
    return Forbidden("没有配置密钥时，不接受代理转来的请求：要放在代理后面，请先设置 API_KEY", code="forwarded")


def _is_page_of(host: str, origin: str) -> bool:
    try:
        page = urlsplit(origin)
    except ValueError:
        return False
    return page.scheme in ("http", "https") and page.netloc.lower() == host


def _read_name(host: bytes) -> str:
    """Returns a Host header without its port, in lower case; empty if it is none."""
    text = host.decode("latin-1").lower()
    if text.startswith("["):
        name, bracket, rest = text.partition("]")
        name += bracket
        well_formed = bool(bracket) and (not rest or (rest[0] == ":" and rest[1:].isdigit()))
    else:
        name, colon, port = text.partition(":")
        well_formed = not colon or port.isdigit()
    return name if well_formed else ""
