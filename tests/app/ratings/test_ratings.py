"""Customers rate what a person did for them: once, for a while, and their own conversation alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select, update

from app.auth.principal import Role
from app.db.base import now
from app.desk.tables import DeskHandlingRow
from app.keys.repository import KeyRepository
from app.keys.service import create_key, hash_key
from app.ratings.tables import RatingRow
from tests.app.serving import Served, served

ADMIN = "the-first-admin-key"
PLACE, DESK = "/api/v1/conversations", "/api/v1/agent/sessions"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, api_key=ADMIN) as running:
        yield running


@pytest.fixture
async def staff(server: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.address, headers={"X-API-Key": ADMIN}, timeout=60) as client:
        yield client


async def post(client: httpx.AsyncClient, path: str, **body: Any) -> Any:
    response = await client.post(path, json=body)
    assert response.is_success, response.text
    return response.json()


async def served_once(staff: httpx.AsyncClient, session: str) -> None:
    await post(staff, f"{DESK}/{session}/accept", agent_id="amy")
    await post(staff, f"{DESK}/{session}/messages", content="您好", agent_id="amy")
    await post(staff, f"{DESK}/{session}/resolve", agent_id="amy")


async def test_a_customer_rates_a_person_once_and_nobody_else_does(server: Served, staff: httpx.AsyncClient) -> None:
    key = create_key()
    await KeyRepository(server.container.base.database).create("default", Role.CLIENT, "shop", hash_key(key))
    server.container.keys.expire_copy()
    async with httpx.AsyncClient(base_url=server.address, headers={"X-API-Key": key}, timeout=60) as window:
        asked = await post(window, "/api/v1/chat", message="转人工")
        session, token = asked["session_id"], {"X-Session-Token": asked["session_token"]}
        rating = f"{PLACE}/{session}/rating"
        given = {"score": 5, "comment": "很快"}
        assert (await window.post(rating, json=given, headers=token)).status_code == 409  # nobody served yet
        await served_once(staff, session)
        assert (await window.get(rating, headers=token)).json() == {"asked": True, "score": 0}
        for wrong in ({"score": 0}, {"score": 6}, {"score": "5"}, {"score": 5, "comment": "x" * 501}, {}):
            assert (await window.post(rating, json=wrong, headers=token)).status_code == 422, wrong
        stranger = await window.post(rating, json=given)
        assert stranger.status_code == 403
        assert (await window.post(rating, json=given, headers=token)).status_code == 201
        again = await window.post(rating, json={"score": 1}, headers=token)
        assert (again.status_code, again.json()["error"]["code"]) == (409, "nothing_to_rate")
        assert (await window.get(rating, headers=token)).json() == {"asked": False, "score": 5}
        async with server.container.base.database.read() as connection:
            kept = (await connection.execute(select(RatingRow.score, RatingRow.comment, RatingRow.agent_id))).all()
        assert [tuple(row) for row in kept] == [(5, "很快", "amy")]

        await post(
            window, "/api/v1/chat", message="转人工", session_id=session, **{"session_token": token["X-Session-Token"]}
        )
        await served_once(staff, session)  # another time with a person is another rating
        assert (await window.get(rating, headers=token)).json() == {"asked": True, "score": 0}
        async with server.container.base.database.write() as connection:
            await connection.execute(update(DeskHandlingRow).values(ended_at=now() - timedelta(days=8)))
        assert (await window.post(rating, json=given, headers=token)).status_code == 409  # too late
        assert (await staff.delete(f"{PLACE}/{session}")).status_code == 204
        async with server.container.base.database.read() as connection:
            assert (await connection.execute(select(RatingRow.score))).all() == []  # erased with the conversation
