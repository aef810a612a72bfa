from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.errors import FetchFailed, FetchUnavailable
from app.jobs.types import Cancelled
from app.net.fetcher import AGENT
from app.sources.types import WebsiteConfig
from app.sources.website import WebsiteSync
from tests.app.net.site import Page, Site, site
from tests.app.sources.syncing import TENANT, Syncing, syncing


@pytest.fixture
async def web() -> AsyncIterator[Site]:
    async with site() as found:
        found.put(
            "/", '<a href="/returns">退货</a> <a href="/warranty#top">保修</a> <a href="http://127.0.0.1:1/">外</a>'
        )
        found.put("/returns", "<h1>退货</h1><p>七天内可以无理由退货。</p>")
        found.put("/warranty", "<h1>保修</h1><p>整机保修三年。</p>")
        yield found


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Syncing]:
    async with syncing(tmp_path) as found:
        yield found


async def test_pages_become_documents_changed_ones_versions_and_those_that_are_gone_expire(
    web: Site, here: Syncing
) -> None:
    source = await here.website(f"{web.url}/")
    assert await here.sync(source) == {"created": 3, "complete": True}
    assert set(web.paths()) == {"/robots.txt", "/", "/returns", "/warranty"}
    assert await here.answers("七天内可以无理由退货")
    documents = await here.documents()
    page = documents["127.0.0.1/warranty.html"]
    assert (page.url, page.title, page.version) == (f"{web.url}/warranty", "保修", 1)

    assert await here.sync(source) == {"unchanged": 3, "complete": True}
    assert all(row.version == 1 for row in (await here.documents()).values())

    web.put("/warranty", "<h1>保修</h1><p>整机保修五年。</p>")
    del web.pages["/returns"]
    assert await here.sync(source) == {"updated": 1, "expired": 1, "unchanged": 1, "complete": True}
    assert await here.answers("整机保修五年") and not await here.answers("整机保修三年")
    assert not await here.answers("七天内可以无理由退货")
    gone = (await here.documents(live=False))["127.0.0.1/returns.html"]
    assert gone.valid_until is not None
    [newest, *_] = await here.base.versions.rows.list_all(TENANT, page.id)
    assert (newest.author, newest.reason) == ("数据来源：帮助中心", f"内容有变化：{web.url}/warranty")

    web.put("/returns", "<h1>退货</h1><p>七天内可以无理由退货。</p>")
    assert (await here.sync(source))["created"] == 1
    assert await here.answers("七天内可以无理由退货")
    assert (await here.documents())["127.0.0.1/returns.html"].id == gone.id


async def test_an_outage_changes_nothing(web: Site, here: Syncing) -> None:
    source = await here.website(f"{web.url}/")
    await here.sync(source)
    web.put("/returns", "", status=503)
    web.put("/warranty", "请登录", status=403)
    assert await here.sync(source) == {"unchanged": 1, "failed": 2, "complete": True}
    assert await here.errors(source) == {"fetch_unavailable", "fetch_status"}
    for path, status in (("/robots.txt", 500), ("/", 502), ("/", 404)):
        web.put(path, "", status=status)
        with pytest.raises(FetchFailed):
            await here.sync(source)
        web.pages.pop("/robots.txt", None)
    last = (await here.service.get(TENANT, source.id)).last
    assert last is not None and (last["error"]["code"], last["complete"]) == ("fetch_status", False)
    web.moved("/", "/maintenance", 302)
    web.moved("/returns", "/maintenance", 302)
    web.put("/maintenance", "网站维护中，请稍后再来")
    assert "expired" not in await here.sync(source)
    assert "fetch_redirected_away" in await here.errors(source)
    assert {"127.0.0.1/index.html", "127.0.0.1/returns.html", "127.0.0.1/warranty.html"} <= (
        await here.documents()
    ).keys()


async def test_a_site_that_fails_page_after_page_is_left_alone(web: Site, here: Syncing) -> None:
    web.put("/", "".join(f'<a href="/p{number}">{number}</a>' for number in range(20)))
    for number in range(20):
        web.put(f"/p{number}", "", status=500)
    source = await here.website(f"{web.url}/")
    with pytest.raises(FetchUnavailable):
        await here.sync(source)
    assert len(web.paths()) == 2 + 1 + 5


async def test_pages_that_always_fail_do_not_keep_the_others_out(web: Site, here: Syncing) -> None:
    dead = "".join(f'<a href="/dead{number}">{number}</a>' for number in range(5))
    for number in range(5):
        web.put(f"/dead{number}", "", status=500)
    web.put("/", f'{dead}<a href="/returns">退货</a>')
    source = await here.website(f"{web.url}/")
    for _ in range(2):
        with pytest.raises(FetchUnavailable):
            await here.sync(source)
    assert await here.indexed() and await here.answers("七天内可以无理由退货")
    await here.service.change_source(TENANT, source.id, {"config": WebsiteConfig(f"{web.url}/", max_pages=2)})
    assert "complete" not in await here.sync(source)  # those that failed are left, and not forgotten
    assert len(await here.states(source)) == 7
    await here.service.change_source(TENANT, source.id, {"config": WebsiteConfig(f"{web.url}/")})
    web.put("/dead0", "<p>修好的一页</p>")
    assert (await here.sync(source))["created"] == 1
    assert await here.answers("修好的一页")


async def test_robots_txt_is_obeyed_its_delay_too(web: Site, here: Syncing) -> None:
    rules = f"\ufeffUser-agent: {AGENT}\nDisallow: /warr*y$\nCrawl-delay: 7\n\nUser-agent: *\nDisallow: /\n"
    web.send("/robots.txt", rules.encode(), "text/plain")
    source = await here.website(f"{web.url}/", requests_per_minute=30)
    assert await here.sync(source) == {"created": 2, "excluded": 1, "complete": True}
    assert "/warranty" not in web.paths()
    assert set(here.pace.waits) == {7.0}
    web.send("/robots.txt", f"User-agent: {AGENT}\nDisallow: /ret\n".encode(), "text/plain")
    assert await here.sync(source) == {"created": 1, "unchanged": 1, "failed": 1, "complete": True}
    assert (await here.errors(source), here.pace.waits[-1]) == ({"robots_disallowed"}, 2.0)
    assert await here.answers("七天内可以无理由退货")
    web.send("/robots.txt", b"User-agent: *\nDisallow: /\n", "text/plain")
    with pytest.raises(FetchFailed, match=r"robots\.txt"):
        await here.sync(source)


async def test_a_sitemap_index_with_compressed_maps_is_a_start(web: Site, here: Syncing) -> None:
    entry = "<sitemap><loc>{}</loc></sitemap>"
    index = "".join(entry.format(place) for place in ("{url}/map.xml.gz", "http://127.0.0.1:1/map.xml"))
    web.send(
        "/sitemap.xml", f'<?xml version="1.0"?><sitemapindex xmlns="x">{index}</sitemapindex>'.encode(), "text/xml"
    )
    pages = "".join(f"<url><loc>{web.url}{path}</loc></url>" for path in ("/returns", "/none"))
    packed = gzip.compress(f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{pages}</urlset>'.encode())
    web.send("/map.xml.gz", packed, "application/gzip")
    web.put("/returns", '<p>退货七天</p><a href="/warranty">保修</a>')
    source = await here.website(f"{web.url}/sitemap.xml", depth=0)
    assert await here.sync(source) == {"created": 1, "complete": True}
    assert web.paths() == ["/robots.txt", "/sitemap.xml", "/map.xml.gz", "/returns", "/none"]
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa">]><urlset><url><loc>&a;</loc></url></urlset>'
    web.send("/sitemap.xml", bomb, "text/xml")
    with pytest.raises(FetchFailed) as caught:
        await here.sync(source)
    assert caught.value.code == "sitemap_broken"


async def test_what_a_page_says_of_itself_is_heard(web: Site, here: Syncing) -> None:
    links = "".join(f'<a href="{path}">x</a>' for path in ("/a?utm=1", "/a", "/hidden", "/header", "/dead-end", "/pic"))
    web.put("/", links)
    web.put("/a?utm=1", "<p>文章甲</p>", head='<link rel="canonical" href="/a">')
    web.put("/a", "<p>文章甲</p>", head='<link rel="canonical" href="/a">')
    web.put("/hidden", '<p>不收</p><a href="/behind">后面</a>', head='<meta name="robots" content="noindex">')
    web.put("/header", "<p>也不收</p>", X_Robots_Tag="noindex")
    web.put("/dead-end", '<p>死路</p><a href="/never">不跟</a>', head='<meta name="robots" content="nofollow">')
    web.put("/behind", "<p>跟得到</p>")
    web.put("/never", "<p>跟不到</p>")
    web.send("/pic", bytes(2000), "image/png")
    source = await here.website(f"{web.url}/")
    await here.sync(source)
    states = await here.states(source)
    assert {path for path, state in states.items() if state == "current"} == {"", "a", "dead-end", "behind"}
    assert {path for path, state in states.items() if state == "excluded"} == {"a?utm=1", "hidden", "header", "pic"}
    assert "/never" not in web.paths()
    web.put("/behind", "<p>跟得到</p>", head='<meta name="robots" content="noindex">')
    assert (await here.sync(source))["expired"] == 1
    assert not await here.answers("跟得到")


async def test_depth_prefix_and_number_of_pages_bound_a_sync(web: Site, here: Syncing) -> None:
    web.put("/", '<a href="/help/1">1</a><a href="/shop/1">店</a>')
    for number in range(1, 6):
        links = f'<a href="{number + 1}">下一篇</a><a href="/shop/1">店</a>'
        web.put(f"/help/{number}", f"<p>第 {number} 篇帮助</p>{links}")
    web.put("/shop/1", "店")
    outside = await here.website(f"{web.url}/", prefix="/help/")
    with pytest.raises(FetchFailed) as caught:
        await here.sync(outside)
    assert caught.value.code == "start_out_of_scope"
    source = await here.website(f"{web.url}/help/1", depth=2, prefix="/help/")
    assert await here.sync(source) == {"created": 3, "complete": True}
    assert "/shop/1" not in web.paths()
    few = await here.website(f"{web.url}/help/1", depth=9, max_pages=2, prefix="/help/")
    assert "complete" not in await here.sync(few)


async def test_what_an_interrupted_sync_left_is_found_by_the_next(web: Site, here: Syncing) -> None:
    source = await here.website(f"{web.url}/")
    with pytest.raises(Cancelled):
        await here.sync(source, stop=(1, Cancelled()))
    assert await here.states(source) == {"": "current"}
    last = (await here.service.get(TENANT, source.id)).last
    assert last is not None and (last["error"], last["complete"]) == (None, False)
    assert await here.sync(source) == {"created": 2, "unchanged": 1, "complete": True}


async def test_a_page_that_moves_takes_its_document_along(web: Site, here: Syncing) -> None:
    source = await here.website(f"{web.url}/")
    await here.sync(source)
    before = (await here.documents())["127.0.0.1/returns.html"]
    web.pages["/service/returns"] = web.pages.pop("/returns")
    web.moved("/returns", "/service/returns")
    await here.sync(source)
    after = (await here.documents())["127.0.0.1/service/returns.html"]
    assert (after.id, after.url) == (before.id, f"{web.url}/service/returns")
    assert await here.answers("七天内可以无理由退货")
    assert len(await here.documents()) == 3


async def test_only_what_is_read_of_a_page_makes_a_version_and_its_charset_is_heard(web: Site, here: Syncing) -> None:
    web.put("/", "<p>正文不变</p>", head="<script>let token = 1</script>")
    old = "<p>编码是旧的，邮费由商城承担</p>".encode("gb18030")
    web.pages["/old"] = Page(old, headers={"Content-Type": "text/html;charset=gb2312"})
    source = await here.website(f"{web.url}/")
    await here.sync(source)
    web.put("/", '<p>正文不变</p><div hidden><a href="/old">旧</a></div>', head="<script>let token = 2</script>")
    assert await here.sync(source) == {"created": 1, "unchanged": 1, "complete": True}
    assert await here.answers("邮费由商城承担")
    web.put("/old", "")
    assert (await here.sync(source))["failed"] == 1
    assert await here.sync(source) == {"failed": 1, "unchanged": 1, "complete": True}
    assert await here.answers("邮费由商城承担")


async def test_a_source_that_is_made_anew_knows_its_documents(web: Site, here: Syncing) -> None:
    source = await here.website(f"{web.url}/")
    await here.sync(source)
    before = {row.id for row in (await here.documents()).values()}
    await here.service.delete_source(TENANT, source.id, expire=True)
    assert await here.documents() == {} and not await here.answers("整机保修三年")
    await here.sync(await here.website(f"{web.url}/"))
    assert {row.id for row in (await here.documents()).values()} == before
    assert await here.answers("整机保修三年")


async def test_a_source_that_is_deleted_meanwhile_is_synced_no_further(web: Site, here: Syncing) -> None:
    source = await here.website(f"{web.url}/")

    class Deleting(Exception):
        pass

    with pytest.raises(Deleting):
        await here.sync(source, stop=(1, Deleting()))
    serve = web.pages["/returns"]
    await here.service.delete_source(TENANT, source.id, expire=False)
    assert serve and await here.service.rows.list_items(TENANT, source.id) == []
    assert len(await here.documents()) == 1


async def test_a_start_that_leads_elsewhere_for_now_ends_nothing(web: Site, here: Syncing) -> None:
    source = await here.website(f"{web.url}/")
    await here.sync(source)
    async with site() as other:
        other.put("/down", "系统维护中")
        web.moved("/", f"{other.url}/down", 302)
        with pytest.raises(FetchUnavailable) as caught:
            await here.sync(source)
        assert caught.value.code == "fetch_redirected_away"
        assert await here.answers("整机保修三年") and not await here.answers("系统维护中")

        other.put("/", '<h1>帮助</h1><a href="/new">新</a>')
        other.put("/new", "<p>新站的运费规则</p>")
        web.moved("/", f"{other.url}/", 301)
        await here.sync(source)
        assert await here.answers("新站的运费规则") and not await here.answers("整机保修三年")
        web.moved("/", f"{other.url}/", 302)  # all that is known is there already
        assert (await here.sync(source))["complete"] is True


async def test_no_redirect_leads_to_what_robots_txt_forbids(web: Site, here: Syncing) -> None:
    web.send("/robots.txt", b"User-agent: *\nDisallow: /private/\n", "text/plain")
    web.put("/private/a", "不许抓取")
    web.moved("/returns", "/private/a")
    source = await here.website(f"{web.url}/")
    assert (await here.sync(source))["failed"] == 1
    web.moved("/", "/private/a")
    with pytest.raises(FetchFailed):
        await here.sync(source)
    assert "/private/a" not in web.paths()


def sitemap(*urls: str) -> bytes:
    return f"<urlset>{''.join(f'<url><loc>{url}</loc></url>' for url in urls)}</urlset>".encode()


async def test_pages_that_do_not_count_do_not_hide_those_that_do(web: Site, here: Syncing) -> None:
    maps = "".join(f"<sitemap><loc>{web.url}/map{number}.xml</loc></sitemap>" for number in range(3))
    web.send("/sitemap.xml", f"<sitemapindex>{maps}</sitemapindex>".encode(), "text/xml")
    web.send("/map0.xml", sitemap(*(f"{web.url}/blog/{number}" for number in range(9))), "text/xml")
    web.send("/map1.xml", sitemap(f"{web.url}/help/1", f"{web.url}/help/2", f"{web.url}/help/3"), "text/xml")
    web.send("/map2.xml", sitemap(f"{web.url}/help/4"), "text/xml")
    for number in range(1, 5):
        web.put(f"/help/{number}", f"<p>第 {number} 篇帮助</p>")
    few = await here.website(f"{web.url}/sitemap.xml", depth=0, prefix="/help/", max_pages=2)
    assert await here.sync(few) == {"created": 2}
    assert "/map2.xml" not in web.paths()
    all_of_it = await here.website(f"{web.url}/sitemap.xml", depth=0, prefix="/help/", max_pages=4)
    assert await here.sync(all_of_it) == {"created": 2, "unchanged": 2, "complete": True}


async def test_sitemaps_that_robots_txt_names_are_read(web: Site, here: Syncing) -> None:
    names = ("map.xml", "/more.xml", "none.xml", "broken.xml", "http://127.0.0.1:1/elsewhere.xml")
    lines = "".join(f"Sitemap: {name if '/' in name else f'{web.url}/{name}'}\n" for name in names)
    web.send("/robots.txt", lines.encode(), "text/plain")
    web.send("/map.xml", sitemap(f"{web.url}/unlinked"), "text/xml")
    web.send("/more.xml", sitemap(f"{web.url}/also"), "text/xml")
    web.send("/broken.xml", b"<p>Not found", "text/xml")
    web.put("/also", "<p>相对地址的站点地图里的一页</p>")
    web.put("/unlinked", "<p>没有链接指向的一页</p>")
    source = await here.website(f"{web.url}/", depth=1)
    assert await here.sync(source) == {"created": 5, "complete": True}
    assert await here.answers("没有链接指向的一页")
    web.put("/map.xml", "", status=503)
    assert await here.sync(source) == {"unchanged": 5}
    web.paths()
    alone = await here.website(f"{web.url}/returns", depth=0)
    await here.sync(alone)
    assert "/map.xml" not in web.paths()


async def test_a_page_of_two_sources_stays_as_long_as_one_has_it(web: Site, here: Syncing) -> None:
    one, other = await here.website(f"{web.url}/"), await here.website(f"{web.url}/returns")
    await here.sync(one)
    assert await here.sync(other) == {"unchanged": 1, "complete": True}
    web.put("/elsewhere", "别处")
    await here.service.change_source(
        TENANT, one.id, {"config": WebsiteConfig(f"{web.url}/elsewhere", prefix="/elsewhere")}
    )
    assert await here.sync(one) == {"created": 1, "expired": 2, "excluded": 1, "complete": True}
    assert await here.answers("七天内可以无理由退货")
    await here.service.change_source(TENANT, one.id, {"config": WebsiteConfig(f"{web.url}/")})
    await here.sync(one)
    await here.service.delete_source(TENANT, other.id, expire=True)
    assert await here.answers("七天内可以无理由退货")
    await here.service.delete_source(TENANT, one.id, expire=True)
    assert await here.documents() == {}


async def test_a_page_that_moves_to_an_address_of_an_earlier_source_is_that_document(web: Site, here: Syncing) -> None:
    web.put("/new", "<p>从前的一页</p>")
    earlier = await here.website(f"{web.url}/new", depth=0)
    await here.sync(earlier)
    await here.service.delete_source(TENANT, earlier.id, expire=True)
    source = await here.website(f"{web.url}/")
    await here.sync(source)
    web.pages["/new"] = web.pages.pop("/returns")
    web.moved("/returns", "/new")
    assert (await here.sync(source))["complete"] is True
    assert await here.answers("七天内可以无理由退货")


async def test_what_is_changed_during_a_sync_counts_for_the_next(web: Site, here: Syncing) -> None:
    source = await here.website(f"{web.url}/", depth=0)
    website, run = here.service._website, WebsiteSync.run

    async def changed(self: WebsiteSync, *arguments: Any, **options: Any) -> bool:
        complete = await run(self, *arguments, **options)
        await here.service.change_source(TENANT, source.id, {"config": WebsiteConfig(f"{web.url}/")})
        return complete

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(website), "run", changed)
        assert await here.sync(source) == {"created": 1}
    assert await here.sync(source) == {"created": 2, "unchanged": 1, "complete": True}
