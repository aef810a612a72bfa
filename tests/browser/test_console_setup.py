"""Who may enter the console, and what is set up in it: keys, webhooks, the cache, the assistant."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from knowledge.sheets import read_sheet
from tests.browser.console import LIGHT, confirm, loaded, opened, sign_in
from tests.browser.serving import serving

STAFF_SECTIONS = [
    "文档",
    "数据来源",
    "精选问答",
    "命中测试",
    "词表",
    "质量检查",
    "检索调优",
    "评测",
    "知识缺口",
    "会话",
    "工单",
    "助手设定",
    "定时任务",
]


class _Receiver(BaseHTTPRequestHandler):
    """Takes whatever it is told."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing is to be read in the tests."""


@pytest.fixture(scope="module")
def receiver() -> Iterator[str]:
    """Address of somebody else's server."""
    with HTTPServer(("127.0.0.1", 0), _Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hook"
        server.shutdown()


@dataclass(frozen=True, slots=True)
class Company:
    """A server that asks for keys since its first one was made in the console, and that administrator's key."""

    address: str
    key: str

    def status(self, key: str = "") -> int:
        """What somebody with this key is answered."""
        return httpx.get(f"{self.address}/api/v1/tickets", headers={"X-API-Key": key} if key else {}).status_code


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Company]:
    """Its first key is made in the console."""
    directory = tmp_path_factory.mktemp("company")
    page = browser.new_page(locale="zh-CN")
    with serving(directory, WEBHOOK_ALLOW_PRIVATE="true", **LIGHT) as address, page.context:
        content = opened(page, address, "keys")
        dialog = page.get_by_role("dialog")
        content.get_by_role("button", name="新建密钥").first.click()
        expect(dialog.get_by_role("radio", name="网页与应用")).to_be_disabled()
        key = made(page, "店长")
        expect(content.get_by_role("row").filter(has_text="店长")).to_contain_text("您正在用它")
        yield Company(address, key)


def made(page: Page, name: str) -> str:
    """The key that the open dialog makes."""
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("名称").fill(name)
    dialog.get_by_role("button", name="创建").click()
    key = dialog.get_by_label("只显示这一次").input_value()
    dialog.get_by_role("button", name="我已保存好").click()
    return key


def entered(page: Page, company: Company, section: str) -> None:
    """The section, as the administrator."""
    page.goto(f"{company.address}/admin#/{section}")
    sign_in(page, company.key)


def test_with_the_first_key_everybody_signs_in_and_out_again(company: Company, page: Page) -> None:
    assert (company.status(), company.status(company.key)) == (401, 200)
    page.goto(f"{company.address}/admin")
    sign_in(page, "yd-wrong")
    failure = page.get_by_role("alert").first
    expect(failure).to_contain_text("密钥不对")
    expect(failure).to_contain_text("请求编号")
    sign_in(page, company.key)
    expect(page.get_by_role("heading", level=1, name="概览")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", level=1, name="概览")).to_be_visible()
    assert page.evaluate("document.cookie + JSON.stringify(localStorage)").count(company.key) == 0
    page.get_by_role("button", name="退出登录").click()
    expect(page.get_by_role("button", name="登录", exact=True)).to_be_visible()


@pytest.mark.acceptance(only=True)
def test_a_key_is_made_shown_once_used_and_revoked(company: Company, browser: Browser, page: Page) -> None:
    entered(page, company, "keys")
    page.get_by_role("button", name="新建密钥").click()
    page.get_by_role("dialog").get_by_role("radio", name="客服").check()
    key = made(page, "客服小李")
    assert company.status(key) == 200

    staff = browser.new_page(locale="zh-CN")
    staff.goto(f"{company.address}/admin#/tickets")
    sign_in(staff, key)
    expect(staff.get_by_role("heading", level=1, name="工单")).to_be_visible()
    expect(staff.get_by_role("navigation").first.get_by_role("link")).to_have_text(STAFF_SECTIONS)

    row = page.get_by_role("row").filter(has_text="客服小李")
    page.get_by_role("searchbox", name="搜索名称").fill("小李")
    expect(page.locator("tbody tr")).to_have_count(1)
    row.get_by_role("button", name="停用").click()
    confirm(page, "停用")
    expect(row).to_contain_text("已停用")
    assert company.status(key) == 401
    staff.get_by_role("link", name="会话").click()
    expect(staff.get_by_role("button", name="登录", exact=True)).to_be_visible()
    staff.context.close()


def test_a_key_is_narrowed_dated_and_rotated_and_the_audit_log_tells_it(company: Company, page: Page) -> None:
    entered(page, company, "keys")
    page.get_by_role("button", name="新建密钥").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="客服").check()
    dialog.get_by_text("权限范围").click()
    dialog.get_by_role("checkbox", name="人工台与工单").check()
    old = made(page, "客服小王")
    row = page.get_by_role("row").filter(has_text="客服小王")
    expect(row).to_contain_text("人工台与工单")
    expect(row).to_contain_text("不到期")

    row.get_by_role("button", name="修改").click()
    dialog.get_by_label("到期时间").fill("2030-05-06T07:08")
    dialog.get_by_role("button", name="保存").click()
    expect(row).to_contain_text("2030")
    row.get_by_role("button", name="轮换").click()
    dialog.get_by_label("原来的还能用几小时").fill("0")
    dialog.get_by_role("button", name="轮换").click()
    new = dialog.get_by_label("只显示这一次").input_value()
    dialog.get_by_role("button", name="我已保存好").click()
    assert (company.status(old), company.status(new)) == (401, 200)

    page.get_by_role("link", name="审计日志").click()
    actions = page.locator("tbody tr")
    expect(actions.nth(0)).to_contain_text("店长 轮换了密钥「客服小王」")
    expect(actions.nth(1)).to_contain_text("店长 修改了密钥「客服小王」：")
    page.get_by_role("searchbox", name="按名称或编号找").fill("小王")
    page.get_by_label("谁").select_option(label="店长")
    page.get_by_label("对象").select_option(label="密钥")
    expect(page).to_have_url(re.compile("(?=.*q=)(?=.*actor=)(?=.*kind=key)"))
    expect(actions).to_have_count(3)
    expect(actions.last).to_contain_text("做了")
    with page.expect_download() as kept:
        page.get_by_role("link", name="导出 CSV").click()
    rows = read_sheet("a.csv", Path(kept.value.path()).read_bytes()).rows
    assert [row.cells["说明"] for row in rows][-1] == "店长 新建了密钥「客服小王」" and len(rows) == 3
    page.get_by_label("从").fill("2030-01-01")
    expect(page.locator("main")).to_contain_text("没有符合条件的内容")
    page.get_by_role("button", name="English").click()
    page.get_by_role("button", name="Clear filters").click()
    expect(actions.first).to_contain_text("店长 rotated the key “客服小王”")
    page.get_by_role("button", name="中文").click()


@pytest.mark.acceptance(only=True)
def test_a_webhook_is_made_tried_and_its_deliveries_are_listed(company: Company, receiver: str, page: Page) -> None:
    entered(page, company, "webhooks")
    page.get_by_role("button", name="新建 Webhook").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("接收地址").fill(receiver)
    dialog.get_by_label("新工单").check()
    dialog.get_by_role("button", name="创建").click()
    assert len(dialog.get_by_label("只显示这一次").input_value()) >= 16
    dialog.get_by_role("button", name="我已保存好").click()
    page.get_by_role("link", name=receiver).click()
    page.get_by_role("button", name="试送一次").click()
    expect(page.locator(".yd-toast").first).to_contain_text("送到了，对方回了 204")

    httpx.post(f"{company.address}/api/v1/tickets", json={"subject": "空调不制冷"}, headers={"X-API-Key": company.key})
    delivery = page.get_by_role("row").filter(has_text="ticket.created")

    def delivered() -> bool:
        page.reload()
        page.get_by_role("heading", name="投递记录").wait_for()
        loaded(page.locator("main"))
        return delivery.filter(has_text="已送达").count() == 1

    assert any(delivered() for _ in range(20))
    page.get_by_role("button", name="删除").click()
    confirm(page, "删除")
    expect(page.get_by_role("heading", level=1, name="Webhook")).to_be_visible()
    expect(page.locator("main")).to_contain_text("还没有 Webhook")


@pytest.mark.acceptance(only=True)
def test_a_changed_profile_is_seen_in_the_try_out_beside_it(server: str, page: Page) -> None:
    content = opened(page, server, "profile")
    beside = content.get_by_role("complementary", name="试一试")
    expect(beside).to_contain_text("请问有什么可以帮您")
    content.get_by_label("开场白").fill("您好，这里是云笙商城。")
    content.get_by_label("不谈的话题（每行一个）").fill("股票")
    content.get_by_role("button", name="加一段时间").click()
    expect(beside).to_contain_text("先保存")
    content.get_by_role("button", name="保存").click()
    expect(beside.get_by_role("log")).to_contain_text("您好，这里是云笙商城。")
    beside.get_by_role("textbox").fill("退货运费谁出")
    beside.get_by_role("button", name="发送").click()
    expect(beside.get_by_role("log")).to_contain_text("已回答")
    beside.get_by_role("button", name="怎么答的").click()
    expect(page.get_by_role("dialog", name="怎么答的")).to_contain_text("退货运费谁出")
    assert httpx.get(f"{server}/api/v1/profile").json()["business_hours"] == ["1-5 09:00-18:00"]
    httpx.put(f"{server}/api/v1/profile", json={})


@pytest.mark.acceptance(only=True)
def test_cached_answers_are_cleared_once_that_is_confirmed(server: str, page: Page) -> None:
    for _ in range(2):
        httpx.post(f"{server}/api/v1/chat", json={"message": "发票怎么开"})
    content = opened(page, server, "cache")
    size = content.locator(".ad-figure").filter(has_text="存着的回答").locator(".ad-figure-value")
    expect(size).not_to_have_text("0")
    before = int(size.inner_text())
    content.get_by_label("问题").fill("发票怎么开")
    content.get_by_role("button", name="清除").first.click()
    confirm(page, "清除")
    expect(page.locator(".yd-toast")).to_contain_text("已清除 1 条缓存的回答")
    expect(size).to_have_text(str(before - 1))
    content.get_by_role("button", name="清除").last.click()
    confirm(page, "清除")
    expect(size).to_have_text("0")
