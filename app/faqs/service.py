"""Curated answers: what staff publish answers customers from the commit on, and what they take back no longer does."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from app.db.base import now
from app.db.engine import Database
from app.errors import Conflict, NotFound
from app.faqs import repository
from app.faqs.entries import EntryPreparer
from app.faqs.repository import FaqFilters, FaqRepository, WordingTaken
from app.faqs.rules import MAX_ENTRIES, MAX_WORDINGS, check_draft, hash_wording
from app.faqs.types import Faq, FaqDraft, FaqState
from app.ids import create_id
from knowledge.errors import EmbeddingUnavailable
from knowledge.ingest import PreparedDocument

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.documents.repository_entries import EntryRepository
    from app.index_follower import Follower

EVERYTHING = FaqFilters()
# How long a change waits for the index after its commit, see `Faq.ready`.
WAIT_SECONDS = 60.0


class FaqService:
    """Each change is one transaction of entry, search index and `kb_revision`; searches are waited for after it."""

    def __init__(
        self, database: Database, searched: EntryRepository, preparer: EntryPreparer, follower: Follower
    ) -> None:
        self._database = database
        self._searched = searched
        self._preparer = preparer
        self._follower = follower
        self.stored = FaqRepository(database)

    async def load_page(
        self, tenant: str, filters: FaqFilters = EVERYTHING, *, offset: int = 0, limit: int = 20
    ) -> tuple[list[Faq], int]:
        """Returns a page of entries, those changed last first, and their total number."""
        return await self.stored.load_page(tenant, filters, offset, limit)

    async def get(self, tenant: str, faq_id: str) -> Faq:
        """Raises NotFound."""
        found = await self.stored.get(tenant, faq_id)
        if found is None:
            raise _build_not_found(faq_id)
        return found

    async def create(self, tenant: str, entry: FaqDraft, author: str = "", *, id: str = "") -> Faq:
        """Keeps a new entry, published unless it is a draft. id: "" for a new one. Raises InvalidRequest,
        EmbeddingUnavailable, and Conflict where another entry has one of its wordings or its id, or there are too many.
        """
        made = build_faq(check_draft(entry), author, id=id)
        revision = await self.write(tenant, [made], [])
        return await self._wait_for_entry(tenant, made, revision)

    async def change(self, tenant: str, faq_id: str, entry: FaqDraft, author: str = "") -> Faq:
        """Writes an entry anew. Raises NotFound, and as `create`."""
        known = await self.get(tenant, faq_id)
        made = build_faq(check_draft(entry), author, known)
        revision = await self.write(tenant, [], [made])
        return await self._wait_for_entry(tenant, made, revision)

    async def delete(self, tenant: str, faq_id: str) -> bool:
        """Deletes an entry; True once no search finds it. Raises NotFound."""
        async with self._database.write() as connection:
            known = await connection.run_sync(repository.load_states, tenant, [faq_id])
            if not known:
                raise _build_not_found(faq_id)
            await connection.run_sync(repository.drop, tenant, faq_id)
            if known[faq_id] is FaqState.DRAFT:
                return True
            revision = await self._searched.raise_revision(connection, tenant)
            await self._searched.remove(connection, tenant, [faq_id])
        return await self.wait_for_revision(tenant, revision)

    async def write(self, tenant: str, added: Sequence[Faq], changed: Sequence[Faq]) -> int:
        """Entries that were checked, in one transaction; the revision from which on searches know, 0 where there are
        only drafts. Raises Conflict, NotFound, EmbeddingUnavailable; then nothing is written.
        """
        entries = [*added, *changed]
        published = {entry.id: entry.draft for entry in entries if entry.state is FaqState.PUBLISHED}
        documents = await self._prepare_documents(tenant, published)
        wordings = [wording for entry in entries for wording in entry.draft.wordings]
        await asyncio.to_thread(lambda: [hash_wording(wording) for wording in wordings])  # not on the event loop
        try:
            async with self._database.write() as connection:
                known = await connection.run_sync(repository.load_states, tenant, [entry.id for entry in changed])
                gone = [id for id, state in known.items() if state is FaqState.PUBLISHED and id not in published]
                revision = await self._searched.raise_revision(connection, tenant) if published or gone else 0
                await connection.run_sync(_store, tenant, revision, added, changed)
                if gone:
                    await self._searched.remove(connection, tenant, gone)
                if documents:
                    await self._searched.put(connection, tenant, revision, documents)
        except WordingTaken as error:
            raise Conflict("这个问法已经在另一条精选问答里了。", code="wording_taken") from error
        return revision

    async def wait_for_revision(self, tenant: str, revision: int) -> bool:
        """Whether searches know that revision, after waiting for it."""
        return revision == 0 or await self._follower.wait_for_revision(tenant, revision, WAIT_SECONDS)

    async def _wait_for_entry(self, tenant: str, entry: Faq, revision: int) -> Faq:
        return replace(entry, ready=await self.wait_for_revision(tenant, revision))

    async def _prepare_documents(self, tenant: str, entries: Mapping[str, FaqDraft]) -> list[PreparedDocument]:
        documents = await self._preparer.prepare(tenant, entries)
        try:
            await self._preparer.embed(tenant, documents)
        except EmbeddingUnavailable:
            if not await self._follower.is_keywords_only(tenant):
                raise
        return documents


def _store(connection: Connection, tenant: str, revision: int, added: Sequence[Faq], changed: Sequence[Faq]) -> None:
    known = repository.load_states(connection, tenant, [entry.id for entry in changed])
    for entry in changed:
        if entry.id not in known:
            raise _build_not_found(entry.id)
    _free(connection, tenant, [*added, *changed])
    repository.change(connection, tenant, revision, changed)
    repository.add(connection, tenant, revision, added)
    entries, wordings = repository.count(connection, tenant)
    if entries > MAX_ENTRIES or wordings > MAX_WORDINGS:
        message = f"精选问答最多 {MAX_ENTRIES} 条、{MAX_WORDINGS} 种问法。"
        raise Conflict(message, code="too_many_faqs", most=MAX_ENTRIES, most_wordings=MAX_WORDINGS)


def _free(connection: Connection, tenant: str, entries: Sequence[Faq]) -> None:
    """Raises Conflict where a wording belongs to an entry that is not among these."""
    wordings = {hash_wording(wording): wording for entry in entries for wording in entry.draft.wordings}
    own = {entry.id for entry in entries}
    for key, owner in repository.load_owners(connection, tenant, list(wordings)).items():
        if owner not in own:
            message = f"“{wordings[key]}”已经在另一条精选问答里了。"
            raise Conflict(message, code="wording_taken", wording=wordings[key], faq_id=owner)


def build_faq(entry: FaqDraft, author: str, known: Faq | None = None, *, id: str = "") -> Faq:
    """Builds an entry as it is written now. known: the one that it changes, whose hits and age it keeps; id: of a new
    one, "" for any.
    """
    state, moment = FaqState.DRAFT if entry.draft else FaqState.PUBLISHED, now()
    name = known.id if known else id or create_id()
    hits, created_at = (known.hits, known.created_at) if known else (0, moment)
    return Faq(
        id=name,
        question=entry.question,
        answer=entry.answer,
        variants=entry.variants,
        buttons=entry.buttons,
        state=state,
        author=author,
        hits=hits,
        ready=False,
        created_at=created_at,
        updated_at=moment,
    )


def _build_not_found(faq_id: str) -> NotFound:
    return NotFound("没有找到这条精选问答，可能已被删除。", code="faq_not_found", faq_id=faq_id)
