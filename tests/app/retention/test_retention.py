from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, insert, select, update

from app.auth.principal import Role
from app.conversations.repository import append_turns
from app.conversations.tables import Conversation, StoredTurn
from app.db.base import Base, now
from app.db.engine import Database
from app.db.leader import try_lead
from app.db.tables import OutboxEvent
from app.desk.tables import DeskSessionRow
from app.desk.types import State
from app.documents.repository_knowledge import KnowledgeRepository
from app.documents.tables import Content, DocumentVersion
from app.embeddings.repository_local import SqliteEmbeddingCache
from app.gaps.tables import KnowledgeGap
from app.history.repository_texts import purge
from app.jobs.tables import JobRunRow
from app.keys.repository import KeyRepository
from app.keys.tables import ApiKey
from app.performance.tables import UsageCounter
from app.retention.repository import BATCH
from app.retention.repository_growing_tables import KINDS, STAYING, list_growing_tables
from app.retention.service import EMBEDDINGS, Retention
from app.settings import Settings
from app.tickets.tables import Ticket, TicketEvent
from app.webhooks.tables import Webhook, WebhookDelivery
from app.wiring.erasure import forget_conversations
from app.wiring.tables import METADATA
from tests.app.conversations.turns import turn
from tests.app.documents.builders import prepared

OLD, FRESH = now() - timedelta(days=40), now() - timedelta(days=5)
NUMBERS = count()
KEEP_ALL = dict.fromkeys([*KINDS, EMBEDDINGS], 0)


@pytest.fixture
def cache(tmp_path: Path) -> Iterable[SqliteEmbeddingCache]:
    cache = SqliteEmbeddingCache(tmp_path / "embeddings.sqlite3")
    yield cache
    cache.close()


def retention(database: Database, cache: SqliteEmbeddingCache, **days: int) -> Retention:
    return Retention(database, KEEP_ALL | days, cache, forget_conversations, purge)


async def add(database: Database, table: type[Base], **values: Any) -> None:
    """A row; what is not given is empty, or of the moment."""
    empty: dict[type, Any] = {int: 0, float: 0.0, bool: False, dict: {}, object: now(), str: "", list: []}
    columns = table.__table__.columns
    row = {item.name: None if item.nullable else empty[item.type.python_type] for item in columns}
    async with database.write() as connection:
        await connection.execute(insert(table).values(row | {"tenant_id": "t"} | values))


async def left(database: Database, column: Any) -> set[Any]:
    async with database.read() as connection:
        return set((await connection.execute(select(column))).scalars())


async def converse(database: Database, moment: datetime, *sessions: str, tenant: str = "t") -> None:
    turns = [turn(next(NUMBERS), session, tenant, created_at=moment) for session in sessions]
    await database.transact(lambda connection: append_turns(connection, turns))


def test_every_table_grows_and_is_in_the_registry_or_stays_and_says_why() -> None:
    listed = {item.table.__table__ for item in list_growing_tables(forget_conversations)}
    follows = {  # by foreign keys, from a row that goes by age
        table for table in METADATA.sorted_tables for key in table.foreign_key_constraints if key.ondelete == "CASCADE"
    }
    named = listed | {table.__table__ for table in STAYING}
    assert {table.name for table in METADATA.sorted_tables if table not in named | follows} == set()
    for table in follows - named:
        assert any(key.referred_table in listed | follows for key in table.foreign_key_constraints), table.name
    assert not {table.__table__ for table in STAYING} & listed


def test_every_kind_has_its_setting() -> None:
    days = Settings(_env_file=None).retention_days
    assert days.keys() == KEEP_ALL.keys()
    assert {kind for kind, value in days.items() if value} == {"bin", "deliveries", "jobs", "requests"}


async def test_without_periods_everything_is_kept(database: Database, cache: SqliteEmbeddingCache) -> None:
    await converse(database, OLD, "old")
    assert await retention(database, cache).apply() == []
    assert await left(database, Conversation.session_id) == {"old"}


async def test_conversations_go_by_age_and_by_tenant_with_their_turns(
    database: Database, cache: SqliteEmbeddingCache
) -> None:
    await converse(database, OLD, *(f"old{n}" for n in range(2 * BATCH + 1)))  # more than one transaction
    await converse(database, FRESH, "fresh")
    await converse(database, OLD, "a", tenant="longer")
    await converse(database, FRESH, "b", tenant="shorter")
    job = retention(database, cache, conversations=30)
    await job.repository.set_period("longer", "conversations", 0)
    await job.repository.set_period("shorter", "conversations", 1)
    planned = await job.apply(dry_run=True)
    assert {(item.tenant, item.rows) for item in planned} == {("t", 2 * BATCH + 1), ("shorter", 1)}
    assert await left(database, Conversation.session_id) > {"fresh", "a", "b", "old0"}
    assert await job.apply() == planned
    assert (
        await left(database, Conversation.session_id) == {"fresh", "a"} == await left(database, StoredTurn.session_id)
    )


@pytest.mark.parametrize("state", [State.QUEUED, State.ASSIGNED, State.RESOLVED])
async def test_a_conversation_that_needs_a_person_stays(
    database: Database, cache: SqliteEmbeddingCache, state: State
) -> None:
    await converse(database, OLD, "desk", "ticket", "recent")
    await add(database, DeskSessionRow, session_id="desk", state=state.value, active_at=OLD, card={})
    await add(database, DeskSessionRow, session_id="recent", state="resolved", active_at=FRESH, card={})
    await add(database, Ticket, number="1", session_id="ticket", state="open")
    await retention(database, cache, conversations=30).apply()
    kept = {"ticket", "recent"} | ({"desk"} if state is not State.RESOLVED else set())
    assert await left(database, Conversation.session_id) == kept


async def test_tickets_that_are_done_go_with_their_history(database: Database, cache: SqliteEmbeddingCache) -> None:
    for number, state, moment in (("1", "closed", OLD), ("2", "open", OLD), ("3", "closed", FRESH)):
        await add(database, Ticket, number=number, state=state, updated_at=moment)
        await add(database, TicketEvent, ticket=number, number=1)
    await retention(database, cache, tickets=30).apply()
    assert await left(database, Ticket.number) == {"2", "3"} == await left(database, TicketEvent.ticket)


async def test_gaps_usage_and_deliveries_go_by_age(database: Database, cache: SqliteEmbeddingCache) -> None:
    await add(database, Webhook, id="h", events=[])
    for name, moment in (("old", OLD), ("fresh", FRESH)):
        await add(database, KnowledgeGap, question_hash=name, last_seen=moment)
        await add(database, UsageCounter, day=moment.date().isoformat(), name=name)
        await add(database, WebhookDelivery, id=name, webhook_id="h", event_id=name, updated_at=moment)
    for name, attempts in (("old", 24 * 31), ("fresh", 24 * 29)):
        await add(database, OutboxEvent, id=name, attempts=attempts, payload={})
    removed = await retention(database, cache, gaps=30, usage=30, deliveries=30).apply()
    assert {item.table for item in removed} == {"knowledge_gaps", "usage_counters", "webhook_deliveries", "outbox"}
    for column in (KnowledgeGap.question_hash, UsageCounter.name, WebhookDelivery.id, OutboxEvent.id):
        assert await left(database, column) == {"fresh"}


async def test_old_versions_go_with_their_contents_and_never_the_current_one(
    database: Database, cache: SqliteEmbeddingCache
) -> None:
    knowledge, replaces = KnowledgeRepository(database), None
    versions = [prepared("保修.md", text, version=f"v{text}") for text in ("一年", "两年", "三年")]
    for item in versions:
        await knowledge.commit("t", item, replaces)
        replaces = item.version_id
    async with database.write() as connection:
        first = DocumentVersion.number == 1  # the second, as old, was replaced today
        await connection.execute(update(DocumentVersion).where(DocumentVersion.number < 3).values(created_at=OLD))
        await connection.execute(update(DocumentVersion).where(first).values(archived_at=OLD))
    await retention(database, cache, versions=30).apply()
    assert await left(database, DocumentVersion.id) == {item.version_id for item in versions[1:]}
    assert await left(database, Content.content_hash) == {item.content_hash for item in versions[1:]}


async def test_revoked_keys_go_but_the_last_one_never(database: Database, cache: SqliteEmbeddingCache) -> None:
    keys = KeyRepository(database)
    made = [await keys.create("t", Role.ADMIN, "n", f"digest{n}") for n in range(3)]
    for key in made:
        await keys.revoke_key(key)
    async with database.write() as connection:
        await connection.execute(update(ApiKey).values(revoked_at=OLD))
    before = await keys.load_changed(None)
    assert before is not None
    assert [item.rows for item in await retention(database, cache, keys=30).apply()] == [2]
    after = await keys.load_changed(before.stamp)
    assert after is not None
    assert after.stamp is not None, "without any key loopback would have every role"
    assert await left(database, ApiKey.id) == {made[-1]}


async def test_of_several_servers_one_deletes(database: Database, url: str) -> None:
    other = Database(url)
    async with try_lead(database, 1) as first, try_lead(other, 1) as second:
        assert first
        assert second is (database.engine.dialect.name == "sqlite")
    async with try_lead(other, 1) as again:
        assert again
    await other.close()


async def test_what_fails_is_logged_and_the_next_day_comes(database: Database, cache: SqliteEmbeddingCache) -> None:
    await database.close()
    await asyncio.wait_for(Retention(database, {}, cache, forget_conversations, purge).run(), 60)


async def test_the_standing_names_rows_and_what_is_over(database: Database, cache: SqliteEmbeddingCache) -> None:
    await converse(database, OLD, "old")
    await converse(database, FRESH, "fresh")
    found = {item.table: item for item in await retention(database, cache, conversations=30).load_status()}
    item = found["conversations"]
    assert (item.tenant, item.days, item.rows, item.over, item.oldest) == ("t", 30, 2, 1, OLD)
    assert found[EMBEDDINGS].rows == 0


async def test_a_batch_is_small(database: Database, cache: SqliteEmbeddingCache) -> None:
    await converse(database, OLD, *(f"old{n}" for n in range(BATCH + 1)))
    job = retention(database, cache, conversations=30)
    assert await job.repository.remove(list_growing_tables(forget_conversations)[0], "t", FRESH) == BATCH
    async with database.read() as connection:
        assert (await connection.execute(select(func.count()).select_from(StoredTurn))).scalar_one() == 1


async def test_of_the_runs_of_a_job_the_last_stay(database: Database, cache: SqliteEmbeddingCache) -> None:
    for run, kind, due, moment in (
        ("1 scheduled", "k", OLD, OLD),
        ("2 last scheduled", "k", FRESH, OLD),
        ("3 by hand", "k", None, OLD),
        ("4 last", "k", None, OLD),
        ("0 other", "other", None, OLD),
        ("5 open", "open", None, None),
    ):
        await add(database, JobRunRow, id=run, kind=kind, parameters={}, scheduled=due, finished_at=moment)
    await retention(database, cache, jobs=30).run()
    assert await left(database, JobRunRow.id) == {"2 last scheduled", "4 last", "0 other", "5 open"}
