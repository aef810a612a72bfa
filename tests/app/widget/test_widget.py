"""How a tenant's widget looks is the tenant's own, read by its site and changed by its administrators alone."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.auth.principal import Role
from app.main import create_app
from app.settings import Settings
from tests.app.auth.test_auth import key_of

PATH = "/api/v1/widget"
PICTURE = "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20)).decode()


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[FastAPI]:
    made = create_app(Settings(data_dir=tmp_path, embedder="hash", vector_store="memory", samples_enabled=False))
    async with made.router.lifespan_context(made):
        yield made


async def test_a_site_sees_the_look_of_its_own_tenant(app: FastAPI) -> None:
    container = app.state.container
    look = {"accent": "#0a7a4b", "avatar": PICTURE, "proactive": [{"page": "/pricing*", "message": "想了解价格？"}]}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as http:
        admin = await key_of(container, "acme", Role.ADMIN)
        site = await key_of(container, "acme", Role.CLIENT)
        other = await key_of(container, "other", Role.CLIENT)
        container.keys.expire_copy()
        assert (await http.put(PATH, json=look, headers=admin)).status_code == 200
        shown = await http.get(PATH, headers=site)
        assert (shown.json()["accent"], shown.json()["proactive"][0]["seconds"]) == ("#0a7a4b", 10)
        assert "max-age=60" in shown.headers["cache-control"]
        assert (await http.get(PATH, headers=other)).json()["accent"] == ""
        assert (await http.put(PATH, json={}, headers=site)).status_code == 403


@pytest.mark.parametrize(
    "wrong",
    [
        {"accent": "red;}"},
        {"avatar": "https://elsewhere.example/face.png"},
        {"avatar": "data:image/svg+xml;base64,PHN2Zz4="},
        {"avatar": "data:image/png;base64,PHN2Zz4="},
        {"avatar": PICTURE + "A" * 60_000},
        {"proactive": [{"page": "pricing", "message": "好"}]},
        {"proactive": [{"page": "/", "message": "好"}] * 11},
        {"label": "字" * 21},
    ],
)
async def test_what_could_harm_a_site_is_refused(app: FastAPI, wrong: dict[str, Any]) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as http:
        assert (await http.put(PATH, json=wrong)).status_code == 422
