"""Questions that nobody could answer, answered by an administrator in the console."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.chatting import Chat
from tests.browser.console import loaded, opened
from tests.browser.serving import serving
from tests.e2e.test_gap_to_answer import ANSWERS, GUIDES, REWORDED, SHOP

SETTINGS = {"VECTOR_STORE": "memory", "SAMPLES_ENABLED": "false"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("gaps"), **SETTINGS) as address:
        files = [("files", (name, text.encode())) for name, text in GUIDES.items()]
        with httpx.Client(base_url=address, timeout=60) as http:
            assert http.post("/api/v1/knowledge/documents?wait=60", files=files).status_code == 201
            deadline = time.monotonic() + 60  # the gate of a base that has just come is provisional
            while http.post("/api/v1/knowledge/search", json={"query": "退货"}).json()["degraded"]:
                assert time.monotonic() < deadline
                time.sleep(0.1)
            for wordings in SHOP.values():
                for text in wordings:
                    answer = http.post("/api/v1/chat", json={"message": text})
                    assert answer.json()["outcome"] in ("no_evidence", "clarify"), answer.text
        yield address


@pytest.mark.acceptance(only=True)
def test_gaps_are_mined_answered_and_published_in_the_console(server: str, page: Page) -> None:
    content = opened(page, server, "gaps")
    content.get_by_role("button", name="立即挖掘").click()
    rows = content.locator("tbody tr")
    expect(rows).to_have_count(len(SHOP), timeout=60_000)
    expect(rows.first).to_contain_text(re.compile("没有依据|反问"))
    for topic in ANSWERS:
        opened(page, server, "gaps")
        loaded(content)
        _answer(page, topic)
    chat = Chat(page).open(server)
    for topic in ANSWERS:
        answer = chat.ask(REWORDED[topic][0])
        expect(answer).to_contain_text(ANSWERS[topic][1][:12])


def _answer(page: Page, topic: str) -> None:
    """The gap of this topic gets its answer, which is reviewed and published."""
    question, answer = ANSWERS[topic]
    content = page.locator("main#content")
    names = content.locator("tbody tr a")
    titles = names.all_inner_texts()
    names.nth(next(place for place, title in enumerate(titles) if title in SHOP[topic])).click()
    loaded(content)
    content.get_by_role("button", name="起草").click()
    expect(content.get_by_text("有草稿", exact=True)).to_be_visible()
    assert set(content.get_by_label("相似问").input_value().split("\n")) < set(SHOP[topic])
    content.get_by_label("给顾客的回答").fill(answer)
    content.get_by_label("标准问法").fill(question)
    content.get_by_role("button", name="提交审核").click()
    content.get_by_role("button", name="通过并发布").click()
    expect(content.get_by_role("link", name="已发布为精选问答")).to_be_visible()
    expect(content.get_by_text("审核通过")).to_be_visible()
