"""The first day of an administrator: steps that tick themselves, a model, a file that is looked at, the widget."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.axe import serious
from tests.browser.console import LIGHT, confirm, loaded, opened
from tests.browser.serving import serving
from tests.browser.shop import scripted


def test_the_first_steps_lead_to_a_model_that_is_tried_connected_and_disconnected(tmp_path: Path, page: Page) -> None:
    with scripted() as llm, serving(tmp_path, **LIGHT | {"READER_ENABLED": "false"}) as address:
        content = opened(page, address, "overview")
        steps = content.get_by_role("region", name="开始使用")
        expect(steps).to_contain_text("还有 5 步")
        loaded(content)
        assert serious(page) == []
        steps.get_by_role("link", name="接一个大模型").click()
        form = content.get_by_role("form", name="接入")
        form.get_by_label("提供商").select_option("compatible")
        form.get_by_label("模型名").fill("large")
        form.get_by_label("接口地址").fill(llm.base_url)
        form.get_by_label("密钥").fill("sk-secret")
        form.get_by_role("button", name="测试").click()
        expect(form).to_contain_text("它说")
        assert serious(page) == []
        form.get_by_role("button", name="接入").click()
        expect(content).to_contain_text("在这里接的")
        expect(form.get_by_label("密钥")).to_have_value("")
        page.goto(f"{address}/admin#/overview")
        expect(steps).to_contain_text("还有 4 步")
        page.goto(f"{address}/admin#/profile")
        expect(content).not_to_contain_text("要接大模型才起作用")
        page.goto(f"{address}/admin#/models")
        form.get_by_role("button", name="断开").click()
        confirm(page, "断开")
        expect(content).to_contain_text("还没有接")
        page.goto(f"{address}/admin#/profile")
        expect(content).to_contain_text("要接大模型才起作用")
        _look_at_a_file(page, address)
        _dress_the_widget(page, address)


def _look_at_a_file(page: Page, address: str) -> None:
    content = opened(page, address, "documents")
    content.get_by_label("导入前先看切成什么样").check()
    text = "# 退货\n\n## 运费\n\n质量问题的退货运费由商城承担。"
    content.locator("input[type=file]").set_input_files(
        files={"name": "退货.md", "mimeType": "text/markdown", "buffer": text.encode()}
    )
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("质量问题的退货运费由商城承担。")
    assert serious(page) == []
    dialog.get_by_role("button", name="导入 1 个文件").click()
    expect(content).to_contain_text("可以检索")


def _dress_the_widget(page: Page, address: str) -> None:
    content = opened(page, address, "widget")
    content.get_by_label("按钮上的字").fill("在线客服")
    content.get_by_label("中文开场白").fill("欢迎光临")
    expect(page.locator("yingda-chat .welcome")).to_contain_text("欢迎光临")
    content.get_by_role("button", name="加一条").click()
    content.get_by_label("网页路径").fill("/pricing*")
    content.get_by_label("说什么").fill("想了解价格？")
    assert serious(page) == []
    content.get_by_role("button", name="保存").click()
    expect(page.locator(".yd-toast").filter(has_text="已保存")).to_be_visible()
    page.reload()
    expect(content.get_by_label("说什么")).to_have_value("想了解价格？")
    expect(page.locator("yingda-chat .launcher")).to_be_visible()
