"""Evaluation runs through the whole product, in the background as the server does it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.db.base import now
from app.evaluation.schemas import EvaluationReportOut
from app.evaluation.types import EvaluationReport
from app.jobs.types import JobRun, RunState
from app.main import create_app
from app.settings import Settings
from app.wiring.container import Container
from scripts.scripted_llm import Behaviour, ScriptedLLM

API = "/api/v1/evaluation"
FREIGHT = "# 退货说明\n\n## 运费\n\n退货的运费由顾客承担，首重 12 元。\n"
CASES: list[dict[str, Any]] = [
    {
        "id": "freight",
        "question": "退货的运费谁承担",
        "expect": {"must_any": ["首重 12 元"], "source": ["退货说明"]},
    },
    {"id": "wrong", "question": "退货的运费谁承担？", "expect": {"must_any": ["首重 99 元"]}, "tag": "x"},
    {"id": "talk", "turns": [{"say": "转人工", "expect": {"kind": "handoff"}}, {"say": "退货的运费谁承担"}]},
]


@asynccontextmanager
async def serving(folder: Path, **settings: Any) -> AsyncIterator[tuple[httpx.AsyncClient, Container]]:
    options: dict[str, Any] = {"embedder": "hash", "vector_store": "memory", "samples_enabled": False}
    app = create_app(Settings(_env_file=None, data_dir=folder, **options | settings))
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")
    async with app.router.lifespan_context(app), client as http:
        await app.state.container.startup.ready.wait()
        yield http, app.state.container


async def uploaded(http: httpx.AsyncClient) -> None:
    files = [("files", ("退货说明.md", FREIGHT.encode()))]
    assert (await http.post("/api/v1/knowledge/documents?wait=60", files=files)).status_code == 201


async def filled(http: httpx.AsyncClient, cases: list[dict[str, Any]]) -> str:
    made = str((await http.post(f"{API}/sets", json={"name": "回归"})).json()["id"])
    assert (await http.post(f"{API}/sets/{made}/cases", json={"cases": cases})).status_code == 200
    return made


async def finished(http: httpx.AsyncClient, started: dict[str, Any]) -> dict[str, Any]:
    async with asyncio.timeout(120):
        while True:
            found: dict[str, Any] = (await http.get(f"{API}/reports/{started['id']}")).json()
            if found["state"] in ("done", "failed", "cancelled"):
                return found
            await asyncio.sleep(0.05)


async def run(http: httpx.AsyncClient, set_id: str, **wanted: Any) -> dict[str, Any]:
    started = await http.post(f"{API}/runs", json={"set_id": set_id} | wanted)
    assert started.status_code == 202, started.text
    return await finished(http, started.json())


async def test_a_set_is_played_reported_and_compared_and_nothing_of_it_is_the_tenants(tmp_path: Path) -> None:
    async with serving(tmp_path) as (http, container):
        await uploaded(http)
        made = await filled(http, CASES)
        first = await run(http, made)
        assert (first["state"], first["done"], first["total"]) == ("done", 4, 4), first
        figures = first["figures"]
        assert (figures["conversations"], figures["turns"], figures["answers"]) == (3, 4, 3)
        assert (figures["citation_precision"], figures["citation_recall"]) == (1.0, 1.0)
        assert figures["faithfulness"] is None
        page = (await http.get(f"{API}/reports/{first['id']}/results", params={"verdict": "wrong"})).json()
        assert [(one["case"], one["tag"]) for one in page["results"]] == [("wrong", "x")]
        assert page["results"][0]["sources"][0]["place"].startswith("退货说明")

        fixed = {"cases": [CASES[1] | {"expect": {"must_any": ["首重 12 元"]}}]}
        await http.post(f"{API}/sets/{made}/cases", json=fixed)
        second = await run(http, made, judge=False)
        told = (await http.get(f"{API}/reports/{second['id']}/compare", params={"before": first["id"]})).json()
        assert (told["gained"], told["lost"], told["unmatched"]) == (1, 0, 0)
        assert [turn["after"]["case"] for turn in told["turns"] if turn["effect"] == "better"] == ["wrong"]

        listed = (await http.get("/api/v1/conversations")).json()
        assert listed["conversations"] == []
        assert (await http.get("/api/v1/tickets")).json()["tickets"] == []
        assert (await http.get("/api/v1/agent/sessions/pending")).json()["sessions"] == []
        assert container.hot_cache.count_entries("default") == 0

        assert (await http.delete(f"{API}/reports/{first['id']}")).status_code == 204
        assert (await http.get(f"{API}/reports/{first['id']}/results")).status_code == 404
        assert [one["id"] for one in (await http.get(f"{API}/reports")).json()["reports"]] == [second["id"]]


def test_a_list_of_reports_says_how_far_a_run_is() -> None:
    report = EvaluationReport("r", "s", "回归", {}, {}, now(), None)
    run = JobRun("r", "evaluation", {}, RunState.RUNNING, 5, 20, None, None, None, now(), now(), None)
    told = EvaluationReportOut.from_report(report, run)
    assert (told.state, told.done, told.total) == ("running", 5, 20)


@pytest.mark.acceptance(only=True)
async def test_a_run_that_was_cut_short_goes_on_where_it_was(tmp_path: Path) -> None:
    cases = [{"id": f"c{number}", "question": f"退货的运费谁承担 {number}"} for number in range(30)]
    async with serving(tmp_path) as (http, _):
        await uploaded(http)
        made = await filled(http, cases)
        started = (await http.post(f"{API}/runs", json={"set_id": made})).json()
        async with asyncio.timeout(60):
            while not (await http.get(f"{API}/reports/{started['id']}/results")).json()["total"]:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        again = (await http.post(f"{API}/runs", json={"set_id": made})).json()
        assert again["id"] == started["id"]
    async with serving(tmp_path) as (http, _):
        found = await finished(http, started)
        assert (found["state"], found["figures"]["turns"]) == ("done", 30), found
        results = (await http.get(f"{API}/reports/{started['id']}/results")).json()["results"]
        assert sorted(one["case"] for one in results) == sorted(case["id"] for case in cases)


async def test_an_empty_set_and_an_unknown_one_are_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as (http, _):
        empty = (await http.post(f"{API}/sets", json={"name": "空"})).json()["id"]
        codes = [
            (await http.post(f"{API}/runs", json={"set_id": one})).json()["error"]["code"] for one in (empty, "nope")
        ]
        assert codes == ["empty_evaluation_set", "evaluation_set_not_found"]


async def test_a_model_judges_whether_answers_say_what_their_passages_say(tmp_path: Path) -> None:
    async with (
        ScriptedLLM(Behaviour.ANSWER) as llm,
        serving(tmp_path, llm_base_url=llm.base_url, llm_api_key="k", llm_model="scripted", verify_enabled=False) as (
            http,
            _,
        ),
    ):
        await uploaded(http)
        made = await filled(http, CASES[:1])
        judged, with_judge = await run(http, made), await calls_on_the_account(http)
        plain, both = await run(http, made, judge=False), await calls_on_the_account(http)
    assert with_judge == both - with_judge + 1  # the judge is on the tenant's account
    assert judged["circumstances"]["judge"] == "scripted"
    assert 0 <= judged["figures"]["relevance"] <= 1
    assert judged["figures"]["faithfulness"] == 1.0, judged
    assert (plain["figures"]["faithfulness"], plain["circumstances"]["judge"]) == (None, "")
    assert (judged["figures"]["judged"], judged["figures"]["degraded"], plain["figures"]["judged"]) == (1, 0, 0)


async def calls_on_the_account(http: httpx.AsyncClient) -> int:
    told = (await http.get("/api/v1/observability/spending")).json()
    return sum(item["calls"] for item in told["items"])


async def test_a_report_says_at_how_many_turns_something_was_out_of_order(tmp_path: Path) -> None:
    away: dict[str, Any] = {"llm_base_url": "http://127.0.0.1:9/v1", "llm_api_key": "k", "llm_model": "away"}
    async with serving(tmp_path, **away) as (http, _):
        await uploaded(http)
        made = await filled(http, CASES[:1])
        told = await run(http, made)
        results = (await http.get(f"{API}/reports/{told['id']}/results")).json()["results"]
    assert (told["figures"]["degraded"], told["figures"]["judged"]) == (1, 0), told
    assert results[0]["degraded"] != []
