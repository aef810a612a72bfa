"""All sections: what they show of a server that was talked to, on every screen, for everybody."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import serious
from tests.browser.console import SECTIONS, confirm, loaded, opened

REASON = "没说清多少钱"


@pytest.fixture(scope="module")
def talked(server: str) -> Iterator[str]:
    """The server once customers asked it, rated it and left a ticket."""
    with httpx.Client(base_url=server, timeout=30) as http:
        answered = http.post("/api/v1/chat", json={"message": "退货运费谁出？", "channel": "app"}).json()
        vote = f"/api/v1/conversations/{answered['session_id']}/messages/{answered['message_id']}/feedback"
        assert http.put(vote, json={"rating": "down", "reason": REASON}).status_code == 204
        http.post("/api/v1/chat", json={"message": "你们在火星有分店吗"})
        http.post("/api/v1/tickets", json={"subject": "空调不制冷", "priority": "urgent"})
    yield server


def test_a_conversation_shows_its_votes_and_how_each_reply_was_decided(talked: str, page: Page) -> None:
    content = opened(page, talked, "conversations?rating=down&channel=app")
    link = content.get_by_role("link", name="退货运费谁出？")
    address = link.get_attribute("href")
    row = content.get_by_role("row").filter(has=page.get_by_role("link", name="退货运费谁出？"))
    expect(row).to_contain_text("被踩")
    row.get_by_role("checkbox").check()
    content.get_by_role("button", name="加标签").click()
    page.get_by_role("dialog").get_by_label("给选中的 1 个会话加上：").fill("催发货")
    page.get_by_role("dialog").get_by_role("button", name="加上").click()
    row.get_by_role("link", name="催发货").click()
    expect(content.get_by_role("button", name="标签 催发货")).to_be_visible()
    link.click()
    expect(content).to_contain_text(f"踩：{REASON}")
    content.get_by_role("button", name="怎么答的").click()
    trace = page.get_by_role("dialog", name="怎么答的")
    expect(trace.locator(".ad-step-title").first).to_contain_text("读懂问题")
    expect(trace.locator(".ad-candidate").first).to_contain_text("运费")
    expect(trace).to_contain_text("计算向量")
    assert serious(page) == []
    page.keyboard.press("Escape")
    expect(trace).to_have_count(0)
    content.get_by_role("button", name="删除").click()
    confirm(page, "删除")
    expect(content.get_by_role("heading", level=1, name="会话")).to_be_visible()
    expect(content.get_by_role("link").first).to_be_visible()
    expect(content.locator(f'a[href="{address}"]')).to_have_count(0)


@pytest.mark.acceptance(only=True)
def test_a_ticket_is_commented_moved_and_found_again(talked: str, page: Page) -> None:
    content = opened(page, talked, "tickets?priority=urgent")
    content.get_by_role("link", name="空调不制冷").click()
    content.get_by_role("textbox", name="备注").fill("已联系师傅")
    content.get_by_role("button", name="添加备注").click()
    expect(content.get_by_role("list")).to_contain_text(["已联系师傅"])
    content.get_by_role("button", name="已关闭").click()
    confirm(page, "已关闭")
    expect(content.get_by_role("button", name="重新打开")).to_be_visible()
    opened(page, talked, "tickets?state=closed")
    expect(content.get_by_role("link", name="空调不制冷")).to_be_visible()


def test_the_dashboard_has_figures_charts_and_the_same_as_tables(talked: str, page: Page) -> None:
    content = opened(page, talked, "overview?range=hour")
    turns = content.locator(".ad-figure").filter(has_text="对话轮数").locator(".ad-figure-value")
    for _ in range(30):
        loaded(content)
        if turns.inner_text() != "0":
            break
        content.get_by_role("button", name="刷新").click()
        page.wait_for_timeout(500)
    expect(turns).not_to_have_text("0")
    chart = content.locator("figure").filter(has_text="对话怎样结束")
    expect(chart.locator("canvas")).to_be_visible()
    chart.get_by_text("看数字").click()
    expect(chart.get_by_role("row").nth(1)).to_contain_text(":")
    expect(content.get_by_role("table", name="一轮里每一步花的时间")).to_contain_text("计算向量")


def test_nothing_serious_is_found_on_any_section(talked: str, page: Page) -> None:
    for section in SECTIONS:
        loaded(opened(page, talked, section))
        assert serious(page) == [], section


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    """A narrow dark screen of somebody who reads English."""
    context = browser.new_context(
        locale="en-GB", reduced_motion="reduce", color_scheme="dark", viewport={"width": 390, "height": 844}
    )
    yield context.new_page()
    context.close()


@pytest.mark.acceptance(only=True)
def test_on_a_phone_in_english_every_section_fits_and_is_reached_by_the_menu(talked: str, phone: Page) -> None:
    content = opened(phone, talked, "overview")
    for section in SECTIONS:
        phone.get_by_role("button", name="Menu").click()
        phone.get_by_role("navigation", name="Sections").locator(f"li a[href='#/{section}']").click()
        expect(phone.locator(f"nav li a[href='#/{section}']")).to_have_attribute("aria-current", "page")
        loaded(content)
        assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth"), section
        assert not any("\u4e00" <= sign <= "\u9fff" for sign in content.get_by_role("heading", level=1).inner_text())
        assert serious(phone) == [], section


@pytest.mark.acceptance(only=True)
def test_it_is_used_without_a_mouse(talked: str, page: Page) -> None:
    content = opened(page, talked, "documents")
    loaded(content)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="跳到内容")).to_be_focused()
    page.keyboard.press("Enter")
    expect(content).to_be_focused()
    link = content.get_by_role("table").get_by_role("link").first
    name = link.inner_text()
    for _ in range(20):
        page.keyboard.press("Tab")
        if link.evaluate("(element) => element === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(content.get_by_role("heading", level=1, name=name)).to_be_visible()
    content.get_by_role("button", name="删除").press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(content.get_by_role("button", name="删除")).to_be_focused()


@pytest.mark.acceptance(only=True)
def test_an_error_is_told_in_words_with_its_request_id(talked: str, page: Page) -> None:
    content = opened(page, talked, "documents/none")
    failure = content.get_by_role("alert")
    expect(failure).to_contain_text("文档")
    expect(failure).to_contain_text("请求编号")
    page.context.set_offline(True)
    failure.get_by_role("button", name="重试").click()
    expect(content.get_by_role("alert")).to_contain_text("连不上服务器")
    page.context.set_offline(False)
