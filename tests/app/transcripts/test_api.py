from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import httpx
import pytest
from fastapi import FastAPI, Request, Response
from sqlalchemy import func, insert, select, update

from agents.types import Outcome
from app.auth.principal import Principal, Role
from app.contacts.repository import ContactRepository
from app.conversations.tables import Conversation, Feedback, StoredTurn
from app.db.engine import Database
from app.db.migrate import upgrade_schema
from app.desk.types import Duty
from app.http.error_handlers import install_error_handlers
from app.transcripts.api import router
from app.transcripts.repository import TranscriptRepository
from app.transcripts.repository_whole import WholeTranscriptRepository
from app.transcripts.severity import SEVERITY, TROUBLES, Trouble
from app.types import SessionKey
from app.wiring.erasure import forget_conversations
from tests.app.desk.building import desk_over
from tests.app.limits.building import limits

PATH = "/api/v1/conversations"
START = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(f"sqlite+aiosqlite:///{(tmp_path / 'test.sqlite3').as_posix()}")
    await upgrade_schema(database)
    for number, (session, user) in enumerate([("first", "amy"), ("second", "bob"), ("third", "amy")]):
        await _converse(database, "t", session, user, START + timedelta(hours=number))
    await _converse(database, "other", "first", "eve", START)
    yield database
    await database.close()


async def carried_out(name: str, request: Request, work: Callable[[], Awaitable[Response]]) -> Response:
    """In place of the audit log, which has tests of its own."""
    return await work()


@pytest.fixture
async def client(database: Database) -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI()
    app.include_router(router)
    app.state.container = SimpleNamespace(
        transcripts=TranscriptRepository(database, forget_conversations),
        contacts=SimpleNamespace(rows=ContactRepository(database)),
        whole_transcripts=WholeTranscriptRepository(database),
        limits=limits(),
        audit=SimpleNamespace(run_and_record=carried_out),
        authenticator=SimpleNamespace(authenticate=AsyncMock(return_value=Principal("t", frozenset(Role)))),
    )
    install_error_handlers(app)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        yield client


async def test_the_list_starts_with_the_last_activity_and_goes_on_page_by_page(client: httpx.AsyncClient) -> None:
    page = (await client.get(PATH, params={"limit": 2})).json()
    assert [item["session_id"] for item in page["conversations"]] == ["third", "second"]
    assert page["conversations"][0]["title"] == page["conversations"][0]["first_question"] == "third 1"
    rest = (await client.get(PATH, params={"limit": 2, "after": page["next"]})).json()
    assert [item["session_id"] for item in rest["conversations"]] == ["first"]
    assert rest["next"] is None


async def test_the_list_narrows_to_one_user(client: httpx.AsyncClient) -> None:
    page = (await client.get(PATH, params={"user_id": "amy"})).json()
    assert [item["session_id"] for item in page["conversations"]] == ["third", "first"]


async def test_the_list_narrows_by_what_was_said_how_it_ended_votes_the_desk_and_time(
    client: httpx.AsyncClient, database: Database
) -> None:
    async def listed(**wanted: Any) -> tuple[list[str], int]:
        page = (await client.get(PATH, params=wanted)).json()
        return [item["session_id"] for item in page["conversations"]], page["total"]

    await client.put(f"{PATH}/first/messages/t-first-2/feedback", json={"rating": "down"})
    await desk_over(database).service.request_person(SessionKey("t", "second"))
    assert await listed(q="SECOND 2") == (["second"], 1)
    assert await listed(q="amy", limit=1) == (["third"], 2)
    assert await listed(q="amy", limit=1, offset=1) == (["first"], 2)
    assert await listed(q="%") == ([], 0)
    assert await listed(rating="down") == (["first"], 1) and await listed(rating="up") == ([], 0)
    assert await listed(handoff=True) == (["second"], 1) and (await listed(handoff=False))[1] == 2
    assert await listed(outcome="no_evidence") == ([], 0) and (await listed(outcome="answered"))[1] == 3
    assert await listed(since="2026-03-01T01:30:00Z", until="2026-03-01T02:30:00Z") == (["third"], 1)
    item = (await client.get(PATH, params={"q": "first 1"})).json()["conversations"][0]
    assert (item["down"], item["up"], item["handoff"], item["last_outcome"]) == (1, 0, False, "answered")


async def test_a_conversation_is_called_by_its_worst_turn(client: httpx.AsyncClient, database: Database) -> None:
    async def titled(**query: Any) -> dict[str, tuple[str, str]]:
        found = (await client.get(PATH, params=query)).json()["conversations"]
        return {item["session_id"]: (item["title"], item["trouble"]) for item in found}

    async def end(turn: str, outcome: str) -> None:
        async with database.write() as connection:
            await connection.execute(update(StoredTurn).where(StoredTurn.id == turn).values(outcome=outcome))

    assert (await titled())["first"] == ("first 1", "none")
    for outcome, trouble in (("low_confidence", "unsure"), ("no_evidence", "refused")):
        await end("t-first-2", outcome)
        assert (await titled())["first"] == ("first 2", trouble)
    await client.put(f"{PATH}/first/messages/t-first-1/feedback", json={"rating": "down"})
    assert (await titled())["first"] == ("first 1", "thumbs_down"), "a thumb down is worse than a refusal"
    await end("t-first-2", "handoff")
    assert (await titled())["first"] == ("first 2", "wanted_person")
    await end("t-first-1", "high_stakes")
    assert (await titled())["first"] == ("first 1", "danger"), "that it was also voted down does not hide the danger"
    await end("t-second-1", "high_stakes")
    await end("t-second-2", "high_stakes")
    assert await titled(trouble="danger") == {"first": ("first 1", "danger"), "second": ("second 1", "danger")}
    assert list(await titled(trouble="wanted_person")) == ["first"] and await titled(trouble="refused") == {}


async def test_the_list_is_sorted_and_narrowed_to_a_label(client: httpx.AsyncClient, database: Database) -> None:
    async with database.write() as connection:
        await connection.execute(update(Conversation).where(Conversation.session_id == "second").values(turns=9))
    longest = (await client.get(PATH, params={"sort": "-turns", "limit": 1})).json()
    assert [item["session_id"] for item in longest["conversations"]] == ["second"] and longest["next"] is None
    oldest = (await client.get(PATH, params={"sort": "updated"})).json()["conversations"]
    assert [item["session_id"] for item in oldest] == ["first", "second", "third"]
    await ContactRepository(database).set_conversation_labels(SessionKey("t", "third"), ["催发货", "大客户"])
    labelled = (await client.get(PATH, params={"label": "大客户"})).json()["conversations"]
    assert [(item["session_id"], item["labels"]) for item in labelled] == [("third", ["催发货", "大客户"])]


def test_every_outcome_has_its_place_and_the_worst_stands_first() -> None:
    assert list(SEVERITY) == list(reversed(Trouble)) and SEVERITY[Trouble.NONE] == 0
    well = set(Outcome) - set(TROUBLES)
    assert well == {Outcome.ANSWERED, Outcome.OUT_OF_SCOPE, Outcome.IRRELEVANT, Outcome.NONSENSE}


async def test_a_conversation_reads_in_order_with_its_votes(client: httpx.AsyncClient) -> None:
    vote = {"rating": "down", "reason": "答非所问"}
    assert (await client.put(f"{PATH}/first/messages/t-first-2/feedback", json={"rating": "up"})).status_code == 204
    assert (await client.put(f"{PATH}/first/messages/t-first-2/feedback", json=vote)).status_code == 204
    turns = (await client.get(f"{PATH}/first")).json()["turns"]
    assert [turn["question"] for turn in turns] == ["first 1", "first 2"]
    assert [(turn["rating"], turn["reason"]) for turn in turns] == [(None, ""), ("down", "答非所问")]
    assert turns[0]["data"] == {"agent": "knowledge", "sources": []}


@pytest.mark.parametrize("role, status", [(Role.SERVER, 200), (Role.AGENT, 200), (Role.CLIENT, 403)])
async def test_the_transcript_is_for_keys_that_stay_with_the_company(
    client: httpx.AsyncClient, role: Role, status: int
) -> None:
    authenticator = client._transport.app.state.container.authenticator  # type: ignore[attr-defined]
    authenticator.authenticate.return_value = Principal("t", frozenset({role}))
    assert (await client.get(f"{PATH}/first")).status_code == status


async def test_a_whole_transcript_tells_who_said_what_and_what_happened(
    client: httpx.AsyncClient, database: Database
) -> None:
    desk, key = desk_over(database), SessionKey("t", "first")
    await desk.staff.put("t", "amy", Duty("小艾"))
    await desk.service.request_person(key)
    await desk.service.accept_session(key, "amy")
    await desk.service.send_message(key, "您好，已为您补发")
    await desk.service.resolve(key, by="amy", note="补发了")
    whole = (await client.get(f"{PATH}/first")).json()
    told = [(item["who"], item["name"], item["event"] or item["text"]) for item in whole["entries"]]
    assert told[:4] == [
        ("customer", "", "first 1"),
        ("bot", "", "好的"),
        ("customer", "", "first 2"),
        ("bot", "", "好的"),
    ]
    assert [item for item in told[4:] if item[0] != "system"] == [
        ("customer", "", "request"),
        ("staff", "小艾", "accept"),
        ("staff", "小艾", "您好，已为您补发"),
        ("staff", "小艾", "resolve"),
    ]
    assert told[6:8] == [("staff", "小艾", "accept"), ("system", "", "客服 小艾 已接入，将为您服务。")]
    assert whole["entries"][-2]["note"] == "补发了" and whole["state"] == "resolved"
    assert [item["message_id"] for item in whole["entries"][:2]] == ["t-first-1", "t-first-1"]


async def test_a_conversation_that_began_at_the_desk_reads_without_turns(
    client: httpx.AsyncClient, database: Database
) -> None:
    await desk_over(database).service.request_person(SessionKey("t", "new"), channel="web")
    whole = (await client.get(f"{PATH}/new")).json()
    assert (whole["turns"], whole["channel"], whole["state"]) == ([], "web", "queued")
    assert whole["entries"][0]["event"] == "request" and whole["entries"][1]["who"] == "system"


async def test_deleting_leaves_nothing_behind_and_no_other_tenant_is_touched(
    client: httpx.AsyncClient, database: Database
) -> None:
    await client.put(f"{PATH}/first/messages/t-first-1/feedback", json={"rating": "up"})
    assert (await client.delete(f"{PATH}/first")).status_code == 204
    assert (await client.get(f"{PATH}/first")).json()["error"]["code"] == "conversation_not_found"
    assert (await client.delete(f"{PATH}/first")).status_code == 404
    async with database.read() as connection:
        for table in (Conversation, StoredTurn, Feedback):
            mine = select(func.count()).select_from(table).where(table.tenant_id == "t")
            left = (await connection.execute(mine)).scalar_one()
            assert left == {Conversation: 2, StoredTurn: 4, Feedback: 0}[table]
        theirs = select(func.count()).select_from(StoredTurn).where(StoredTurn.tenant_id == "other")
        assert (await connection.execute(theirs)).scalar_one() == 2


@pytest.mark.parametrize("session, message", [("first", "t-second-1"), ("first", "other-first-1"), ("none", "x")])
async def test_a_vote_wants_a_message_of_this_session(client: httpx.AsyncClient, session: str, message: str) -> None:
    response = await client.put(f"{PATH}/{session}/messages/{message}/feedback", json={"rating": "up"})
    assert (response.status_code, response.json()["error"]["code"]) == (404, "message_not_found")


async def _converse(database: Database, tenant: str, session: str, user: str, moment: datetime) -> None:
    key: dict[str, Any] = {"tenant_id": tenant, "session_id": session}
    async with database.write() as connection:
        about = {"user_id": user, "channel": "web", "turns": 2, "created_at": moment, "updated_at": moment}
        await connection.execute(insert(Conversation).values(key | about))
        for number in (1, 2):
            turn = {
                "id": f"{tenant}-{session}-{number}",
                "number": number,
                "question": f"{session} {number}",
                "standalone": f"{session} {number}",
                "reply": "好的",
                "outcome": "answered",
                "response": {"data": {"agent": "knowledge", "sources": []}},
                "created_at": moment,
            }
            await connection.execute(insert(StoredTurn).values(key | turn))
