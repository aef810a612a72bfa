"""The document says what webhooks are sent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from agents.ticketing.types import NewTicket, TicketOwner, TicketState
from app.chat.turn_events import build_turn_events
from app.db.engine import Database
from app.db.migrate import upgrade_schema
from app.db.tables import OutboxEvent
from app.desk.types import Actor
from app.openapi.webhook_events import DATA, name_of
from app.request_ids import set_request_id
from app.settings import Settings
from app.tickets.repository import TicketRepository
from app.tickets.service import TicketService
from app.tickets.sla import build_service_levels
from app.transcripts.repository import TranscriptRepository
from app.webhooks.events import KIND, WebhookEvent
from app.webhooks.repository import Subscription, WebhookRepository
from app.wiring.erasure import forget_conversations
from app.wiring.turns import build_turn_log
from tests.app.conversations.turns import MOMENT, turn
from tests.app.desk.building import desk_over, key
from tests.app.openapi.document import document, problems

RESPONSE = b'{"data": {"agent": "knowledge", "sources": []}}'


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(f"sqlite+aiosqlite:///{(tmp_path / 'test.sqlite3').as_posix()}")
    await upgrade_schema(database)
    yield database
    await database.close()


def test_every_event_is_told_with_an_example_that_is_as_its_schema_says() -> None:
    told = document()["webhooks"]
    assert told.keys() == set(WebhookEvent) == DATA.keys()
    for event, operations in told.items():
        content = operations["post"]["requestBody"]["content"]["application/json"]
        assert problems(content["schema"], content["example"]) == [], event


def test_the_names_of_events_are_an_enum_wherever_one_stands() -> None:
    schemas = document()["components"]["schemas"]
    assert set(schemas["WebhookEvent"]["enum"]) == set(WebhookEvent)
    for model in ("WebhookIn", "WebhookOut"):
        assert schemas[model]["properties"]["events"]["items"]["$ref"].endswith("/WebhookEvent")


async def subscribe(database: Database, tenant: str, events: list[str]) -> None:
    hook = Subscription("h", "https://example.com", "s" * 16, events, "", enabled=True, created_at=MOMENT)
    await WebhookRepository(database).add(tenant, hook, most=10)


async def happened(database: Database) -> list[dict[str, Any]]:
    """What webhooks are to be told, in order."""
    async with database.read() as connection:
        query = select(OutboxEvent.payload).where(OutboxEvent.kind == KIND).order_by(OutboxEvent.due_at, OutboxEvent.id)
        return list((await connection.execute(query)).scalars())


async def test_what_happens_is_told_as_documented_with_the_request_that_caused_it(database: Database) -> None:
    await subscribe(database, "t", [*WebhookEvent])
    desk = desk_over(database)
    log = build_turn_log(database, build_turn_events)
    await log.append_turn(turn(1, trace_id="asked", agent="knowledge", response=RESPONSE))
    await TranscriptRepository(database, forget_conversations).rate(
        "t", "s", "m1", "down", "我的电话 13800138000 没人接"
    )
    with set_request_id("desk"):
        await desk.service.request_person(key(), user_id="u", channel="web")
        await desk.service.accept_session(key(), "amy")
        await desk.service.send_message(key(), "您好", client_id="c1")
        await desk.service.send_message(key(), "您好", client_id="c1")
        await desk.service.resolve(key())
        await desk.service.request_person(key())
        await desk.service.leave_queue(key())
        await desk.service.request_person(key())
        await desk.service.close(key(), Actor.CUSTOMER)
    tickets = TicketService(TicketRepository(database), build_service_levels(Settings(_env_file=None)))
    opened, _ = await tickets.create_ticket("t", TicketOwner("s", "u"), NewTicket("空调不制冷", ""), "amy")
    await tickets.move_ticket("t", opened.number, TicketState.IN_PROGRESS, "amy", "回电 13800138000")

    told = await happened(database)
    faults = [problems({"$ref": f"#/components/schemas/{name_of(WebhookEvent(item['event']))}"}, item) for item in told]
    assert faults == [[]] * len(told)
    own = [item for item in told if not item["data"].get("number")]
    assert sorted(item["event"] for item in own) == sorted(
        ["message.customer", "message.bot", "feedback.given", "message.staff", "handoff.accepted", "handoff.resolved"]
        + ["handoff.queued"] * 3
        + ["handoff.left", "handoff.closed"]
    )
    assert {item["request_id"] for item in own} == {"asked", "desk", ""}
    of = {item["event"]: item for item in told}
    assert of["message.customer"]["request_id"] == "asked" and of["message.customer"]["data"]["text"] == "问题1"
    assert of["message.staff"]["data"] | {"created_at": ""} == {
        "session_id": "s",
        "user_id": "u",
        "verified": False,
        "channel": "web",
        "seq": 3,
        "agent_id": "amy",
        "text": "您好",
        "created_at": "",
    }
    assert of["ticket.updated"]["data"]["before"] == "open"
    assert of["ticket.updated"]["data"]["state"] == "in_progress"
    assert "13800138000" not in str(told)


async def test_messages_that_nobody_is_told_of_are_not_written(database: Database) -> None:
    await subscribe(database, "t", ["ticket.created"])
    await subscribe(database, "other", [*WebhookEvent])
    await build_turn_log(database, build_turn_events).append_turn(turn(1))
    assert await happened(database) == []


async def test_what_is_deleted_is_not_told_later(database: Database) -> None:
    await subscribe(database, "t", [*WebhookEvent])
    await build_turn_log(database, build_turn_events).append_turn(turn(1))
    assert len(await happened(database)) == 2
    assert await TranscriptRepository(database, forget_conversations).delete("t", "s")
    assert await happened(database) == []
