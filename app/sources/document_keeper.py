"""Pages and files as documents: a new one, a new version, nothing, or one that expires."""

from __future__ import annotations

import asyncio
import hashlib
import posixpath
from contextlib import suppress
from dataclasses import replace

from app.db.base import now
from app.documents.ingestion import IngestionService
from app.documents.paths import parse_filing
from app.documents.types import Change, FileOutcome, Incoming, Labels
from app.errors import Conflict, NotFound, describe
from app.sources.repository import SourceRepository
from app.sources.types import (
    FolderConfig,
    FoundContent,
    ItemState,
    SourceItem,
    SyncCounts,
    WatchedSource,
    WebsiteConfig,
    hash_locator,
)
from knowledge.errors import InvalidDocument, Unavailable
from knowledge.ingest import Ingestor, hash_content


class SourceDeleted(Exception):
    """The source was deleted while it was synced: what follows would be in vain."""


class DocumentKeeper:
    """Of one source during one sync. items: those that are known, by their locators; changed as the sync goes on."""

    def __init__(
        self,
        tenant: str,
        source: WatchedSource,
        items: dict[str, SourceItem],
        store: SourceRepository,
        ingestion: IngestionService,
        ingestor: Ingestor,
    ) -> None:
        self.source, self.items, self.counts = source, items, SyncCounts()
        # From which on searches know all that was taken in.
        self.revision = 0
        self.tenant = tenant
        self._store = store
        self._ingestion = ingestion
        self._ingestor = ingestor

    async def keep_item(self, item: SourceItem, found: FoundContent) -> None:
        """Takes in what was found. Raises Unavailable where nothing can be taken in now."""
        digest = await asyncio.to_thread(hash_content, found.content)
        item = replace(item, signature=found.signature, etag=found.etag, last_modified=found.last_modified)
        current = item.state is ItemState.CURRENT
        if current and item.content_hash == digest:
            await self.record_unchanged(item)
            return
        try:
            text = await self._hash_text(found, digest)
        except InvalidDocument as error:
            await self.record_failure(item, error)
            return
        same, item = current and item.text_hash == text, replace(item, content_hash=digest, text_hash=text)
        if same:
            await self.record_unchanged(item)
        elif not item.document_id and (left := self._find_moved(text)) is not None:
            await self._follow_move(item, left, found)
        else:
            await self._ingest_item(item, found)

    async def record_unchanged(self, item: SourceItem) -> None:
        """Records that an item was looked at and is as it was, so that an earlier error of it is over."""
        self.counts.unchanged += 1
        await self._save(replace(item, error_code="", error=""))

    async def retire_item(self, item: SourceItem, state: ItemState, reason: str) -> None:
        """Takes an item out of answers: its document expires, and stays to be looked at.

        So do copies of a page that is gone which were imported by its URL. A document that another source has too is
        left to that source.
        """
        if item.state is ItemState.CURRENT and item.document_id:
            if await self._store.is_held_elsewhere(self.tenant, self.source.id, item.document_id):
                item = replace(item, document_id="")
                self.counts.excluded += 1
            else:
                with suppress(NotFound):  # somebody deleted it, which is more than that
                    await self._ingestion.change_document(self.tenant, item.document_id, {"valid_until": now()})
                self.counts.expired += 1
        elif state is ItemState.EXCLUDED:
            self.counts.excluded += 1
        if state is ItemState.GONE and isinstance(self.source.config, WebsiteConfig):
            self.counts.expired += len(await self._ingestion.expire_copies(self.tenant, item.locator))
        changed = now() if state is not item.state else item.changed_at
        nothing = replace(item, etag="", last_modified="", signature="", error_code="", error="")
        await self._save(replace(nothing, state=state, reason=reason, changed_at=changed))

    async def wait(self, item: SourceItem) -> None:
        """Leaves an item as it is known, because its file is being written at the moment."""
        self.counts.waiting += 1
        state = ItemState.WAITING if item.state is ItemState.FAILED else item.state
        await self._save(replace(item, state=state))

    async def record_failure(self, item: SourceItem, error: Exception) -> None:
        """Records that an item could not be looked at. What is known of it stays: an outage is no deletion."""
        self.counts.failed += 1
        described = describe(error)
        known = self.items.get(item.locator) or SourceItem(item.locator, depth=item.depth)
        await self._save(replace(known, error_code=described.code[:64], error=described.message[:500]))

    async def _ingest_item(self, item: SourceItem, found: FoundContent) -> None:
        known = bool(item.document_id)
        returns = known and item.state is not ItemState.CURRENT
        if known:
            await self._move_document(item, found)
        report = await self._ingestion.ingest_file(self.tenant, self._build_incoming(item, found, known, returns))
        self.revision = max(self.revision, report.revision)
        if isinstance(report.error, Unavailable):
            raise report.error
        if report.error is not None:
            await self.record_failure(item, report.error)
        elif report.same_as is not None:
            self.counts.unchanged += 1
            same = replace(item, state=ItemState.DUPLICATE, document_id="", reason=report.same_as)
            await self._save(replace(same, error_code="", error="", etag="", last_modified="", signature=""))
        else:
            again = not known and report.outcome is not FileOutcome.CREATED
            if returns or again:  # it expired when it was gone before, or when an earlier source was deleted
                await self._ingestion.change_document(self.tenant, report.document_id, {"valid_until": None})
            self._count(report.outcome, returns=returns)
            await self._mark_current(item, report.document_id)

    async def _move_document(self, item: SourceItem, found: FoundContent) -> None:
        """Its document is the one that it had, also where the folder of the source is another one by now."""
        place = parse_filing(self._build_path(found), build_external_id(self.source, item))
        with suppress(NotFound, Conflict):  # deleted; or another source was there before, and has it from now on
            await self._ingestion.change_document(self.tenant, item.document_id, {}, place)

    def _build_incoming(self, item: SourceItem, found: FoundContent, known: bool, returns: bool) -> Incoming:
        reason = "重新出现" if returns else "内容有变化" if known else "首次导入"
        change = Change(self.source.author[:100], f"{reason}：{item.locator}"[:500])
        labels = Labels(self.source.category or None, self.source.tags or None, found.url or None)
        named = build_external_id(self.source, item)
        return Incoming(self._build_path(found), found.content, named, labels, change=change)

    def _count(self, outcome: FileOutcome, *, returns: bool) -> None:
        if outcome is FileOutcome.CREATED or returns:
            self.counts.created += 1
        elif outcome is FileOutcome.UPDATED:
            self.counts.updated += 1
        else:
            self.counts.unchanged += 1

    def _find_moved(self, text: str) -> SourceItem | None:
        """Finds an item with the same text that is gone from where it was."""
        left = (item for item in self.items.values() if item.state in (ItemState.GONE, ItemState.EXCLUDED))
        return next((item for item in left if item.document_id and item.text_hash == text), None)

    async def _follow_move(self, item: SourceItem, left: SourceItem, found: FoundContent) -> None:
        """Moves a document, with all its versions, to the new address of its page."""
        place = parse_filing(self._build_path(found), build_external_id(self.source, item))
        labels = {"valid_until": None} | ({"url": found.url} if found.url else {})
        await self._save(replace(left, document_id=""))
        try:
            await self._ingestion.change_document(self.tenant, left.document_id, labels, place)
        except (NotFound, Conflict):  # somebody deleted it; or a document of an earlier source has that address
            await self._ingest_item(item, found)
        else:
            self.counts.updated += 1
            await self._mark_current(item, left.document_id)

    async def _mark_current(self, item: SourceItem, document_id: str) -> None:
        moved = replace(item, state=ItemState.CURRENT, document_id=document_id, reason="", changed_at=now())
        await self._save(replace(moved, error_code="", error=""))

    async def _save(self, item: SourceItem) -> None:
        item = replace(item, seen_at=now())
        self.items[item.locator] = item
        if not await self._store.save(self.tenant, self.source.id, item):
            raise SourceDeleted(self.source.id)

    async def _hash_text(self, found: FoundContent, digest: str) -> str:
        """Pages differ in tokens and dates of which nothing is read; files are their bytes."""
        if not found.path.endswith(".html"):
            return digest
        name = found.path.rpartition("/")[2]
        paragraphs = await self._ingestor.list_paragraphs(self.tenant, name, found.content)
        return hashlib.sha256("\0".join(paragraphs).encode()).hexdigest()

    def _build_path(self, found: FoundContent) -> str:
        return f"{self.source.folder}/{found.path}" if self.source.folder else found.path


def build_external_id(source: WatchedSource, item: SourceItem) -> str:
    """Returns the external id of an item's document, the same one if the source is made anew.

    A file is known within its folder, since another folder may have one of the same name.
    """
    config, key = source.config, item.key
    if isinstance(config, FolderConfig):
        key = hash_locator(f"{posixpath.normpath(config.path)}/{item.locator}")
    return f"{source.kind}:{key[:40]}"
