"""A website, followed from a page or a sitemap: politely, within its host; an outage is never taken for an end."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from protego import Protego

from app.documents.file_names import build_path, choose_suffix
from app.errors import FetchFailed, FetchUnavailable, Forbidden
from app.jobs.types import JobContext
from app.net.fetcher import AGENT, Fetched, Fetcher
from app.net.pace import HostPace
from app.sources.addresses import Site, join_url
from app.sources.document_keeper import DocumentKeeper
from app.sources.robots import compute_pause, read_robots
from app.sources.sitemaps import MAX_BYTES, MAX_SITEMAPS, Sitemap, is_sitemap, read_sitemap
from app.sources.types import FoundContent, ItemState, SourceItem, WebsiteConfig
from knowledge.errors import InvalidDocument
from knowledge.ingest import Ingestor
from knowledge.lazy import LazyModule
from knowledge.parsing.links import PageLinks

if TYPE_CHECKING:
    import httpx
else:
    httpx = LazyModule("httpx")

# So many pages on end that cannot be had, and the site is given up for now.
MAX_OUTAGES = 5
# Bytes, as RFC 9309 asks for at least.
_MAX_ROBOTS = 512 * 1024
_CANONICAL = "canonical"
# States of items that are looked at again once all others were: what links to them may not have changed.
_LAST = (ItemState.GONE, ItemState.EXCLUDED, ItemState.FAILED)


@dataclass(frozen=True, slots=True)
class WebsiteSync:
    """Shared by all runs of this process."""

    fetcher: Fetcher
    pace: HostPace
    ingestor: Ingestor

    async def run(self, config: WebsiteConfig, keeper: DocumentKeeper, context: JobContext, *, trusting: bool) -> bool:
        """Takes in what changed, lets expire what is gone; True: no page was left out for the limit of pages.

        trusting: all that pages link to is known, of those that did not change since.

        Raises FetchFailed, FetchUnavailable, Forbidden where the site cannot be had at all, Unavailable.
        """
        crawl = _Crawl(self, config, keeper, context, trusting)
        await crawl.begin()
        return await crawl.follow()


class _Crawl:
    """One sync. `waiting`: pages to look at, with their distance from the start; `last`: those that come after them."""

    def __init__(
        self, parts: WebsiteSync, config: WebsiteConfig, keeper: DocumentKeeper, context: JobContext, trusting: bool
    ) -> None:
        self._parts, self._config, self._keeper, self._context = parts, config, keeper, context
        self._trusting = trusting
        self._site = Site(httpx.URL(config.url), config.prefix)
        self._robots = Protego.parse("")
        self._between = 0.0
        self._waiting: deque[tuple[str, int]] = deque()
        self._last: deque[tuple[str, int]] = deque()
        self._met: set[str] = set()
        self._looked: set[str] = set()
        self._aliases = {item.locator for item in keeper.items.values() if item.reason == _CANONICAL}
        self._outages = 0
        self._sitemaps = 0
        self._cut = False

    async def begin(self) -> None:
        """Reads robots.txt and the start, which may be a sitemap."""
        await self._read_robots()
        start = await self._start(self._config.url)
        if not self._site.is_on_host(start.url):  # the site lives under another name, as with www.
            await self._move_start(start)
        listed = is_sitemap(start.content)
        if not listed:
            page = self._site.normalize_page(str(start.url))
            if page is None:
                raise FetchFailed("起始页不在“路径前缀”之下", code="start_out_of_scope")
            self._add_page(page, 0)
        for item in self._keeper.items.values():
            if item.locator not in self._met:
                queue = self._last if item.state in _LAST else self._waiting
                queue.append((item.locator, item.depth))
        if listed:
            await self._add_sitemap(await asyncio.to_thread(read_sitemap, start.content), 0)
        elif self._config.depth:
            await self._add_named_sitemaps()

    async def follow(self) -> bool:
        """Looks at page after page; see `WebsiteSync.run`."""
        visited = 0
        while (self._waiting or self._last) and visited < self._config.max_pages:
            url, depth = (self._waiting or self._last).popleft()
            if url in self._looked:
                continue
            self._looked.add(url)
            left = len(self._waiting) + len(self._last)
            await self._context.report_progress(visited, min(self._config.max_pages, visited + 1 + left))
            visited += await self._visit_page(self._keeper.items.get(url) or SourceItem(url, depth=depth), depth)
        behind = [url for url, _ in self._last if self._has_failed(url)]
        return not self._cut and self._looked.issuperset([*(url for url, _ in self._waiting), *behind])

    def _has_failed(self, url: str) -> bool:
        """Whether a page never could be read."""
        known = self._keeper.items.get(url)
        return known is not None and known.state is ItemState.FAILED

    async def _visit_page(self, item: SourceItem, depth: int) -> bool:
        """Whether the site was asked."""
        if self._site.normalize_page(item.locator) != item.locator:
            await self._keeper.retire_item(item, ItemState.EXCLUDED, "out_of_scope")
            return False
        if not self._is_allowed(httpx.URL(item.locator)):
            if item.state is ItemState.CURRENT:  # that nobody may look at it says nothing of what it was
                await self._keeper.record_failure(item, _build_disallowed())
            else:
                await self._keeper.retire_item(item, ItemState.EXCLUDED, "robots_disallowed")
            return False
        try:
            fetched = await self._fetch_page(item)
            self._outages = 0
        except FetchUnavailable as error:
            self._outages += 1
            await self._keeper.record_failure(item, error)
            if self._outages >= MAX_OUTAGES:
                raise
        except (FetchFailed, Forbidden) as error:
            await self._keeper.record_failure(item, error)
        else:
            await self._handle_answer(item, fetched, depth)
        return True

    async def _handle_answer(self, item: SourceItem, fetched: Fetched, depth: int) -> None:
        keeper = self._keeper
        if fetched.redirected and (target := self._site.normalize_page(str(fetched.url))) != item.locator:
            await self._handle_redirect(item, fetched, target, depth)
        elif fetched.is_gone:
            await keeper.retire_item(item, ItemState.GONE, f"HTTP {fetched.status}")
        elif fetched.status == httpx.codes.NOT_MODIFIED:
            await keeper.record_unchanged(item)
        elif fetched.status != httpx.codes.OK:
            await keeper.record_failure(item, _build_status_error(fetched.status))
        elif (suffix := choose_suffix(fetched.url, fetched.media_type)) is None:
            await self._handle_unsupported(item, fetched.media_type)
        elif suffix != ".html" or await self._read_page(item, fetched, depth):
            path = build_path(httpx.URL(item.locator), suffix)
            content = fetched.text if suffix == ".html" else fetched.content
            await keeper.keep_item(item, FoundContent(path, content, item.locator, fetched.etag, fetched.last_modified))

    async def _handle_unsupported(self, item: SourceItem, media_type: str) -> None:
        """Handles a page of a type that is not read, a picture, say. If it was a document before, something
        is wrong.
        """
        if item.state is ItemState.CURRENT:
            await self._keeper.record_failure(item, FetchFailed(f"类型变成了 {media_type[:60]}", code="fetch_type"))
        else:
            await self._keeper.retire_item(item, ItemState.EXCLUDED, f"type {media_type[:60]}")

    async def _handle_redirect(self, item: SourceItem, fetched: Fetched, target: str | None, depth: int) -> None:
        """Handles a redirect: a permanent one makes it another page's address; a temporary one, say to a notice of
        maintenance, changes nothing.
        """
        if target is not None:
            self._add_page(target, depth)
        if item.state is ItemState.CURRENT and not fetched.permanent:
            error = FetchUnavailable(f"暂时转到了 {fetched.url}"[:300], code="fetch_redirected_away")
            await self._keeper.record_failure(item, error)
        else:
            await self._keeper.retire_item(item, ItemState.EXCLUDED, "redirected")

    async def _read_page(self, item: SourceItem, fetched: Fetched, depth: int) -> bool:
        """Whether a page wants to be a document; follows its links."""
        name = build_path(httpx.URL(item.locator), ".html").rpartition("/")[2]
        try:
            page = await self._parts.ingestor.read_links(self._keeper.tenant, name, fetched.text)
        except InvalidDocument as error:
            await self._keeper.record_failure(item, error)
            return False
        said = {word.strip() for word in fetched.robots.replace(":", ",").split(",")}
        base = join_url(item.locator, page.base) if page.base else item.locator
        if page.follow and not said & {"nofollow", "none"} and depth < self._config.depth:
            await self._add_pages(page.links, depth + 1, base)
        if (canonical := self._find_canonical(page, item.locator, base)) is not None:
            self._aliases.add(item.locator)
            self._add_page(canonical, depth)
            await self._keeper.retire_item(item, ItemState.EXCLUDED, _CANONICAL)
        elif not page.index or said & {"noindex", "none"}:
            await self._keeper.retire_item(item, ItemState.EXCLUDED, "noindex")
        else:
            return True
        return False

    def _find_canonical(self, page: PageLinks, url: str, base: str) -> str | None:
        """Another page of the site by which this one wants to be known. Where all pages name the front page, that is a
        mistake of the site; two that name each other are both kept as the first.
        """
        canonical = self._site.normalize_page(page.canonical, base) if page.canonical else None
        if canonical is None or canonical == url or canonical in self._aliases:
            return None
        front = httpx.URL(canonical).path == "/" and httpx.URL(url).path != "/"
        return None if front else canonical

    def _add_page(self, url: str, depth: int) -> None:
        """Adds a page to visit. One that never could be read stays last: a few of them on end would end every sync
        before the others had their turn. url: as `Site.normalize_page` has it.
        """
        if url not in self._met:
            self._met.add(url)
            (self._last if self._has_failed(url) else self._waiting).append((url, depth))

    async def _add_pages(self, links: Sequence[str], depth: int, base: str = "") -> None:
        """Adds pages to visit, in a thread, because a sitemap may have 50,000."""
        site = self._site
        for url in await asyncio.to_thread(lambda: [site.normalize_page(link, base) for link in links]):
            if url is not None:
                self._add_page(url, depth)

    async def _read_robots(self) -> None:
        """Reads what the site allows: everything if it has no such file (RFC 9309, 2.3.1.3); a failed request is an
        outage.
        """
        address = str(self._site.start.copy_with(path="/robots.txt", query=None, fragment=None))
        fetched = await self._parts.fetcher.fetch(address, most=_MAX_ROBOTS)
        text = fetched.content.decode("utf-8-sig", "replace") if fetched.status == httpx.codes.OK else ""
        self._robots = await asyncio.to_thread(read_robots, text)
        self._between = compute_pause(self._robots)

    async def _start(self, url: str) -> Fetched:
        if not self._is_allowed(httpx.URL(url)):
            raise _build_disallowed()
        await self._wait_for_host()
        fetched = await self._parts.fetcher.fetch(
            url, follow=lambda to: not self._site.is_on_host(to) or self._is_allowed(to)
        )
        if fetched.status != httpx.codes.OK:
            raise _build_status_error(fetched.status)
        return fetched

    async def _move_start(self, start: Fetched) -> None:
        """The site is the one that its start leads to. For now alone, as to a notice of maintenance, it is no other
        one: all that is known of it would expire.
        """
        site = Site(start.url, self._config.prefix)
        known = [item.locator for item in self._keeper.items.values() if item.state is ItemState.CURRENT]
        if not start.permanent and not all(site.is_on_host(httpx.URL(locator)) for locator in known):
            raise FetchUnavailable(f"起始页暂时转到了 {start.url}"[:300], code="fetch_redirected_away")
        self._site = site
        await self._read_robots()
        if not self._is_allowed(start.url):
            raise _build_disallowed()

    async def _add_named_sitemaps(self) -> None:
        """Pages of the sitemaps that robots.txt names, as if the start linked to them. They come on top: one that is
        broken stops nothing, one that cannot be had now is looked for again.
        """
        for link in self._robots.sitemaps:
            try:
                await self._add_sitemap(await self._fetch_sitemap(link), 1)
            except FetchUnavailable:
                self._cut = True
            except (FetchFailed, Forbidden):
                continue

    async def _add_sitemap(self, sitemap: Sitemap, depth: int) -> None:
        await self._add_pages(sitemap.pages, depth)
        for link in sitemap.sitemaps:
            await self._add_pages((await self._fetch_sitemap(link)).pages, depth)

    async def _fetch_sitemap(self, link: str) -> Sitemap:
        """Fetches a sitemap of this site; empty if it does not exist, or if it would be one too many."""
        nothing, address = Sitemap((), ()), self._site.normalize_address(link, str(self._site.start))
        if address is None or not self._is_allowed(httpx.URL(address)):
            return nothing
        if self._sitemaps >= MAX_SITEMAPS or len(self._met) > self._config.max_pages:
            self._cut = True
            return nothing
        self._sitemaps += 1
        await self._wait_for_host()
        fetched = await self._parts.fetcher.fetch(address, most=MAX_BYTES, follow=self._can_follow)
        if fetched.status != httpx.codes.OK:
            return nothing
        return await asyncio.to_thread(read_sitemap, fetched.content)

    def _is_allowed(self, url: httpx.URL) -> bool:
        return self._robots.can_fetch(str(url), AGENT)

    def _can_follow(self, url: httpx.URL) -> bool:
        return self._site.is_on_host(url) and self._is_allowed(url)

    async def _fetch_page(self, item: SourceItem) -> Fetched:
        await self._wait_for_host()
        known = self._trusting and item.state is ItemState.CURRENT
        return await self._parts.fetcher.fetch(
            item.locator,
            etag=item.etag if known else "",
            last_modified=item.last_modified if known else "",
            follow=self._can_follow,
            wanted=lambda url, media_type: choose_suffix(url, media_type) is not None,
        )

    async def _wait_for_host(self) -> None:
        own = 60 / self._config.requests_per_minute
        await self._parts.pace.wait_for_turn(self._site.start.host, max(own, self._between))


def _build_status_error(status: int) -> FetchFailed:
    return FetchFailed(f"对方返回 HTTP {status}", code="fetch_status", status=status)


def _build_disallowed() -> FetchFailed:
    return FetchFailed("网站的 robots.txt 不允许抓取", code="robots_disallowed")
