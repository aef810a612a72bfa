"""URLs of a site: the one form in which each is known, and which of them belong to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from knowledge.lazy import LazyModule

if TYPE_CHECKING:
    import httpx
else:
    httpx = LazyModule("httpx")


MAX_URL_CHARS = 1000
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Site:
    """All pages of a host whose paths begin with a prefix. Plain and secure pages of the usual ports are one site."""

    start: httpx.URL
    prefix: str = "/"

    def normalize_page(self, link: str, base: str = "") -> str | None:
        """Returns a link as pages of the site are known by; None for what is elsewhere. base: the page that has the
        link.
        """
        known = self.normalize_address(link, base)
        return known if known is not None and httpx.URL(known).path.startswith(self.prefix) else None

    def normalize_address(self, link: str, base: str = "") -> str | None:
        """Returns a link as `normalize_page` does, for everything on the host."""
        url = _parse_url(link, base)
        if url is None or url.userinfo or not self.is_on_host(url):
            return None
        url = url.copy_with(scheme=self.start.scheme, port=self.start.port, fragment=None, path=url.path or "/")
        return known if len(known := str(url)) <= MAX_URL_CHARS else None

    def is_on_host(self, url: httpx.URL) -> bool:
        """Whether a redirect leads to another page of the host."""
        return url.scheme in _DEFAULT_PORTS and self._is_same_host(url)

    def _is_same_host(self, url: httpx.URL) -> bool:
        if url.host != self.start.host:
            return False
        usual = {None, _DEFAULT_PORTS[url.scheme]}
        own = self.start.port or _DEFAULT_PORTS[self.start.scheme]
        return (url.port or _DEFAULT_PORTS[url.scheme]) == own or (url.port in usual and self.start.port is None)


def join_url(base: str, link: str) -> str:
    """Joins a page's own base with its address; the address alone if the base is nonsense."""
    url = _parse_url(link, base)
    return base if url is None else str(url)


def _parse_url(link: str, base: str) -> httpx.URL | None:
    try:
        url = httpx.URL(urljoin(base, link.strip()) if base else link.strip())
        str(url).encode()
    except (httpx.InvalidURL, ValueError):  # Python's own reading of URLs raises ValueError
        return None
    return url
