from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator

import pytest

from app.errors import FetchFailed, FetchUnavailable, Forbidden
from app.net.fetcher import Fetcher
from app.net.inflater import TooLong, inflate
from app.net.targets import TargetPolicy, parse_port_ranges
from tests.app.net.site import Page, Site, site

HERE = TargetPolicy.from_settings("网址", "", ("127.0.0.1",), parse_port_ranges("80"))


@pytest.fixture
async def web() -> AsyncIterator[Site]:
    async with site() as found:
        yield found


@pytest.fixture
async def fetcher() -> AsyncIterator[Fetcher]:
    async with Fetcher(HERE, 20, 100_000) as found:
        yield found


async def test_a_page_comes_with_what_its_server_says_of_it(web: Site, fetcher: Fetcher) -> None:
    body = "<p>你好</p>".encode("gb18030")
    web.pages["/a"] = Page(body, headers={"Content-Type": "Text/HTML; charset=GBK", "X-Robots-Tag": "NoIndex"})
    got = await fetcher.fetch(f"{web.url}/a#part")
    assert (got.status, got.media_type, got.charset, got.robots) == (200, "text/html", "gbk", "noindex")
    assert (got.text.decode(), str(got.url)) == ("<p>你好</p>", f"{web.url}/a")
    again = await fetcher.fetch(f"{web.url}/a", etag=got.etag)
    assert (again.status, again.content) == (304, b"")
    assert web.asked[0][1]["user-agent"].startswith("YingdaBot")
    assert "cookie" not in web.asked[1][1]


async def test_redirects_are_followed_and_said(web: Site, fetcher: Fetcher) -> None:
    web.put("/end", "终点")
    web.moved("/for-good", "/end")
    web.moved("/for-now", "/for-good", 302)
    web.moved("/round", "/round")
    got = await fetcher.fetch(f"{web.url}/for-good")
    assert (str(got.url), got.redirected, got.permanent) == (f"{web.url}/end", True, True)
    assert not (await fetcher.fetch(f"{web.url}/for-now")).permanent
    with pytest.raises(FetchFailed) as caught:
        await fetcher.fetch(f"{web.url}/round")
    assert caught.value.code == "fetch_too_many_redirects"


@pytest.mark.parametrize(
    "place", ["http://169.254.169.254/latest/", "http://10.0.0.1/", "http://[::1]/", "file:///etc/passwd", "//[::"]
)
async def test_no_redirect_leads_into_the_network_of_the_server(web: Site, fetcher: Fetcher, place: str) -> None:
    web.moved("/a", place, 302)
    with pytest.raises((Forbidden, FetchFailed)) as caught:
        await fetcher.fetch(f"{web.url}/a")
    assert caught.value.code in ("unsafe_target", "fetch_bad_url")
    assert web.paths() == ["/a"]


async def test_a_body_is_read_as_far_as_its_bound_compressed_or_not(web: Site, fetcher: Fetcher) -> None:
    kinds = {"Content-Type": "text/plain", "Content-Encoding": "gzip"}
    web.pages["/bomb"] = Page(gzip.compress(bytes(10_000_000)), headers=kinds)
    web.pages["/long"] = Page(bytes(200_000))
    web.pages["/fine"] = Page(gzip.compress("多压缩".encode() * 1000), headers=kinds)
    web.pages["/deflate"] = Page(zlib.compress(b"abc"), headers=kinds | {"Content-Encoding": "deflate"})
    web.pages["/cut"] = Page(gzip.compress(b"abc" * 1000)[:-9], headers=kinds)
    assert (await fetcher.fetch(f"{web.url}/fine")).content == "多压缩".encode() * 1000
    assert (await fetcher.fetch(f"{web.url}/deflate")).content == b"abc"
    codes = []
    for path in ("/bomb", "/long", "/cut"):
        with pytest.raises(FetchFailed) as caught:
            await fetcher.fetch(web.url + path)
        codes.append(caught.value.code)
    assert codes == ["fetch_too_large", "fetch_too_large", "fetch_garbled"]
    assert (await fetcher.fetch(f"{web.url}/long", wanted=lambda url, media_type: False)).content == b""


async def test_what_may_work_later_is_not_what_never_will(web: Site, fetcher: Fetcher) -> None:
    for status in (500, 503, 429):
        web.put("/a", "", status=status)
        with pytest.raises(FetchUnavailable):
            await fetcher.fetch(f"{web.url}/a")
    web.put("/a", "", status=403)
    assert (await fetcher.fetch(f"{web.url}/a")).status == 403
    assert (await fetcher.fetch(f"{web.url}/none")).is_gone
    closed = await asyncio.start_server(web.serve, "127.0.0.1", 0)
    port = closed.sockets[0].getsockname()[1]
    closed.close()
    await closed.wait_closed()
    with pytest.raises(FetchUnavailable) as caught:
        await fetcher.fetch(f"http://127.0.0.1:{port}/")
    assert caught.value.code == "fetch_unreachable"


async def test_a_server_that_says_nothing_is_left(web: Site) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    async with server, Fetcher(HERE, 0.2, 1000) as hasty:
        with pytest.raises(FetchUnavailable) as caught:
            await hasty.fetch(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
    assert caught.value.code == "fetch_timeout"


def test_several_members_of_one_file_are_let_out_within_one_bound() -> None:
    data = gzip.compress(b"a" * 60) + gzip.compress(b"b" * 60)
    assert inflate(data, 120) == b"a" * 60 + b"b" * 60
    with pytest.raises(TooLong):
        inflate(data, 119)


def test_members_without_end_are_not_let_out() -> None:
    with pytest.raises(TooLong):
        inflate(gzip.compress(b"") * 20_000, 10)


async def test_a_charset_that_only_python_knows_is_none(web: Site, fetcher: Fetcher) -> None:
    web.pages["/a"] = Page(b"abc-", headers={"Content-Type": "text/html; charset=punycode"})
    assert (await fetcher.fetch(f"{web.url}/a")).text == b"abc-"


async def test_a_validator_that_cannot_be_sent_back_is_none(web: Site, fetcher: Fetcher) -> None:
    web.pages["/a"] = Page(b"a", headers={"ETag": '"第一版"', "Last-Modified": "今天"}, tagged=False)
    got = await fetcher.fetch(f"{web.url}/a")
    assert (await fetcher.fetch(f"{web.url}/a", etag=got.etag, last_modified=got.last_modified)).status == 200
