"""Numbers of the team, from the same rows on either database, and the conversations behind each."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
from sqlalchemy import insert

from agents.types import Outcome
from app.conversations.tables import Conversation, StoredTurn
from app.db.engine import Database
from app.desk.tables import DeskHandlingRow, DeskSessionRow
from app.ratings.tables import RatingRow
from app.reports.repository import ReportRepository
from app.reports.service import build_report
from app.reports.types import Measure, ReportRange, Wanted
from tests.app.serving import served

START = datetime(2026, 3, 2, tzinfo=UTC)  # a Monday
WEEK = ReportRange("acme", START, START + timedelta(days=7), ZoneInfo("UTC"), 300)


def at(day: int, hour: float) -> datetime:
    return START + timedelta(days=day, hours=hour)


async def stay(
    database: Database,
    session: str,
    queued: datetime,
    *,
    tenant: str = "acme",
    agent: str = "",
    team: str = "",
    response_s: float | None = None,
    wait_h: float = 0,
    ending: str = "",
    score: int | None = None,
    outcomes: tuple[Outcome, ...] = (),
) -> None:
    """A conversation with its turns, and one stay at the desk."""
    key = {"tenant_id": tenant, "session_id": session}
    blank = {"state": "bot", "version": 1, "messages": 0, "priority": 0, "emotion": 0.0, "card": {}}
    blank |= dict.fromkeys(("agent_id", "user_id", "caller", "channel", "reason", "skill", "team", "ticket"), "")
    blank |= {"active_at": queued, "updated_at": queued}
    left = queued + timedelta(hours=wait_h)
    row = {"number": 1, "channel": "", "reason": "asked", "priority": 0, "skill": "", "agent_id": agent, "team": team}
    row |= {"queued_at": queued, "clock_at": queued, "accepted_at": left if agent else None, "responded_at": None}
    row |= {"ended_at": left if ending else None, "ending": ending, "response_s": response_s}
    row |= {"resolution_s": 600.0 if ending == "resolve" else None}
    async with database.write() as connection:
        await talk(connection, session, queued, outcomes, tenant)
        await connection.execute(insert(DeskSessionRow).values(key | blank))
        await connection.execute(insert(DeskHandlingRow).values(key | row))
        if score:
            rated = {"number": 1, "agent_id": agent, "team": team, "score": score, "comment": "=1+1"}
            await connection.execute(insert(RatingRow).values(key | rated | {"created_at": queued}))


async def talk(
    connection: Any, session: str, begun: datetime, outcomes: tuple[Outcome, ...], tenant: str = "acme", title: str = ""
) -> None:
    """A conversation with the bot."""
    key = {"tenant_id": tenant, "session_id": session}
    about = {"user_id": "", "channel": "", "turns": len(outcomes), "created_at": begun, "updated_at": begun}
    await connection.execute(insert(Conversation).values(key | about))
    for number, outcome in enumerate(outcomes):
        data = {"intent": "knowledge_qa", "agent": "knowledge", "sources": [{"title": title}] if title else []}
        turn = {"id": f"{session}-{number}", "number": number, "question": "问", "standalone": "问", "reply": "答"}
        turn |= {"outcome": outcome.value, "response": {"data": data}, "created_at": begun}
        await connection.execute(insert(StoredTurn).values(key | turn))


async def fill(database: Database) -> None:
    answered, refused = Outcome.ANSWERED, Outcome.NO_EVIDENCE
    await stay(database, "fast", at(0, 9.1), agent="amy", team="t1", response_s=60, ending="resolve", score=5)
    await stay(
        database,
        "slow",
        at(0, 9.5),
        agent="ben",
        response_s=900,
        wait_h=1,
        ending="close",
        score=2,
        outcomes=(answered,),
    )
    await stay(database, "gone", at(1, 23.9), wait_h=0.5, ending="leave", outcomes=(refused, Outcome.HANDOFF))
    await stay(database, "never", at(6, 23), response_s=None)
    await stay(database, "before", at(-1, 9), agent="amy", response_s=10, ending="resolve")
    await stay(database, "theirs", at(0, 9), tenant="rival", agent="amy", response_s=10, ending="resolve", score=1)
    async with database.write() as connection:
        await talk(connection, "alone", at(0, 10), (answered, Outcome.CLARIFY), title="退货政策")
        await talk(connection, "again", at(2, 10), (answered,), title="退货政策")
        await talk(connection, "earlier", at(-2, 10), (answered,), title="退货政策")


async def test_a_report_counts_what_happened_in_its_time_and_each_number_leads_to_its_conversations(
    database: Database,
) -> None:
    await fill(database)
    repository = ReportRepository(database)
    report = await build_report(repository, WEEK)
    total = report.total
    assert (total.requested, total.served, total.resolved, total.left) == (4, 2, 1, 1)
    assert (total.sla_met, total.sla_missed) == (1, 2)  # "never" waits too long by now, "gone" left by itself
    assert (total.response_s, report.response_median_s, total.resolution_s) == (480, 60, 600)
    assert (total.ratings, total.score, report.scores) == (2, 3.5, [0, 1, 0, 0, 1])
    assert [(one.id, one.served, one.sla_met, one.score) for one in report.agents] == [
        ("amy", 1, 1, 5),
        ("ben", 1, 0, 2),
    ]
    assert [(one.id, one.requested) for one in report.teams] == [("t1", 1)]
    assert (report.conversations.total, report.conversations.deflected) == (4, 2)
    assert [(day.answered, day.refused, day.handed_over, day.other) for day in report.days[:3]] == [
        (2, 0, 0, 1),
        (0, 1, 1, 0),
        (1, 0, 0, 0),
    ]
    assert len(report.days) == 7
    assert [(topic.name, topic.turns, topic.before) for topic in report.topics if not topic.intent] == [
        ("退货政策", 3, 1)
    ]
    waited = {cell: count for cell, count in enumerate(report.waiting) if count}
    assert waited == {9: 2, 10: 1, 47: 1, 48: 1, 6 * 24 + 23: 1}

    async def listed(measure: Measure, **wanted: Any) -> list[str]:
        found, count = await repository.list_conversations(WEEK, Wanted(measure, **wanted), 50, 0)
        assert count == len(found)
        return sorted(one.session_id for one in found)

    assert await listed(Measure.REQUESTED) == ["fast", "gone", "never", "slow"]
    assert await listed(Measure.SLA_MISSED) == ["never", "slow"]
    assert await listed(Measure.SLA_MET, agent="amy") == ["fast"]
    assert await listed(Measure.UNHAPPY) == ["slow"]
    assert await listed(Measure.SERVED, team="t1") == ["fast"]
    assert await listed(Measure.DEFLECTED) == ["again", "alone"]
    assert await listed(Measure.REFUSED) == ["gone"]
    assert await listed(Measure.TOPIC, topic="退货政策") == ["again", "alone"]
    for cell, count in enumerate(report.waiting):
        if count or cell in (0, 8, 11):
            assert len(await listed(Measure.WAITING, cell=cell)) == count, cell


async def test_days_and_hours_are_those_of_the_place(database: Database) -> None:
    await fill(database)
    there = ReportRange("acme", START, START + timedelta(days=7), ZoneInfo("Asia/Shanghai"), 300)
    report = await build_report(ReportRepository(database), there)
    assert report.waiting[17] == 2 and report.waiting[2 * 24 + 7] == 1
    assert [(day.start, day.answered) for day in report.days][:2] == [(START, 2), (at(0, 16), 0)]


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with served(tmp_path) as server, httpx.AsyncClient(base_url=server.address, timeout=60) as client:
        yield client


async def test_a_served_conversation_is_reported_and_exported_and_ranges_are_bounded(http: httpx.AsyncClient) -> None:
    for path, body in (
        ("/api/v1/chat", {"message": "转人工", "session_id": "s-1"}),
        ("/api/v1/agent/sessions/s-1/accept", {"agent_id": "=amy"}),
        ("/api/v1/agent/sessions/s-1/messages", {"content": "您好"}),
        ("/api/v1/agent/sessions/s-1/messages", {"content": "请稍等"}),
        ("/api/v1/agent/sessions/s-1/resolve", {}),
        ("/api/v1/conversations/s-1/rating", {"score": 4, "comment": "好"}),
    ):
        assert (await http.post(path, json=body)).is_success, path
    report = (await http.get("/api/v1/reports")).json()
    assert (report["total"]["resolved"], report["total"]["sla_met"], report["total"]["score"]) == (1, 1, 4)
    assert [one["name"] for one in report["agents"]] == ["=amy"]
    listed = (await http.get("/api/v1/reports/conversations", params={"measure": "rated"})).json()["items"]
    assert [(one["session_id"], one["score"], one["comment"], one["ending"]) for one in listed] == [
        ("s-1", 4, "好", "resolve")
    ]
    for table in ("agents", "teams", "days", "topics", "waiting"):
        file = await http.get("/api/v1/reports/export", params={"table": table})
        assert (file.status_code, file.headers["content-type"].partition(";")[0]) == (200, "text/csv"), table
        rows = list(csv.reader(io.StringIO(file.content.decode("utf-8-sig"))))
        if table == "agents":
            assert rows[1][:2] == ["'=amy", "'=amy"]  # no formula
    for wrong in (
        {"from": "2026-01-01T00:00:00Z", "to": "2026-06-01T00:00:00Z"},
        {"from": "2026-03-02T00:00:00Z", "to": "2026-03-01T00:00:00Z"},
    ):
        refused = await http.get("/api/v1/reports", params=wrong)
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "range_out_of_bounds")
