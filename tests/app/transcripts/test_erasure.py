from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.chat.turn_events import KIND, build_turn_events
from app.conversations.questions import hash_question
from app.db import wal
from app.db.engine import Database
from app.db.outbox import Outbox
from app.db.tables import OutboxEvent
from app.gaps import repository_unanswered as gaps
from app.gaps.tables import KnowledgeGap
from app.transcripts.repository import TranscriptRepository
from app.turns.types import NewTurn
from app.webhooks.events import KIND as WEBHOOK
from app.webhooks.events import emit_event
from app.webhooks.repository import Subscription, WebhookRepository, create_deliveries
from app.webhooks.tables import WebhookDelivery
from app.wiring.erasure import forget_conversations
from app.wiring.turns import build_turn_log
from tests.app.conversations.turns import MOMENT, turn

QUESTION = "陀螺仪怎么校准"


def gap(number: int, session: str, question: str = QUESTION, tenant: str = "t") -> NewTurn:
    """A turn that the knowledge base did not answer."""
    response = b'{"data": {"agent": "knowledge", "degraded": []}}'
    fields: dict[str, Any] = {"outcome": "no_evidence", "agent": "knowledge", "response": response}
    return turn(number, session, tenant, question=question, standalone=question, **fields)


async def keep(database: Database, *turns: NewTurn) -> None:
    log = build_turn_log(database, build_turn_events)
    for item in turns:
        assert await log.append_turn(item)
    await log.close()


async def settle(database: Database) -> None:
    outbox = Outbox(database, {KIND: (gaps.count_questions,), WEBHOOK: (create_deliveries,)})
    while await outbox.settle_due():
        pass


async def subscribe(database: Database, tenant: str = "t") -> None:
    events = ["gap.detected", "handoff.queued", "ticket.created"]
    hook = Subscription("h", "https://example.com", "s" * 16, events, "", enabled=True, created_at=MOMENT)
    await WebhookRepository(database).add(tenant, hook, most=10)


async def counts(database: Database) -> dict[str, int]:
    async with database.read() as connection:
        rows = await connection.execute(select(KnowledgeGap.question, KnowledgeGap.count))
        return {row.question: row[1] for row in rows}


async def stored(database: Database) -> list[str]:
    """What deliveries and events that wait hold."""
    async with database.read() as connection:
        bodies = list((await connection.execute(select(WebhookDelivery.body))).scalars())
        return bodies + [str(item) for item in (await connection.execute(select(OutboxEvent.payload))).scalars()]


async def test_a_gap_goes_with_the_only_conversation_that_asked(database: Database) -> None:
    await subscribe(database)
    await keep(database, gap(1, "s"), gap(2, "s"), gap(3, "s", "另一个问题"))
    await settle(database)
    assert len(await stored(database)) == 2
    assert await TranscriptRepository(database, forget_conversations).delete("t", "s")
    assert (await counts(database), await stored(database)) == ({}, [])


async def test_a_gap_that_others_asked_about_too_loses_a_count(database: Database) -> None:
    await subscribe(database)
    await keep(database, gap(1, "s"), gap(2, "other"), gap(3, "s"))
    await settle(database)
    await TranscriptRepository(database, forget_conversations).delete("t", "s")
    assert await counts(database) == {QUESTION: 1}
    assert len(await stored(database)) == 1


async def test_nothing_of_it_is_noted_later(database: Database) -> None:
    await subscribe(database)
    await keep(database, gap(1, "other"), gap(2, "s", "另一个问题"), gap(3, "s"))
    await TranscriptRepository(database, forget_conversations).delete("t", "s")  # before anything was settled
    assert not any("另一个问题" in text for text in await stored(database))
    await settle(database)
    assert await counts(database) == {QUESTION: 1}


async def test_events_about_it_go_and_those_of_others_stay(database: Database) -> None:
    await subscribe(database)
    await keep(database, turn(1, "s"), turn(2, "other"))
    told = [{"session_id": name, "card": {"summary": f"摘要 {name}"}} for name in ("s", "other")]
    for item in told:
        await database.transact(lambda connection, it=item: emit_event(connection, "t", "handoff.queued", it))  # type: ignore[misc]
    await settle(database)
    for item in told:  # these wait
        await database.transact(lambda connection, it=item: emit_event(connection, "t", "ticket.created", it))  # type: ignore[misc]
    assert len(await stored(database)) == 4
    await TranscriptRepository(database, forget_conversations).delete("t", "s")
    left = await stored(database)
    assert len(left) == 2
    assert all("摘要 other" in text for text in left)


async def test_no_other_tenant_loses_anything(database: Database) -> None:
    for tenant in ("t", "u"):
        await subscribe(database, tenant)
    await keep(database, gap(1, "s"), gap(2, "s", tenant="u"))
    about = {"session_id": "s", "card": {}}
    for tenant in ("t", "u"):
        await database.transact(lambda connection, to=tenant: emit_event(connection, to, "handoff.queued", about))  # type: ignore[misc]
    await settle(database)
    await TranscriptRepository(database, forget_conversations).delete("t", "s")
    async with database.read() as connection:
        owners = (await connection.execute(select(WebhookDelivery.tenant_id))).scalars().all()
        gaps_left = (await connection.execute(select(KnowledgeGap.tenant_id, KnowledgeGap.question_hash))).all()
    assert owners == ["u", "u"]
    assert [tuple(row) for row in gaps_left] == [("u", hash_question(QUESTION))]


def in_files(database: Database, words: str) -> list[str]:
    """Which of SQLite's files still hold them, on any page."""
    main = Path(database.engine.url.database or "")
    return [path.name for path in sorted(main.parent.glob(f"{main.name}*")) if words.encode() in path.read_bytes()]


@pytest.mark.parametrize("template", ["sqlite"], indirect=True)
async def test_erased_words_are_on_no_page_of_any_file(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wal, "RETRY_SECONDS", 0.0)
    await keep(database, gap(1, "s"), gap(2, "other", "另一个问题"))
    await settle(database)
    assert in_files(database, QUESTION)
    transcripts = TranscriptRepository(database, forget_conversations)
    async with database.read() as connection:  # a reader who was there before holds on to the log
        await connection.execute(select(KnowledgeGap.question))
        await transcripts.delete("t", "s")
        assert in_files(database, QUESTION)
    await keep(database, gap(3, "other", "再一个问题"))  # the next write tries again
    assert in_files(database, QUESTION) == []
    await transcripts.delete("t", "other")
    assert in_files(database, "另一个问题") == []
