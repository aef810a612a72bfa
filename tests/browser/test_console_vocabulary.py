"""The vocabulary in the console: a word is added, found and deleted again."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.console import confirm, loaded, opened


@pytest.mark.acceptance(only=True)
def test_a_short_name_is_added_refused_as_a_stop_word_and_deleted(light: str, page: Page) -> None:
    with httpx.Client(base_url=light, timeout=60) as http:  # what other tests uploaded holds words to suggest
        for document in http.get("/api/v1/knowledge/documents").json()["items"]:
            http.delete(f"/api/v1/knowledge/documents/{document['id']}").raise_for_status()
    content = opened(page, light, "vocabulary")
    content.get_by_role("button", name="添加", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("种类").select_option("abbreviation")
    dialog.get_by_label("词", exact=True).fill("云一")
    dialog.get_by_label("对应的词").fill("云朵一号")
    dialog.get_by_role("button", name="保存").click()
    row = content.get_by_role("row").filter(has_text="云一")
    expect(row).to_contain_text("云朵一号")
    content.get_by_role("button", name="添加", exact=True).click()
    dialog.get_by_label("种类").select_option("stop")
    dialog.get_by_label("词", exact=True).fill("云一")
    dialog.get_by_role("button", name="保存").click()
    expect(dialog).to_contain_text("已经是简称")
    page.keyboard.press("Escape")
    row.get_by_role("button", name="删除").click()
    confirm(page, "删除")
    expect(row).to_have_count(0)
    content.get_by_role("link", name="建议").click()
    loaded(content)
    expect(content).to_contain_text("没有建议")
