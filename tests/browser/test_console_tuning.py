"""Tuning in the console: a parameter is set, refused beyond its range, found in the history and put back."""

from __future__ import annotations

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.console import opened


@pytest.mark.acceptance(only=True)
def test_a_parameter_is_set_and_found_in_the_history_and_a_calibration_is_drawn(light: str, page: Page) -> None:
    content = opened(page, light, "tuning")
    row = content.get_by_role("row").filter(has_text="similarity_threshold")
    expect(row).to_contain_text("调高：没把握的少答")
    expect(row).to_contain_text("还没有量过")
    content.get_by_label("回答门槛").fill("0.65")
    content.get_by_label("为什么改").fill("误答偏多")
    content.get_by_role("button", name="保存").click()
    expect(content.get_by_label("为什么改")).to_have_value("")
    expect(content.get_by_label("回答门槛")).to_have_value("0.65")
    content.get_by_role("link", name="历史").click()
    row = content.get_by_role("row").filter(has_text="误答偏多")
    expect(row).to_contain_text("0.6 → 0.65")
    content.get_by_role("link", name="校准与扫描").click()
    content.get_by_role("button", name="校准门槛").click()
    questions = "\n".join(f'{{"question": "问题{n}", "answerable": {str(n % 2 == 0).lower()}}}' for n in range(40))
    file: FilePayload = {"name": "题.jsonl", "mimeType": "application/json", "buffer": questions.encode()}
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("标注文件").set_input_files(files=file)
    dialog.get_by_role("button", name="开始").click()
    content.get_by_role("row").filter(has_text="完成").get_by_role("link").click()
    expect(content.get_by_role("img", name="校准门槛")).to_be_visible()
    content.get_by_role("link", name="参数").click()
    row = content.get_by_role("row").filter(has=page.get_by_label("回答门槛"))
    expect(row).to_contain_text("实测：调到 0.7")
    expect(row.get_by_role("link")).to_contain_text("40 道题")
