"""Evaluation in the console: a set is taken in, run, and compared after what is right changed."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.console import opened

FREIGHT = "# 退货说明\n\n## 运费\n\n退货的运费由顾客承担，首重 12 元。\n"
HEAD = "编号,问题,要说到,来源"


def table(*rows: str) -> FilePayload:
    return {"name": "题.csv", "mimeType": "text/csv", "buffer": "\n".join((HEAD, *rows)).encode()}


@pytest.mark.acceptance(only=True)
def test_a_file_of_cases_is_run_and_two_reports_are_compared(light: str, page: Page) -> None:
    with httpx.Client(base_url=light, timeout=30) as http:
        http.post("/api/v1/knowledge/documents?wait=30", files=[("files", ("退货说明.md", FREIGHT.encode()))])
    content = opened(page, light, "evaluation")
    content.get_by_role("button", name="新建评测集").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("名称").fill("<b>上线</b>必过")
    dialog.get_by_label("题目文件").set_input_files(files=table("freight,退货的运费谁承担,首重 12 元,退货说明"))
    dialog.get_by_role("button", name="新建").click()
    expect(content.get_by_role("heading", level=1)).to_have_text("<b>上线</b>必过")
    expect(content.get_by_role("row").filter(has_text="freight")).to_contain_text("要说到：首重 12 元")

    content.get_by_role("button", name="运行").click()
    accuracy = content.locator(".ad-figure").filter(has_text="正确").first
    expect(accuracy).to_contain_text("100%")
    expect(content.get_by_role("row").filter(has_text="freight")).to_contain_text("由顾客承担")
    expect(content.get_by_role("button", name="删除")).to_be_visible()

    content.get_by_role("link", name="<b>上线</b>必过").click()
    content.get_by_label("导入").set_input_files(
        files=table("freight,退货的运费谁承担,首重 99 元,退货说明", "二,怎么退")
    )
    expect(dialog).to_contain_text("第 3 行")
    page.keyboard.press("Escape")
    expect(content.get_by_role("row").filter(has_text="freight")).to_contain_text("首重 99 元")
    content.get_by_role("button", name="运行").click()
    content.get_by_label("与先前的报告对照").select_option(index=1)
    row = content.get_by_role("table", name="逐题对照").get_by_role("row").filter(has_text="freight")
    expect(row).to_contain_text("变差")
    expect(row).to_contain_text("没说到：'首重 99 元'")
