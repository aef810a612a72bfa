"""Replies that staff have ready: shared by all of a tenant, each found by its own shortcut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from app.canned import repository
from app.canned.repository import CannedReply, ShortcutTaken
from app.db.base import now
from app.db.engine import Database
from app.errors import Conflict, NotFound
from app.ids import create_id

if TYPE_CHECKING:
    from sqlalchemy import Connection

# Of one tenant; a page shows and searches all of them at once.
MOST = 500


class CannedReplies:
    """Every change is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_all(self, tenant: str) -> Sequence[CannedReply]:
        """Lists all replies, by their shortcuts."""
        return await self._database.run_in_reader(repository.list_all, tenant)

    async def add(self, tenant: str, shortcut: str, text: str) -> CannedReply:
        """Keeps a new one. Raises Conflict where the shortcut is taken, or there are too many."""
        made = CannedReply(create_id(), shortcut, text, now())

        def work(connection: Connection) -> None:
            if repository.count(connection, tenant) >= MOST:
                raise Conflict(f"快捷回复最多 {MOST} 条。", code="too_many_canned", most=MOST)
            repository.add(connection, tenant, made)

        await self._write_reply(work, made)
        return made

    async def change(self, tenant: str, id: str, shortcut: str, text: str) -> CannedReply:
        """Writes one anew. Raises NotFound, and Conflict where another has the shortcut."""
        made = CannedReply(id, shortcut, text, now())

        def work(connection: Connection) -> None:
            if not repository.change(connection, tenant, made):
                raise _build_not_found(id)

        await self._write_reply(work, made)
        return made

    async def drop(self, tenant: str, id: str) -> None:
        """Deletes one. Raises NotFound."""

        def work(connection: Connection) -> None:
            if not repository.drop(connection, tenant, id):
                raise _build_not_found(id)

        await self._database.transact(work)

    async def _write_reply(self, work: Callable[[Connection], None], reply: CannedReply) -> None:
        try:
            await self._database.transact(work)
        except ShortcutTaken as error:
            message = f"快捷词“{reply.shortcut}”已经有了。"
            raise Conflict(message, code="shortcut_taken", shortcut=reply.shortcut) from error


def _build_not_found(id: str) -> NotFound:
    return NotFound("没有找到这条快捷回复，可能已被删除。", code="canned_not_found", id=id)
