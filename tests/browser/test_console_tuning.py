"""Tuning in the console: a parameter is set, refused beyond its range, found in the history and put back."""

from __future__ import annotations

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.console import confirm, opened


@pytest.mark.acceptance(only=True)
def test_a_parameter_is_set_and_put_back_and_an_experiment_begins_and_ends(light: str, page: Page) -> None:
    content = opened(page, light, "tuning")
    content.get_by_label("回答门槛").fill("0.65")
    content.get_by_label("为什么改").fill("误答偏多")
    content.get_by_role("button", name="保存").click()
    expect(content.get_by_label("为什么改")).to_have_value("")
    expect(content.get_by_label("回答门槛")).to_have_value("0.65")
    content.get_by_role("link", name="历史").click()
    row = content.get_by_role("row").filter(has_text="误答偏多")
    expect(row).to_contain_text("0.6 → 0.65")
    content.get_by_role("link", name="对照实验").click()
    content.get_by_role("button", name="开始实验").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("名称").fill("更严")
    dialog.get_by_label("新的值").fill("0.7")
    dialog.get_by_role("button", name="开始实验").click()
    expect(content).to_contain_text("样本还不够")
    content.get_by_role("button", name="结束并采用新参数").click()
    confirm(page, "结束并采用新参数")
    expect(content).to_contain_text("已采用为第 2 版")
    content.get_by_role("link", name="校准与扫描").click()
    content.get_by_role("button", name="校准门槛").click()
    questions = "\n".join(f'{{"question": "问题{n}", "answerable": {str(n % 2 == 0).lower()}}}' for n in range(40))
    file: FilePayload = {"name": "题.jsonl", "mimeType": "application/json", "buffer": questions.encode()}
    dialog.get_by_label("标注文件").set_input_files(files=file)
    dialog.get_by_role("button", name="开始").click()
    content.get_by_role("row").filter(has_text="完成").get_by_role("link").click()
    expect(content.get_by_role("img", name="校准门槛")).to_be_visible()
