from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from app.db.base import now
from app.db.engine import Database
from app.jobs.repository import RunRepository
from app.jobs.service import JobService
from app.jobs.types import JobKind
from app.sources.repository import SourceRepository
from app.sources.service import KIND, DueSources
from app.sources.types import FolderConfig, ItemState, NewSource, SourceItem, SourceKind, WebsiteConfig
from app.wiring.sources import SourceSyncParameters

SITE = NewSource(SourceKind.WEBSITE, "站", WebsiteConfig("https://shop.example/", 3), "官网", tags=("甲",))
OTHER = WebsiteConfig("https://shop.example/", 3, prefix="/help")
FOLDER = NewSource(SourceKind.FOLDER, "盘", FolderConfig("/srv/docs"), interval_minutes=0)


async def test_sources_are_kept_as_they_were_said_up_to_a_number(database: Database) -> None:
    rows = SourceRepository(database)
    site, folder = await rows.add("t", SITE, 2), await rows.add("t", FOLDER, 2)
    assert site is not None and folder is not None
    assert (site.config, site.tags, folder.config, folder.next_sync_at) == (SITE.config, ("甲",), FOLDER.config, None)
    assert await rows.add("t", SITE, 2) is None
    assert await rows.add("u", SITE, 1) is not None
    await rows.change_source("t", site.id, {"config": OTHER, "tags": ("乙",)})
    changed = await rows.get("t", site.id)
    assert changed is not None and (changed.config, changed.tags) == (OTHER, ("乙",))
    assert [source.id for source in await rows.list_all("t")] == [folder.id, site.id]
    assert await rows.get("u", site.id) is None


async def test_items_belong_to_their_source(database: Database) -> None:
    rows = SourceRepository(database)
    site = await rows.add("t", SITE, 9)
    assert site is not None
    failed = SourceItem("https://shop.example/a", error_code="fetch_timeout", error="慢", seen_at=now())
    await rows.save("t", site.id, failed)
    await rows.save("t", site.id, SourceItem("https://shop.example/b", ItemState.CURRENT, "d1", depth=1))
    assert await rows.save("t", site.id, replace(failed, state=ItemState.CURRENT, document_id="d2"))
    assert not await rows.save("u", site.id, failed)
    items, total = await rows.load_page("t", site.id, state=None, failing=True, text="/A", offset=0, limit=9)
    assert (total, items[0].document_id, items[0].error) == (1, "d2", "慢")
    assert await rows.count_items("t") == {site.id: {"current": 2}}
    await rows.save("t", site.id, SourceItem("https://shop.example/c", seen_at=now() - timedelta(days=1)))
    await rows.forget_unseen("t", site.id, now() - timedelta(hours=1))
    assert [item.locator[-1] for item in await rows.list_items("t", site.id)] == ["a", "b"]
    other, stranger = await rows.add("t", SITE, 9), await rows.add("u", SITE, 9)
    assert other is not None and stranger is not None
    await rows.save("t", other.id, SourceItem("https://shop.example/a", ItemState.GONE, "d2"))
    await rows.save("u", stranger.id, SourceItem("https://shop.example/a", ItemState.CURRENT, "d2"))
    assert not await rows.is_held_elsewhere("t", site.id, "d2")
    assert await rows.is_held_elsewhere("t", other.id, "d2")
    await rows.delete_source("t", site.id)
    assert await rows.list_items("t", site.id) == []


async def test_what_is_due_is_begun_once_by_all_replicas(database: Database) -> None:
    async def run(context: object) -> dict[str, object]:
        return {}

    rows, runs = SourceRepository(database), RunRepository(database)
    kind = JobKind(KIND, "", run, parameters=SourceSyncParameters)
    jobs = JobService({KIND: kind}, runs, lambda: None)
    site = await rows.add("t", SITE, 9)
    await rows.add("t", FOLDER, 9)
    assert site is not None
    for replica in (DueSources(rows, jobs), DueSources(rows, jobs)):
        await replica.begin_due_syncs()
    begun, total = await jobs.load_page("t", KIND)
    assert (total, begun[0].parameters) == (1, {"source_id": site.id})
    later = await rows.get("t", site.id)
    assert later is not None and later.next_sync_at is not None and later.next_sync_at > now() + timedelta(hours=23)
