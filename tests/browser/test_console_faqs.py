"""Curated answers in the console and in the chat: written, taken in from a file, asked for, pressed."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console import confirm, loaded, opened

FILE = "问题,答案,相似问\n几点下班,六点。,\n,没有问题,\n<img src=x onerror=alert(1)>,标签。,\n"


@pytest.mark.acceptance(only=True)
def test_an_entry_is_written_answers_with_its_button_and_is_deleted(light: str, page: Page) -> None:
    content = opened(page, light, "faqs")
    content.get_by_role("button", name="添加", exact=True).first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("问题").fill("怎么改地址")
    dialog.get_by_label("答案").fill("发货前在订单详情里改。")
    dialog.get_by_label("按钮").fill("看订单 | https://a.example/orders\n还能改吗 | 几点下班")
    dialog.get_by_role("button", name="保存并发布").click()
    row = content.get_by_role("row").filter(has_text="怎么改地址")
    expect(row).to_contain_text("已发布")
    page.locator("input[type=file]").set_input_files({"name": "a.csv", "mimeType": "text/csv", "buffer": FILE.encode()})
    expect(dialog).to_contain_text("新增 2 条")
    expect(dialog).to_contain_text("第 3 行")
    dialog.get_by_role("button", name="导入并生效").click()
    expect(content.get_by_role("row").filter(has_text="<img src=x")).to_have_count(1)
    page.goto(light)
    page.get_by_role("textbox").fill("怎么改地址")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="看订单")).to_have_attribute("href", "https://a.example/orders")
    page.get_by_role("button", name="还能改吗").click()
    expect(page.locator(".entry.bot").last).to_contain_text("六点。")
    content = opened(page, light, "faqs")
    loaded(content)
    row.get_by_role("button", name="删除").click()
    confirm(page, "删除")
    expect(row).to_have_count(0)
