"""A message that was one too many is refused before anything is done for it, unless it is urgent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.auth.principal import Role
from tests.app.limits.test_limits import key_of
from tests.app.serving import Served, served

LIMIT = 2


@pytest.fixture(params=["rate_per_server_key", "rate_per_session"])
async def server(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Served]:
    async with served(tmp_path, **{request.param: LIMIT}) as server:
        yield server


async def touched(*_: object, **__: object) -> None:
    raise AssertionError("something was done for a request that is refused")


def spoken(path: str, text: str) -> dict[str, Any]:
    if path.startswith("/v1/"):
        return {"model": "yingda", "stream": True, "messages": [{"role": "user", "content": text}]}
    return {"message": text}


@pytest.mark.parametrize("path", ["/api/v1/chat", "/api/v1/chat/stream", "/v1/chat/completions"])
async def test_neither_a_session_nor_a_lease_nor_a_retry_is_opened_for_it(
    server: Served, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wiring = server.container
    headers = await key_of(server, Role.SERVER)
    async with httpx.AsyncClient(base_url=server.address, headers=headers, timeout=60) as http:
        for _ in range(LIMIT):
            assert (await http.post("/api/v1/chat", json={"message": "你好", "session_id": "s"})).status_code == 200
        with monkeypatch.context() as patched:
            for part, step in ((wiring.leases, "acquire"), (wiring.retries, "begin"), (wiring.access, "claim")):
                patched.setattr(part, step, touched)
            body = spoken(path, "how do I return it") | {"session_id": "s"}
            refused = await http.post(path, json=body, headers={"Idempotency-Key": str(uuid4())})
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limit_exceeded")
        assert refused.json()["error"]["message"].isascii()  # in the customer's language
        assert int(refused.headers["retry-after"]) >= 1
        urgent = await http.post(path, json=spoken(path, "我不想活了") | {"session_id": "s"})
        assert urgent.status_code == 200 and "12356" in urgent.text
