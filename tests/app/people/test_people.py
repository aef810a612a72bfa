"""Accounts: invited, signed in, signed out, and what each role may do at the desk."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select, update

from app.auth.cookies import SIGN_IN as COOKIE
from app.auth.principal import Role
from app.db.base import now
from app.keys.repository import KeyRepository
from app.keys.service import create_key, hash_key
from app.people.tables import PersonRow, SignInRow
from tests.app.auth.provider import ec_signer, provider_server, rsa_signer
from tests.app.serving import Served, served

ADMIN, PASSWORD = "the-first-admin-key", "correct horse battery"
PEOPLE, SIGN_IN, DESK, TEAMS = "/api/v1/people", "/api/v1/signin", "/api/v1/agent/sessions", "/api/v1/agent/teams"
OWN = {"Sec-Fetch-Site": "same-origin"}
# Browsers of one test.
OPENED = AsyncExitStack()


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    with provider_server(rsa_signer(), ec_signer()) as provider:
        options: dict[str, Any] = {"api_key": ADMIN, "sign_in_failures": 6, **provider.settings}
        async with served(tmp_path, **options) as running:
            yield running


@pytest.fixture
async def admin(server: Served) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"X-API-Key": ADMIN}
    async with httpx.AsyncClient(base_url=server.address, headers=headers, timeout=60) as client:
        yield client


@pytest.fixture(autouse=True)
async def opened() -> AsyncIterator[None]:
    async with OPENED:
        yield


async def browser(server: Served) -> httpx.AsyncClient:
    client = httpx.AsyncClient(base_url=server.address, headers=OWN, timeout=60)
    return await OPENED.enter_async_context(client)


async def signed_in(server: Served, admin: httpx.AsyncClient, login: str, role: str = "agent", **given: Any) -> Any:
    """The browser of somebody who took up an invitation; its `person` is the account."""
    body = {"login": login, "name": login.title(), "role": role} | given
    made = await admin.post(PEOPLE, json=body)
    assert made.status_code == 201, made.text
    page = await browser(server)
    password = {"invitation": made.json()["invitation"], "password": PASSWORD}
    accepted = await page.post(f"{SIGN_IN}/invitation", json=password)
    assert (accepted.status_code, accepted.json()["agent_id"]) == (200, login.casefold()), accepted.text
    return made.json(), page


async def waiting(admin: httpx.AsyncClient, session: str) -> None:
    asked = await admin.post("/api/v1/chat", json={"message": "转人工", "session_id": session})
    assert asked.json()["data"]["handoff"]["state"] == "queued", asked.text


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


async def test_an_invitation_works_once_and_a_sign_in_ends_on_the_server(
    server: Served, admin: httpx.AsyncClient
) -> None:
    person, page = await signed_in(server, admin, "Amy")
    assert (person["login"], person["state"]) == ("amy", "invited") and "password" not in person
    used = await (await browser(server)).post(
        f"{SIGN_IN}/invitation", json={"invitation": person["invitation"], "password": PASSWORD}
    )
    assert code(used) == (401, "invitation_over")
    assert (await page.get(SIGN_IN)).json()["key_name"] == "Amy"
    assert (await page.get(f"{DESK}/pending")).status_code == 200
    assert (await page.get(PEOPLE)).status_code == 403

    other = await browser(server)
    signed = await other.post(SIGN_IN, json={"login": "AMY", "password": PASSWORD})
    assert (signed.status_code, signed.json()["agent_id"]) == (200, "amy")
    first = other.cookies[COOKIE.name]
    await other.post(SIGN_IN, json={"login": "amy", "password": PASSWORD})
    stolen = {"Cookie": f"{COOKIE.name}={first}"}
    assert (await (await browser(server)).get(f"{DESK}/pending", headers=stolen)).status_code == 401  # rotated

    database = server.container.base.database
    async with database.read() as connection:
        kept = [row.digest for row in await connection.execute(select(SignInRow.digest))]
        hashed = (await connection.execute(select(PersonRow.password))).scalar_one()
    assert other.cookies[COOKIE.name] not in kept and str(hashed).startswith("$argon2id$")

    changed = {"current": "wrong", "password": "another long password"}
    assert code(await other.put(f"{SIGN_IN}/password", json=changed)) == (400, "wrong_current_password")
    weak = {"current": PASSWORD, "password": "amy-amy-amy-2024"}
    assert code(await other.put(f"{SIGN_IN}/password", json=weak)) == (400, "weak_password")
    assert (await other.put(f"{SIGN_IN}/password", json=changed | {"current": PASSWORD})).status_code == 204
    assert (await other.get(f"{DESK}/pending")).status_code == 200
    assert (await page.get(f"{DESK}/pending")).status_code == 401  # everywhere else it is over

    assert (await other.delete(f"{SIGN_IN}/everywhere")).status_code == 204
    assert (await other.get(SIGN_IN)).json()["signed_in"] is False


async def test_a_sign_in_ends_when_idle_and_after_its_longest_time(server: Served, admin: httpx.AsyncClient) -> None:
    _, page = await signed_in(server, admin, "amy")
    database, settings = server.container.base.database, server.container.settings

    async def set_back(**values: Any) -> None:
        async with database.write() as connection:
            await connection.execute(update(SignInRow).values(**values))

    idle = timedelta(hours=settings.sign_in_idle_hours)
    await set_back(seen_at=now() - idle + timedelta(minutes=5))
    assert (await page.get(f"{DESK}/pending")).status_code == 200
    async with database.read() as connection:
        assert (await connection.execute(select(SignInRow.seen_at))).scalar_one() > now() - timedelta(minutes=1)
    await set_back(seen_at=now() - idle)
    assert (await page.get(f"{DESK}/pending")).status_code == 401
    await set_back(seen_at=now(), expires_at=now())
    assert (await page.get(f"{DESK}/pending")).status_code == 401


async def test_guesses_are_refused_alike_for_accounts_that_are_there_and_not(
    server: Served, admin: httpx.AsyncClient
) -> None:
    await signed_in(server, admin, "amy")
    await admin.post(PEOPLE, json={"login": "ben", "name": "Ben"})
    told = {}
    for login in ("amy", "ben", "nobody"):
        page = await browser(server)
        tries = [await page.post(SIGN_IN, json={"login": login, "password": f"guess {n}"}) for n in range(7)]
        told[login] = [(*code(one), one.json()["error"]["message"]) for one in tries]
    assert told["amy"] == told["ben"] == told["nobody"]
    assert [status for status, *_ in told["amy"]] == [401] * 6 + [429]
    right = await (await browser(server)).post(SIGN_IN, json={"login": "amy", "password": PASSWORD})
    assert code(right) == (429, "too_many_attempts")  # else one could go on guessing


async def test_a_disabled_person_is_out_at_once_and_a_role_changes_at_once(
    server: Served, admin: httpx.AsyncClient
) -> None:
    person, page = await signed_in(server, admin, "amy")
    place = f"{PEOPLE}/{person['id']}"
    assert (await admin.patch(place, json={"role": "lead"})).json()["role"] == "lead"
    listed = (await page.get(PEOPLE)).json()["people"]
    assert [(one["login"], one["current"], one["state"]) for one in listed] == [("amy", True, "active")]
    assert (await page.patch(place, json={"role": "admin"})).status_code == 403
    assert (await admin.patch(place, json={"role": "admin"})).status_code == 200
    assert code(await page.patch(place, json={"disabled": True})) == (409, "own_account")
    assert code(await page.patch(place, json={"role": "agent"})) == (409, "own_account")
    assert (await admin.patch(place, json={"disabled": True})).json()["state"] == "disabled"
    assert (await page.get(SIGN_IN)).json()["signed_in"] is False
    refused = await page.post(SIGN_IN, json={"login": "amy", "password": PASSWORD})
    assert code(refused) == (401, "wrong_password")
    assert code(await admin.post(f"{place}/invitation")) == (409, "person_disabled")
    await admin.patch(place, json={"disabled": False})
    again = (await admin.post(f"{place}/invitation")).json()["invitation"]
    reset = {"invitation": again, "password": "a new and longer one"}
    assert (await page.post(f"{SIGN_IN}/invitation", json=reset)).status_code == 200
    assert (await admin.delete(f"{place}/signins")).status_code == 204
    assert (await page.get(SIGN_IN)).json()["signed_in"] is False
    logged = (await admin.get("/api/v1/audit")).json()["items"]
    assert {"create_person", "change_person", "invite_person", "sign_person_out"} <= {one["action"] for one in logged}


async def test_people_sign_in_by_the_identity_provider_and_customers_tokens_open_nothing(
    server: Served, admin: httpx.AsyncClient
) -> None:
    made = await admin.post(PEOPLE, json={"login": "amy", "name": "Amy", "subject": "E-1"})
    assert made.json()["state"] == "active"
    taken = await admin.post(PEOPLE, json={"login": "ben", "name": "Ben", "subject": "E-1"})
    assert code(taken) == (409, "login_taken")
    page = await browser(server)
    assert (await page.get(SIGN_IN)).json()["by_provider"] is True
    assert code(await page.post(SIGN_IN, json={"id_token": rsa_signer().token(sub="E-2")})) == (401, "account_unknown")
    forged = await page.post(SIGN_IN, json={"id_token": rsa_signer("elsewhere").token(sub="E-1")})
    assert code(forged) == (401, "invalid_user_token")
    signed = await page.post(SIGN_IN, json={"id_token": rsa_signer().token(sub="E-1")})
    assert (signed.status_code, signed.json()["agent_id"]) == (200, "amy")


async def test_other_tenants_and_foreign_pages_reach_no_account(server: Served, admin: httpx.AsyncClient) -> None:
    person, page = await signed_in(server, admin, "amy")
    key = create_key()
    await KeyRepository(server.container.base.database).create("rival", Role.ADMIN, "rival", hash_key(key))
    server.container.keys.expire_copy()
    place, shown = f"{PEOPLE}/{person['id']}", {"X-API-Key": key}
    async with httpx.AsyncClient(base_url=server.address, headers=shown) as rival:
        assert (await rival.get(PEOPLE)).json() == {"people": []}
        for method, path, body in (
            ("PATCH", place, {"name": "x"}),
            ("PUT", f"{place}/duty", {}),
            ("POST", f"{place}/invitation", None),
            ("DELETE", f"{place}/signins", None),
        ):
            assert (await rival.request(method, path, json=body)).status_code == 404, path
    there = {"login": "amy", "password": PASSWORD, "tenant": "rival"}
    assert code(await (await browser(server)).post(SIGN_IN, json=there)) == (401, "wrong_password")
    foreign = {"Sec-Fetch-Site": "cross-site", "Origin": "https://shop.example.com"}
    assert (await page.get(f"{DESK}/pending", headers=foreign)).status_code == 401
    for method, path, body in (
        ("POST", SIGN_IN, {"login": "amy", "password": PASSWORD}),
        ("PUT", f"{SIGN_IN}/password", {"current": PASSWORD, "password": "a new and longer one"}),
        ("DELETE", f"{SIGN_IN}/everywhere", None),
        ("POST", f"{SIGN_IN}/invitation", {"invitation": "x", "password": PASSWORD}),
    ):
        assert code(await page.request(method, path, json=body, headers=foreign)) == (403, "foreign_page")
    assert (await page.get(f"{DESK}/pending")).status_code == 200


async def test_people_act_as_themselves_and_leads_move_what_others_have(
    server: Served, admin: httpx.AsyncClient
) -> None:
    _, amy = await signed_in(server, admin, "amy")
    _, ben = await signed_in(server, admin, "ben")
    _, lead = await signed_in(server, admin, "lea", "lead")
    await waiting(admin, "s-1")
    assert code(await amy.post(f"{DESK}/s-1/accept", json={"agent_id": "ben"})) == (403, "not_yourself")
    accepted = await amy.post(f"{DESK}/s-1/accept", json={})
    assert (accepted.status_code, accepted.json()["agent_id"]) == (200, "amy")
    assert code(await ben.post(f"{DESK}/s-1/messages", json={"content": "您好"})) == (409, "desk_state_conflict")
    assert (await ben.post(f"{DESK}/s-1/transfer", json={"agent_id": "ben"})).status_code == 409
    assert (await amy.post(f"{DESK}/s-1/notes", json={"content": "老顾客"})).json()["agent_id"] == "amy"
    moved = await lead.post(f"{DESK}/s-1/transfer", json={"agent_id": "ben"})
    assert (moved.status_code, moved.json()["agent_id"]) == (200, "ben")
    assert code(await amy.post("/api/v1/agent/staff/ben/presence", json={"online": True})) == (403, "not_yourself")
    assert code(await admin.post(f"{DESK}/s-1/notes", json={"content": "x"})) == (400, "agent_id_missing")
    assert (await ben.post(f"{DESK}/s-1/resolve", json={})).status_code == 200


async def test_the_queue_honours_team_skill_capacity_and_hours(server: Served, admin: httpx.AsyncClient) -> None:
    team = (await admin.post(TEAMS, json={"name": "退款组"})).json()
    assert code(await admin.post(TEAMS, json={"name": "退款组"})) == (409, "team_name_taken")
    unknown = await admin.post(PEOPLE, json={"login": "zoe", "name": "Zoe", "teams": ["nowhere"]})
    assert code(unknown) == (404, "team_not_found")
    away = f"{now().isoweekday() % 7 + 1} 00:00-00:01"  # tomorrow
    _, amy = await signed_in(server, admin, "amy")
    refunds, ben = await signed_in(server, admin, "ben", teams=[team["id"]], skills=["退款"], capacity=1)
    _, _ = await signed_in(server, admin, "eve", teams=[team["id"]], hours=[away])
    assert (await amy.get(TEAMS)).json()["teams"] == [team | {"members": ["ben", "eve"]}]
    assert (await amy.post(TEAMS, json={"name": "x"})).status_code == 403

    for session in ("s-1", "s-2"):
        await waiting(admin, session)
        await amy.post(f"{DESK}/{session}/accept", json={})
        moved = await amy.post(f"{DESK}/{session}/transfer", json={"team": team["id"]})
        assert (moved.json()["state"], moved.json()["team"], moved.json()["agent_id"]) == ("queued", team["id"], "")
    assert code(await amy.post(f"{DESK}/s-1/transfer", json={"team": "nowhere"})) == (404, "team_not_found")
    assert code(await amy.post(f"{DESK}/s-1/accept", json={})) == (409, "team_missing")
    mine = {"agent_id": "amy"}
    assert (await amy.get(f"{DESK}/pending", params=mine)).json()["sessions"] == []
    assert len((await ben.get(f"{DESK}/pending", params={"agent_id": "ben"})).json()["sessions"]) == 2
    assert code(await admin.delete(f"{TEAMS}/{team['id']}")) == (409, "team_in_use")
    assert (await ben.post(f"{DESK}/s-1/accept", json={})).status_code == 200
    assert code(await ben.post(f"{DESK}/s-2/accept", json={})) == (409, "at_capacity")
    assert code(await ben.post(f"{DESK}/s-1/transfer", json={"agent_id": "eve"})) == (409, "off_hours")

    queue = server.container.desk.queue
    await server.container.desk.staff.mark_gone("default", "ben")
    await server.container.desk.staff.mark_seen("default", "eve")
    assert not await queue.is_attended("default", "", team["id"])  # eve is there, but not on duty
    duty = {"teams": [team["id"]], "skills": [], "hours": [], "capacity": 3}
    changed = await admin.put(f"{PEOPLE}/{refunds['id']}/duty", json=duty)
    assert (changed.json()["capacity"], changed.json()["display_name"]) == (3, "Ben")
    assert (await ben.post(f"{DESK}/s-2/accept", json={})).status_code == 200
    assert (await admin.delete(f"{TEAMS}/{team['id']}")).status_code == 204
    assert (await admin.get(PEOPLE)).json()["people"][1]["teams"] == []
    assert (await admin.put(f"{TEAMS}/{team['id']}", json={"name": "x"})).status_code == 404
