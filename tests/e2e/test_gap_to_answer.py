"""Thirty questions that nobody could answer become five gaps, two of which are answered."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.main import create_app
from app.settings import Settings
from tests.app.gaps.topics import TOPICS

SHOP = TOPICS["shop"]
GAPS, CHAT = "/api/v1/knowledge/gaps", "/api/v1/chat"
HELD = "退货的运费谁出"
GUIDES = {
    "退货说明.md": "# 退货说明\n\n## 运费\n\n七天无理由退货，运费由顾客承担；质量问题由商家承担。\n",
    "发票说明.md": "# 发票说明\n\n## 开票\n\n确认收货后可以申请电子发票，一个工作日内发到邮箱。\n",
    "保修说明.md": "# 保修说明\n\n## 期限\n\n整机保修一年，电池保修半年。\n\n## 送修\n\n送修请到服务网点。\n",
    "配送说明.md": "# 配送说明\n\n## 时间\n\n下单后四十八小时内发货，三到五天送达。\n",
}
ANSWERS: Mapping[str, tuple[str, str]] = {
    "gift_wrap": (
        "可以礼品包装吗",
        "可以。下单时勾选“礼品包装”，每件五元，配礼盒、丝带和一张贺卡，贺卡上的话在备注里写。",
    ),
    "engraving": ("可以刻字吗", "可以。杯子和充电宝支持激光刻字，中英文都行，十个字以内，每件二十元，付款后三天做好。"),
}
REWORDED: Mapping[str, Sequence[str]] = {
    "gift_wrap": (
        "请问能帮我做礼品包装吗",
        "买来送朋友，可以装进礼盒里吗",
        "礼物包装怎么收费",
        "下单的时候能加一张贺卡吗",
        "能不能给我包得漂亮点，我要送人",
        "礼盒包装要不要另外花钱",
    ),
    "engraving": (
        "杯子上能刻我的名字吗",
        "刻字要多少钱",
        "可不可以帮我刻一句话",
        "定制刻字需要几天",
        "能刻英文吗",
        "你们有激光刻字服务吗",
    ),
}


async def ask(http: httpx.AsyncClient, message: str) -> dict[str, Any]:
    answer = await http.post(CHAT, json={"message": message})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def post(http: httpx.AsyncClient, path: str, **body: Any) -> dict[str, Any]:
    answer = await http.post(f"{GAPS}{path}", json=body or None)
    assert answer.status_code in (200, 202), answer.text
    return dict(answer.json())


async def mine(http: httpx.AsyncClient) -> dict[str, Any]:
    run = await post(http, "/mine")
    async with asyncio.timeout(60):
        while (run := (await http.get(f"/api/v1/jobs/runs/{run['id']}")).json())["state"] in ("queued", "running"):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert run["state"] == "done", run
    return dict(run["result"])


async def gaps_by_topic(http: httpx.AsyncClient) -> dict[str, dict[str, Any]]:
    """Each gap with its questions, by the topic of all of them."""
    topic_of = {question: name for name, questions in SHOP.items() for question in questions}
    found = {}
    for gap in (await http.get(GAPS)).json()["items"]:
        detail = (await http.get(f"{GAPS}/{gap['id']}")).json()
        [topic] = {topic_of[one["question"]] for one in detail["questions"]}
        found[topic] = detail
    return found


async def answered(http: httpx.AsyncClient, gap: Mapping[str, Any], question: str, answer: str) -> str:
    """Drafts, edits, submits and approves; the curated answer that it became."""
    drafted = await post(http, f"/{gap['id']}/draft")
    assert (drafted["state"], drafted["draft"]["origin"], drafted["draft"]["answer"]) == ("drafted", "empty", "")
    assert set(drafted["draft"]["variants"]) | {drafted["draft"]["question"]} == {
        one["question"] for one in gap["questions"]
    }
    variants = [drafted["draft"]["question"], *drafted["draft"]["variants"]]
    edited = await http.put(
        f"{GAPS}/{gap['id']}/draft", json={"question": question, "answer": answer, "variants": variants}
    )
    assert edited.json()["draft"]["origin"] == "edited", edited.text
    assert (await post(http, f"/{gap['id']}/submit"))["state"] == "in_review"
    approved = await post(http, f"/{gap['id']}/approve", note="已核对")
    assert approved["state"] == "approved"
    return str(approved["draft"]["faq_id"])


@pytest.mark.acceptance(only=True)
async def test_thirty_questions_make_five_gaps_and_two_approved_drafts_answer_them_reworded(data_dir: Path) -> None:
    settings = Settings(_env_file=None, data_dir=data_dir, embedder="e5", vector_store="memory", samples_enabled=False)
    app = create_app(settings)
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1", timeout=60)
    async with app.router.lifespan_context(app), client as http:
        await app.state.container.ingestion.add("default", [(name, text.encode()) for name, text in GUIDES.items()])
        async with asyncio.timeout(60):  # the gate of a base that has just come is provisional
            while (await http.post("/api/v1/knowledge/search", json={"query": HELD})).json()["degraded"]:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        outcomes = Counter([(await ask(http, text))["outcome"] for texts in SHOP.values() for text in texts])
        assert set(outcomes) <= {"no_evidence", "clarify"}, outcomes
        assert [(await ask(http, HELD))["data"]["cached"] for _ in range(2)] == [False, True]

        mined = await mine(http)
        assert (mined["collected"], mined["new_gaps"]) == (30, 5)
        found = await gaps_by_topic(http)
        assert {topic: gap["asked"] for topic, gap in found.items()} == dict.fromkeys(SHOP, 6)

        entries = {topic: await answered(http, found[topic], *ANSWERS[topic]) for topic in ANSWERS}

        assert (await ask(http, HELD))["data"]["cached"] is False  # of the revision before
        cited = []
        for topic, texts in REWORDED.items():
            for text in texts:
                answer = await ask(http, text)
                sources = [source["document_id"] for source in answer["data"]["sources"]]
                cited.append(answer["outcome"] == "answered" and entries[topic] in sources)
        assert sum(cited) >= 10, cited
        for topic in ANSWERS:
            for text in SHOP[topic]:
                answer = await ask(http, text)
                assert [source["document_id"] for source in answer["data"]["sources"]] == [entries[topic]], text
        await the_cases_are_kept(http, found, entries)
        await an_answer_is_taken_back(http, found["engraving"]["id"], entries["engraving"])


async def the_cases_are_kept(
    http: httpx.AsyncClient, found: Mapping[str, Mapping[str, Any]], entries: Mapping[str, str]
) -> None:
    """The two are regression cases of the tenant's evaluation set, each with its gap and its source."""
    [kept] = (await http.get("/api/v1/evaluation/sets")).json()["sets"]
    assert (kept["name"], kept["cases"]) == ("缺口回归", 2)
    cases = (await http.get(f"/api/v1/evaluation/sets/{kept['id']}/cases")).json()["cases"]
    told = {case["origin_id"]: case for case in cases}
    for topic, entry in entries.items():
        case = told[found[topic]["id"]]
        assert (case["origin"], case["turns"][0]["say"]) == ("gap", ANSWERS[topic][0])
        assert case["turns"][0]["expect"]["documents"] == [entry]


async def an_answer_is_taken_back(http: httpx.AsyncClient, gap_id: str, entry: str) -> None:
    reopened = await post(http, f"/{gap_id}/reopen", note="价格变了")
    assert (reopened["state"], reopened["draft"]["faq_id"]) == ("drafted", "")
    assert [event["event"] for event in reopened["history"]] == [
        "drafted",
        "edited",
        "submitted",
        "approved",
        "reopened",
    ]
    assert (await http.get(f"/api/v1/knowledge/faqs/{entry}")).status_code == 404
    [kept] = (await http.get("/api/v1/evaluation/sets")).json()["sets"]
    assert kept["cases"] == 1
