"""Sources in the console: a folder is added, synced, looked into and deleted with its documents."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console import opened


def rules(folder: Path) -> Path:
    """Two files, one of which is none, written a while ago."""
    folder.joinpath("差旅.md").write_text("# 差旅\n\n出差住宿每晚不超过四百元。", "utf-8")
    folder.joinpath("坏.pdf").write_text("这不是 PDF", "utf-8")
    for path in folder.iterdir():
        os.utime(path, (path.stat().st_mtime - 60,) * 2)
    return folder


@pytest.mark.acceptance(only=True)
def test_a_folder_is_added_synced_looked_into_and_deleted(light: str, source_root: Path, page: Page) -> None:
    folder = rules(source_root)
    content = opened(page, light, "sources")
    expect(content).to_contain_text("还没有数据来源")
    content.get_by_role("button", name="添加来源").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("名称").fill("<b>制度</b>")
    dialog.get_by_label("从哪里来").select_option("folder")
    dialog.get_by_label("文件夹").last.fill("/etc")
    dialog.get_by_role("button", name="保存").click()
    expect(dialog).to_contain_text("SOURCE_ROOTS")
    dialog.get_by_label("文件夹").last.fill(str(folder))
    dialog.get_by_role("button", name="保存").click()
    row = content.get_by_role("row").filter(has_text="<b>制度</b>")
    expect(row).to_contain_text("1 个取不到", timeout=30_000)
    row.get_by_role("link").first.click()
    expect(content.get_by_role("heading", level=1)).to_have_text("<b>制度</b>")
    expect(content.get_by_role("row").filter(has_text="差旅.md")).to_contain_text("已是文档")
    expect(content.get_by_role("row").filter(has_text="坏.pdf")).to_contain_text("读不出来")
    content.get_by_label("出错", exact=True).select_option("true")
    expect(content.get_by_role("row").filter(has_text="差旅.md")).to_have_count(0)
    content.get_by_role("button", name="删除").click()
    page.get_by_role("dialog").get_by_role("button", name="让文档失效").click()
    expect(content).to_contain_text("还没有数据来源")
