"""Corrections and the quality check in the console."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.console import opened

KNOWLEDGE = "/api/v1/knowledge"
FIRST = "# X10 说明书\n\nX10 的整机保修期为 1 年。<b onclick=x()>细则</b>另见官网。\n"
SECOND = "# 售后政策\n\n购买 X10 的顾客，整机保修 2 年。\n"


@pytest.mark.acceptance(only=True)
def test_a_contradiction_is_found_corrected_in_its_passage_and_gone(light: str, page: Page) -> None:
    def checked(http: httpx.Client) -> None:
        run = http.post("/api/v1/jobs/quality_check/runs", json={}).json()
        while run["state"] in ("queued", "running"):
            page.wait_for_timeout(100)
            run = http.get(f"/api/v1/jobs/runs/{run['id']}").json()
        assert run["state"] == "done", run

    with httpx.Client(base_url=light, timeout=30) as http:
        files = [("files", ("说明书.txt", FIRST.encode())), ("files", ("政策.md", SECOND.encode()))]
        content = opened(page, light, "quality")
        expect(content).to_contain_text("还没有检查过")
        expect(content).not_to_contain_text("没有发现问题")
        taken = http.post(f"{KNOWLEDGE}/documents?wait=30", files=files).json()["files"]
        checked(http)
        page.reload()
        row = content.get_by_role("row").filter(has_text="同一件事两种说法")
        expect(row).to_contain_text("数字矛盾")
        row.get_by_role("button", name="忽略").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("为什么没有问题").fill("多送一年")
        dialog.get_by_role("button", name="忽略").click()
        expect(row).to_contain_text("多送一年")

        content = opened(page, light, f"documents/{taken[1]['document_id']}")
        content.get_by_role("button", name="修正", exact=True).click()
        dialog.get_by_label("文字").fill("购买 X10 的顾客，整机保修 1 年。")
        dialog.get_by_label("原因").fill("<i>写错了</i>")
        dialog.get_by_role("button", name="保存").click()
        listed = content.get_by_role("region", name="修正")
        expect(listed).to_contain_text("<i>写错了</i>")
        expect(content).to_contain_text("已修正")
        checked(http)
        content = opened(page, light, "quality")
        expect(page.get_by_text("没有发现问题。")).to_be_visible()
        # The server is shared: others may have left documents there.
        expect(content).to_contain_text(re.compile(r"检查了 \d+ 篇文档的 \d+ 个片段、\d+ 条问答。之后没有改动。"))
        entry = {"question": "X10 能防水吗？", "answer": "X10 支持防水，可以水洗。"}
        http.post(f"{KNOWLEDGE}/faqs", json=entry).raise_for_status()
        files = [("files", ("防水.md", "# X10 防水\n\nX10 不支持防水，请勿水洗。\n".encode()))]
        http.post(f"{KNOWLEDGE}/documents?wait=30", files=files).raise_for_status()
        page.reload()
        expect(content).to_contain_text("之后改过 2 篇")
        content.get_by_role("button", name="现在检查").click()
        row = content.get_by_role("row").filter(has_text="问答与文档矛盾")
        expect(row).to_contain_text("X10 支持防水")
        row.get_by_role("link", name="X10 能防水吗？").click()
        expect(content.get_by_role("heading", level=1)).to_have_text("精选问答")
        page.goto(f"{light}/admin?lang=en#/quality")
        expect(content.get_by_role("row").filter(has_text="Answer against a document")).to_contain_text(
            "The answer says"
        )


@pytest.mark.acceptance(only=True)
def test_a_knowledge_base_is_indexed_anew_by_an_embedder_that_is_chosen(light: str, page: Page) -> None:
    with httpx.Client(base_url=light, timeout=30) as http:
        http.post(
            f"{KNOWLEDGE}/documents?wait=30", files=[("files", ("说明书.txt", FIRST.encode()))]
        ).raise_for_status()
        content = opened(page, light, "jobs")
        content.get_by_role("row").filter(has_text="重建索引").first.get_by_role("button", name="现在运行").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("改用的向量模型").select_option("hash")
        dialog.get_by_role("button", name="现在运行").click()
        expect(dialog).to_be_hidden()
        run = http.get("/api/v1/jobs/runs", params={"kind": "reindex"}).json()["items"][0]
        assert run["parameters"] == {"embedder": "hash"}
