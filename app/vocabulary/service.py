"""The words of a tenant's own: what changes them is one transaction, and searches know them without a restart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.db.base import now
from app.db.engine import Database
from app.errors import NotFound
from app.ids import create_id
from app.vocabulary import repository
from app.vocabulary.rules import CurrentEntries, build_key
from app.vocabulary.types import PutReport, Refusal, StoredEntry
from knowledge.vocabulary import VocabularyEntry, VocabularyKind

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.documents.repository_tokens import TokenRepository
    from app.index_follower import Follower


class VocabularyService:
    """wait_seconds: how long a change waits until searches know it."""

    def __init__(self, database: Database, changes: TokenRepository, follower: Follower, wait_seconds: float) -> None:
        self._database = database
        self._changes = changes
        self._follower = follower
        self._wait_seconds = wait_seconds

    async def load_page(
        self, tenant: str, text: str = "", kind: VocabularyKind | None = None, limit: int = 50, offset: int = 0
    ) -> tuple[list[StoredEntry], int]:
        """Entries that hold a text, by their terms, and how many there are."""
        return await self._database.run_in_reader(repository.load_page, tenant, text, kind, limit, offset)

    async def count_kinds(self, tenant: str) -> dict[str, int]:
        """Counts the entries of each kind."""
        return await self._database.run_in_reader(repository.count_kinds, tenant)

    async def list_all(self, tenant: str) -> list[StoredEntry]:
        """Lists every entry, by its term."""
        return await self._database.run_in_reader(repository.load_current, tenant)

    async def put(self, tenant: str, entries: Sequence[VocabularyEntry]) -> PutReport:
        """Takes entries in, each in the place of one of its kind and term; what cannot be taken stops no other.

        Where none changes anything, nothing is written.
        """
        judged = _JudgedEntries(await self.list_all(tenant), entries)
        if not judged.changed:
            return PutReport(judged.results, 0)

        def write(connection: Connection, version: int) -> _JudgedEntries:
            judged = _JudgedEntries(repository.load_current(connection, tenant), entries)
            repository.end(connection, tenant, judged.replaced, version, now())
            repository.add(connection, tenant, judged.changed, version)
            return judged

        revision, judged = await self._changes.change_vocabulary(tenant, write)
        return PutReport(judged.results, revision)

    async def drop(self, tenant: str, entry_id: str) -> int:
        """Takes an entry out; returns the revision that searches have to reach. Raises NotFound."""

        def write(connection: Connection, version: int) -> None:
            if all(stored.id != entry_id for stored in repository.load_current(connection, tenant)):
                raise NotFound("词表里没有这一条，可能已被删除。", code="vocabulary_entry_not_found", id=entry_id)
            repository.end(connection, tenant, [entry_id], version, now())

        revision, _ = await self._changes.change_vocabulary(tenant, write)
        return revision

    async def wait_until_known(self, tenant: str, revision: int) -> bool:
        """Whether searches know what a change made, within the time that one waits for it."""
        return revision == 0 or await self._follower.wait_for_revision(tenant, revision, self._wait_seconds)


class _JudgedEntries:
    """Entries beside those that are there: which are taken, and which of the old ones end."""

    def __init__(self, there: Sequence[StoredEntry], entries: Sequence[VocabularyEntry]) -> None:
        known = {build_key(stored.entry): stored for stored in there}
        standing = CurrentEntries(stored.entry for stored in there)
        results: list[StoredEntry | Refusal] = []
        moment = now()
        for entry in entries:
            refusal = standing.admit_entry(entry)
            before = known.get(build_key(entry))
            if refusal is None and (before is None or before.entry != entry):
                known[build_key(entry)] = before = StoredEntry(create_id(), entry, moment)
            results.append(refusal or before)  # type: ignore[arg-type]  # what is not refused is known by now
        self.results = tuple(results)
        ids = {stored.id for stored in there}
        self.changed = [stored for stored in known.values() if stored.id not in ids]
        kept = {stored.id for stored in known.values()}
        self.replaced = sorted(ids - kept)
