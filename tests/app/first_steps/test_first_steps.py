"""The first steps check themselves."""

from __future__ import annotations

from pathlib import Path

import httpx

from app.main import create_app
from app.settings import Settings
from scripts.scripted_llm import Behaviour, ScriptedLLM

PATH = "/api/v1/first-steps"


async def done(http: httpx.AsyncClient) -> list[str]:
    return [step["name"] for step in (await http.get(PATH)).json()["steps"] if step["done"]]


async def test_each_step_is_done_once_it_was_done(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path, embedder="hash", vector_store="memory", samples_enabled=False))
    async with (
        ScriptedLLM(Behaviour.ANSWER) as llm,
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as http,
    ):
        await app.state.container.startup.ready.wait()
        assert await done(http) == []
        file = ("files", ("退货.md", "# 退货\n\n运费由商城承担。"))
        await http.post("/api/v1/knowledge/documents", params={"wait": 60}, files=[file])
        assert await done(http) == ["documents"]
        await http.post("/api/v1/chat", json={"message": "运费由谁承担"})
        assert await done(http) == ["documents", "try"]
        wish = {"provider": "compatible", "base_url": llm.base_url, "model": "large", "api_key": "key"}
        await http.put("/api/v1/models/connection", json=wish)
        assert await done(http) == ["documents", "try", "model"]
        first = (await http.post("/api/v1/keys", json={"name": "我", "role": "admin"})).json()["key"]
        http.headers["X-API-Key"] = first
        assert await done(http) == ["documents", "try", "model"]
        await http.post("/api/v1/people", json={"login": "lan", "name": "林岚", "role": "lead"})
        site = (await http.post("/api/v1/keys", json={"name": "官网", "role": "client"})).json()["key"]
        assert await done(http) == ["documents", "try", "model", "colleagues"]
        assert (await http.get("/api/v1/profile/greeting", headers={"X-API-Key": site})).status_code == 200
        await app.state.container.key_management.save_use()
        assert await done(http) == ["documents", "try", "model", "widget", "colleagues"]
        assert (await http.get(PATH, headers={"X-API-Key": site})).status_code == 403
