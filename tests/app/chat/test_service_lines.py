"""A curated line leaves the chat as it was written, at once and as a stream."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from agents.markup import MarkupFilter
from app.main import create_app
from app.settings import Settings
from tests.app.chat.test_chat import chat, events
from tests.knowledge.parsing.test_service_lines import LINES

QUESTIONS = (
    "怎么修改收货地址", "发票什么时候开", "会员积分如何兑换", "滤芯多久更换一次", "安装师傅几点上门",
    "耳机能用海绵清洁吗",
    "海外订单怎样报关", "礼盒可以刻字吗", "电池鼓包怎么处理", "押金退到哪里", "门店周末开门吗", "说明书在哪下载",
)  # fmt: skip
# A picture in a reply is its description: its address could carry data out.
KEPT = [line for line in LINES if "![" not in line]
ASKED = dict(zip(QUESTIONS, KEPT[:: len(KEPT) // len(QUESTIONS)], strict=False))


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    settings = Settings(data_dir=tmp_path, embedder="hash", vector_store="memory", samples_enabled=False)
    table = io.StringIO()
    csv.writer(table).writerows([("问题", "答案"), *ASKED.items()])
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        reports = await app.state.container.ingestion.add("default", [("常见问题.csv", table.getvalue().encode())])
        assert all(report.ready for report in reports)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield client


def as_written(reply: str) -> str:
    """The reply without its source; no reply defines a link, so ]: is written with the wide colon."""
    return reply.removesuffix("[1]").replace("]：", "]:")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_lines_leave_as_they_are_however_they_are_cut(size: int) -> None:
    changed = []
    for line in KEPT:
        written = MarkupFilter()
        pieces = [written.feed(line[at : at + size]) for at in range(0, len(line), size)]
        shown = "".join([*pieces, written.feed("", final=True)])
        changed += [] if as_written(shown) == line else [(line, shown)]
    assert changed == []


async def test_lines_are_answered_as_they_are(client: httpx.AsyncClient) -> None:
    replies = {question: (await chat(client, question))["reply"] for question in ASKED}
    assert {question: as_written(reply) for question, reply in replies.items()} == ASKED


async def test_lines_are_streamed_as_they_are(client: httpx.AsyncClient) -> None:
    streamed = {}
    for question in ASKED:
        received = events((await client.post("/api/v1/chat/stream", json={"message": question})).text)
        streamed[question] = as_written("".join(data["text"] for kind, data in received if kind == "token"))
    assert streamed == ASKED
