"""One GET to a stranger's server: checked before each step, bounded in bytes and time, and honest about what failed."""

from __future__ import annotations

import asyncio
import codecs
import re
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

from app.errors import FetchFailed, FetchUnavailable
from app.net.inflater import Inflater, TooLong
from app.net.targets import TargetPolicy, resolve_target
from knowledge.lazy import LazyModule

if TYPE_CHECKING:
    import httpx

    Follow = Callable[[httpx.URL], bool]
    Wanted = Callable[[httpx.URL, str], bool]
else:
    httpx = LazyModule("httpx")

# By what name robots.txt knows us.
AGENT = "YingdaBot"
_USER_AGENT = f"{AGENT}/1.0"
MAX_REDIRECTS = 5
_MAX_URL = 2000
# Status -> whether it is for good.
_REDIRECTS = {301: True, 302: False, 303: False, 307: False, 308: True}
_LATER = frozenset({408, 425, 429})
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
# Of Python, and charsets of no page; Punycode takes the square of the length, in which nothing else runs.
_CODECS = frozenset({"idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape"})


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came. url: after redirects, of which `permanent` tells that all were for good, True without any.

    content: decompressed; empty unless the status is 200 and it was wanted. media_type: lower case, without parameters.
    """

    url: httpx.URL
    status: int
    content: bytes = b""
    media_type: str = ""
    charset: str = ""
    etag: str = ""
    last_modified: str = ""
    robots: str = ""
    redirected: bool = False
    permanent: bool = True

    @property
    def is_gone(self) -> bool:
        """Whether the server says that there is nothing at this address."""
        return self.status in (404, 410)

    @property
    def text(self) -> bytes:
        """The content in UTF-8 where its charset was told, as readers take it first; else as it came."""
        try:
            name = codecs.lookup(self.charset).name.replace("-", "_") if self.charset else "utf_8"
            if name not in ("utf_8", "utf_8_sig") and name not in _CODECS:
                return self.content.decode(name).encode()
        except (LookupError, UnicodeError):  # what was told is wrong, and the content itself tells more
            return self.content
        return self.content


@dataclass(frozen=True, slots=True)
class _FetchRequest:
    etag: str
    last_modified: str
    most: int
    follow: Follow
    wanted: Wanted

    @property
    def headers(self) -> dict[str, str]:
        known = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in known.items() if value}


class Fetcher:
    """seconds: for a whole fetch, redirects and names included; most: bytes of a body, decompressed or not."""

    def __init__(self, policy: TargetPolicy, seconds: float, most: int) -> None:
        self.policy = policy
        self._seconds = seconds
        self._most = most

    @cached_property
    def _transport(self) -> httpx.AsyncHTTPTransport:
        """A transport alone: no proxy that would resolve the name again, no cookies, no redirects behind one's back.

        Made when it is first used: reading the certificates takes 30 ms.
        """
        return httpx.AsyncHTTPTransport(limits=httpx.Limits(max_connections=32, max_keepalive_connections=0))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        if "_transport" in vars(self):
            await self._transport.aclose()

    async def fetch(
        self,
        url: str,
        *,
        etag: str = "",
        last_modified: str = "",
        most: int = 0,
        follow: Follow = lambda url: True,
        wanted: Wanted = lambda url, media_type: True,
    ) -> Fetched:
        """etag, last_modified: of what is known, by which a server may answer 304. follow: which redirects are; wanted:
        of which URLs and media types a body is read; most: as above, where it is less.

        Any status that is an answer comes back: 200, 304, 404, 403 … Raises FetchUnavailable for what may work a moment
        later, as 5xx and timeouts do, FetchFailed for what will not, Forbidden for what must not be called.
        """
        asked = _FetchRequest(etag, last_modified, min(most, self._most) or self._most, follow, wanted)
        try:
            async with asyncio.timeout(self._seconds):
                return await self._follow_redirects(url, asked)
        except TimeoutError as error:
            raise FetchUnavailable(f"{self._seconds:g} 秒内没有取完", code="fetch_timeout") from error
        except (httpx.RemoteProtocolError, httpx.DecodingError, zlib.error) as error:
            raise FetchUnavailable("对方的回应不完整或无法解读", code="fetch_garbled") from error
        except (httpx.HTTPError, OSError, UnicodeError) as error:
            raise FetchUnavailable(f"连不上：{type(error).__name__}", code="fetch_unreachable") from error

    async def _follow_redirects(self, url: str, asked: _FetchRequest) -> Fetched:
        permanent = True
        for hop in range(MAX_REDIRECTS + 1):
            if len(url) > _MAX_URL:
                raise FetchFailed(f"网址超过 {_MAX_URL} 个字符", code="fetch_bad_url")
            async with self._open_response(url, asked) as (at, response):
                location = response.headers.get("location", "")
                if response.status_code not in _REDIRECTS or not location:
                    return await _build_fetched(at, response, asked, redirected=hop > 0, permanent=permanent)
                permanent = permanent and _REDIRECTS[response.status_code]
            following = _join_location(at, location)
            if not asked.follow(following):
                raise FetchFailed(f"被转到了 {following.host}", code="fetch_redirected_away")
            url = str(following)
        raise FetchFailed(f"转向超过 {MAX_REDIRECTS} 次", code="fetch_too_many_redirects")

    @asynccontextmanager
    async def _open_response(self, url: str, asked: _FetchRequest) -> AsyncIterator[tuple[httpx.URL, httpx.Response]]:
        """Opens a response, whose body is not read yet."""
        target = await resolve_target(url, self.policy)
        headers = {"User-Agent": _USER_AGENT, "Accept": "*/*", "Accept-Encoding": "gzip, deflate"}
        timeout = httpx.Timeout(self._seconds).as_dict()
        request = httpx.Request(
            "GET",
            target.address_url.copy_with(fragment=None),
            headers={**headers, **asked.headers, **target.headers},
            extensions={**target.extensions, "timeout": timeout},
        )
        response = await self._transport.handle_async_request(request)
        try:
            yield target.url, response
        finally:
            await response.aclose()


async def _build_fetched(
    url: httpx.URL, response: httpx.Response, asked: _FetchRequest, *, redirected: bool, permanent: bool
) -> Fetched:
    status, headers = response.status_code, response.headers
    if status >= 500 or status in _LATER:
        raise FetchUnavailable(f"对方返回 HTTP {status}", code="fetch_unavailable", status=status)
    described = headers.get("content-type", "")
    charset = _CHARSET.search(described)
    media_type = described.partition(";")[0].strip().lower()
    read = status == httpx.codes.OK and asked.wanted(url, media_type)
    # Headers are kept with the page and a stranger writes them, so each has a bound.
    return Fetched(
        url.copy_with(fragment=None),
        status,
        await _read_body(response, asked.most) if read else b"",
        media_type,
        charset[1].lower() if charset else "",
        _clean_validator(headers.get("etag", ""), 500),
        _clean_validator(headers.get("last-modified", ""), 100),
        headers.get("x-robots-tag", "")[:500].lower(),
        redirected,
        permanent,
    )


def _clean_validator(value: str, most: int) -> str:
    """Returns a validator that can be sent back as it is; else empty, so that the page is asked for as if
    it had none.
    """
    return value if value.isascii() and len(value) <= most else ""


async def _read_body(response: httpx.Response, most: int) -> bytes:
    """Reads and decompresses a body. A decoder without a bound would have all of it in memory before anybody looks."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise FetchFailed(f"压缩方式 {encoding[:20]} 不支持", code="fetch_garbled")
    inflater = Inflater(most) if encoding not in ("", "identity") else None
    content, taken = bytearray(), 0
    assert isinstance(response.stream, httpx.AsyncByteStream)
    try:
        async for piece in response.stream:
            taken += len(piece)
            if taken > most:
                raise TooLong
            content += piece if inflater is None else inflater.feed(piece)
    except TooLong as error:
        raise FetchFailed(f"超过 {most / 2**20:.3g} MB 的大小上限", code="fetch_too_large") from error
    if inflater is not None and taken and not inflater.complete:
        raise zlib.error("cut short")
    return bytes(content)


def _join_location(url: httpx.URL, location: str) -> httpx.URL:
    try:
        return url.join(location)
    except (httpx.InvalidURL, UnicodeError) as error:
        raise FetchFailed("转向的网址不合法", code="fetch_bad_url") from error
