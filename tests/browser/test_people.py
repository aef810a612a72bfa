"""Colleagues with accounts of their own: invited in the console, at the desk by a link."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.browser.axe import serious
from tests.browser.console import LIGHT, loaded, sign_in
from tests.browser.serving import serving

KEY, PASSWORD = "the-first-admin-key", "correct horse battery"


def test_a_colleague_is_invited_chooses_a_password_and_is_at_the_desk(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path, **LIGHT, API_KEY=KEY) as address:
        page = browser.new_page(locale="zh-CN")
        page.set_default_timeout(60_000)
        page.goto(f"{address}/admin#/people")
        assert serious(page) == []
        sign_in(page, KEY)
        page.get_by_role("button", name="新建客服组").click()
        page.get_by_role("dialog").get_by_label("名称").fill("退款组")
        page.get_by_role("dialog").get_by_role("button", name="保存").click()
        expect(page.locator("main")).to_contain_text("还没有组员")
        page.get_by_role("button", name="邀请同事").first.click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("姓名").fill("小艾")
        dialog.get_by_label("账号", exact=False).first.fill("Amy")
        dialog.get_by_label("退款组").check()
        assert serious(page) == []
        dialog.get_by_role("button", name="创建并生成邀请链接").click()
        link = dialog.get_by_label("只显示这一次").input_value()
        dialog.get_by_role("button", name="我已复制").click()
        loaded(page.locator("main"))
        expect(page.get_by_role("row").filter(has_text="小艾")).to_contain_text("待设密码")

        context = browser.new_context(locale="zh-CN", viewport={"width": 390, "height": 800})
        context.set_default_timeout(60_000)
        amy = context.new_page()
        amy.goto(link)
        expect(amy.get_by_role("heading", name="设置密码")).to_be_visible()
        assert "invitation" not in amy.url and serious(amy) == []
        amy.get_by_label("新密码").fill(PASSWORD)
        amy.get_by_label("再输一遍").fill(PASSWORD + "!")
        expect(amy.get_by_role("button", name="保存并登录")).to_be_disabled()
        amy.get_by_label("再输一遍").fill(PASSWORD)
        amy.get_by_role("button", name="保存并登录").click()
        expect(amy.get_by_role("button", name="我的设置：小艾")).to_be_visible()  # nobody asks who it is
        context.close()
        page.close()
