from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx

from app.auth.principal import Role
from app.keys.repository import KeyRepository
from app.keys.service import hash_key
from app.main import create_app
from app.settings import Settings

JOBS, RUNS = "/api/v1/jobs", "/api/v1/jobs/runs"
VERIFY = f"{JOBS}/index_verification/runs"
GUIDE = ("退货说明.md", "# 退货说明\n\n七天无理由退货，运费由顾客承担。".encode())
SETTINGS: dict[str, Any] = {"embedder": "hash", "vector_store": "memory", "samples_enabled": False}


async def over(http: httpx.AsyncClient, run_id: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while (run := (await http.get(f"{RUNS}/{run_id}")).json())["state"] in ("queued", "running"):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return dict(run)


async def test_a_job_is_listed_begun_followed_and_remembered(tmp_path: Path) -> None:
    app = create_app(Settings(_env_file=None, data_dir=tmp_path, **SETTINGS))
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")
    async with app.router.lifespan_context(app), client as http:
        await app.state.container.ingestion.add("default", [GUIDE])
        listed = (await http.get(JOBS)).json()
        kind = next(kind for kind in listed["kinds"] if kind["name"] == "index_verification")
        assert (kind["schedule"]["type"], kind["last"]) == ("daily", None)
        assert {"desk", "retention", "jobs"} <= {job["name"] for job in listed["housekeeping"]}
        begun = await http.post(VERIFY)
        assert (begun.status_code, begun.json()["parameters"]) == (202, {"repair": True})
        run = await over(http, begun.json()["id"])
        assert (run["state"], run["error"], run["result"]["chunks"]) == ("done", None, 1)
        last = {kind["name"]: kind["last"] for kind in (await http.get(JOBS)).json()["kinds"]}
        assert last["index_verification"]["id"] == run["id"]
        page = (await http.get(RUNS, params={"kind": "index_verification"})).json()
        assert (page["total"], page["items"][0]["duration"]) == (1, run["duration"])
        counted = 'yingda_job_runs_total{kind="index_verification",state="done",tenant="default"} 1.0'
        assert counted in (await http.get("/metrics")).text
        assert (await http.post(f"{RUNS}/{run['id']}/cancel")).json()["state"] == "done"
        refused = [await http.post(VERIFY, json={"parameters": {"repair": "maybe"}}), await http.get(f"{RUNS}/none")]
        refused.append(await http.get(RUNS, params={"kind": "none"}))
        codes = [(answer.status_code, answer.json()["error"]["code"]) for answer in refused]
        assert codes == [(409, "invalid_job_parameters"), (404, "job_run_not_found"), (404, "job_kind_not_found")]


async def test_staff_look_and_administrators_act_each_in_their_own_tenant(tmp_path: Path) -> None:
    app = create_app(Settings(_env_file=None, data_dir=tmp_path, api_key="admin-key-of-this-test", **SETTINGS))
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")
    async with app.router.lifespan_context(app), client as http:
        keys = KeyRepository(app.state.container.base.database)
        for name, tenant, role in (("staff", "default", Role.AGENT), ("other", "other", Role.ADMIN)):
            await keys.create(tenant, role, name, hash_key(name))
        app.state.container.keys._fresh_until = float("-inf")
        admin, staff, other = ({"X-API-Key": key} for key in ("admin-key-of-this-test", "staff", "other"))
        assert (await http.post(VERIFY, headers=staff)).status_code == 403
        run = (await http.post(VERIFY, headers=admin)).json()["id"]
        assert (await http.post(f"{RUNS}/{run}/cancel", headers=staff)).status_code == 403
        assert (await http.get(f"{RUNS}/{run}", headers=staff)).status_code == 200
        assert (await http.get(f"{RUNS}/{run}", headers=other)).status_code == 404
        assert (await http.get(RUNS, headers=other)).json()["total"] == 0
