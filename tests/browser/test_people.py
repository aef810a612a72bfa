"""Colleagues with accounts of their own: invited in the console, at the desk by a link, a transfer to their team."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.browser.axe import serious
from tests.browser.console import LIGHT, loaded, sign_in
from tests.browser.desk import Customer
from tests.browser.serving import serving

KEY, PASSWORD = "the-first-admin-key", "correct horse battery"


def test_a_colleague_is_invited_chooses_a_password_and_serves_for_a_team(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path, **LIGHT, API_KEY=KEY) as address:
        page = browser.new_page(locale="zh-CN")
        page.goto(f"{address}/admin#/people")
        assert serious(page) == []
        sign_in(page, KEY)
        page.get_by_role("button", name="新建客服组").click()
        page.get_by_role("dialog").get_by_label("名称").fill("退款组")
        page.get_by_role("dialog").get_by_role("button", name="保存").click()
        expect(page.locator("main")).to_contain_text("还没有组员")
        page.get_by_role("button", name="邀请同事").click()
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

        customer = Customer(address, "for-refunds")
        customer.http.headers["X-API-Key"] = KEY
        customer.waits()
        staff = {"agent_id": "boss"}
        place = f"/api/v1/agent/sessions/{customer.session}"
        customer.http.post(f"{place}/accept", json=staff)
        team = customer.http.get("/api/v1/agent/teams").json()["teams"][0]["id"]
        assert customer.http.post(f"{place}/transfer", json={"team": team}).status_code == 200
        amy.locator('[data-session="for-refunds"]').click()
        amy.get_by_role("button", name="接入", exact=True).last.click()
        amy.get_by_role("button", name="转接").first.click()
        moving = amy.get_by_role("dialog")
        moving.get_by_role("button", name="转给客服组或退回队列").click()
        moving.get_by_label("客服组", exact=True).select_option(label="退款组（1 人）")
        assert serious(amy) == []
        moving.get_by_role("button", name="转接", exact=True).click()
        expect(amy.get_by_text("已转接")).to_be_visible()
        assert customer.http.get(place).json()["team"] == team

        amy.get_by_role("button", name="我的设置：小艾").click()
        amy.get_by_role("button", name="我的账号").click()
        assert serious(amy) == []
        amy.get_by_role("button", name="在所有设备上退出").click()
        expect(amy.get_by_label("密码")).to_be_visible()
        amy.get_by_label("账号", exact=True).fill("amy")
        amy.get_by_label("密码").fill(PASSWORD)
        amy.get_by_role("button", name="登录", exact=True).click()
        expect(amy.get_by_role("button", name="我的设置：小艾")).to_be_visible()

        page.get_by_role("button", name="停用 小艾").click()
        page.get_by_role("dialog").get_by_role("button", name="停用").click()
        expect(amy.get_by_role("status").filter(has_text="登录已失效")).to_be_visible()
        customer.http.close()
        context.close()
        page.close()
