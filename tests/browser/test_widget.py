"""The widget on a site of another origin, under that site's strict policy."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.axe import serious
from tests.browser.chatting import Chat
from tests.browser.shop import Shop

KEPT = "() => Object.entries(localStorage).find(([name]) => name.startsWith('yingda'))[1]"
QUESTION = "降噪耳机充满电要多久"


def opened(page: Page, shop: Shop, **data: str) -> Chat:
    """The site's page with the widget open."""
    page.goto(shop.site.embed(shop.server, key=shop.key, **data) + "/products/h30?order=secret")
    launcher = page.locator("yingda-chat .launcher")
    launcher.wait_for()
    if launcher.get_attribute("aria-expanded") == "false":  # it was open on the page before
        launcher.click()
    chat = Chat(page)
    expect(chat.box).to_be_enabled()
    return chat


def test_it_answers_on_a_site_that_allows_nothing_else(shop: Shop, page: Page) -> None:
    asked: list[Any] = []
    addresses: list[str] = []

    def noted(request: Request) -> None:
        addresses.append(request.url)
        if request.url.endswith("/chat/stream"):
            asked.append(request.post_data_json)

    page.on("request", noted)
    page.on("websocket", lambda socket: addresses.append(socket.url))
    chat = opened(page, shop)
    assert serious(page) == []
    answer = chat.ask(QUESTION)
    expect(answer).to_have_attribute("data-outcome", "answered")
    expect(answer).to_contain_text("90 分钟")
    expect(answer.locator(".sources")).to_contain_text("《降噪耳机说明》")
    assert asked[0]["page"] == {
        "url": f"{shop.site.address}/products/h30",
        "title": "YS-H30 降噪耳机 - 商城",
        "description": "轻便的降噪耳机",
    }
    chat.call_person()
    expect(chat.bar).to_contain_text("正在排队")
    kept = json.loads(page.evaluate(KEPT))
    assert kept["id"] == chat.session and kept["token"]
    assert not [address for address in addresses if kept["token"] in address or shop.key in address]
    assert page.context.cookies(shop.server) == []
    assert serious(page) == []


def test_a_site_narrows_answers_to_its_product(shop: Shop, page: Page) -> None:
    asked: list[Any] = []
    page.on("request", lambda sent: asked.append(sent.post_data_json) if sent.url.endswith("/chat/stream") else None)
    for document in shop.admin.get("/knowledge/documents").json()["items"]:
        assert shop.admin.patch(f"/knowledge/documents/{document['id']}", json={"product": "YS-H30"}).is_success
    chat = opened(page, shop, products="YS-H30")
    expect(chat.ask(QUESTION)).to_contain_text("90 分钟")
    assert asked[0]["filter"] == {"products": ["YS-H30"]}
    chat = opened(page, shop, folders="没有这个目录")
    chat.say(QUESTION)
    expect(page.locator("yingda-chat .delivery[data-state=failed]")).to_be_visible()


def test_the_conversation_goes_on_after_a_reload_and_is_nobody_elses(shop: Shop, page: Page) -> None:
    chat = opened(page, shop)
    chat.ask(QUESTION)
    session = chat.session
    page.reload()
    expect(chat.answers).to_have_count(1)  # what was open stays open
    assert chat.session == session
    token = page.evaluate("() => document.querySelector('yingda-chat').conversation.proof.token")
    read = f"/conversations/{session}/history"
    client = {"X-API-Key": shop.key}
    assert shop.admin.get(read, headers=client).status_code == 403
    assert shop.admin.get(read, headers=client | {"X-Session-Token": token}).status_code == 200


def test_an_answer_is_stopped_while_it_is_written(shop: Shop, page: Page) -> None:
    shop.llm._between = 0.5
    try:
        chat = opened(page, shop)
        chat.say(QUESTION)
        streaming = page.locator("yingda-chat .entry.bot[aria-busy=true] .prose")
        expect(streaming).not_to_have_text("")
        page.get_by_role("button", name="停止回答").click()
        stopped = chat.answered(0)
        expect(stopped.locator(".look")).to_have_text("已停止")
        expect(stopped.locator(".pill")).to_have_count(0)
    finally:
        shop.llm._between = 0.01
    expect(chat.ask(QUESTION)).to_have_attribute("data-outcome", "answered")


def test_staff_reach_a_customer_whose_widget_is_closed(shop: Shop, page: Page) -> None:
    chat = opened(page, shop)
    chat.call_person()
    expect(chat.bar).to_contain_text("正在排队")
    session = chat.session
    page.keyboard.press("Escape")
    launcher = page.get_by_role("button", name="打开客服对话")
    expect(launcher).to_be_focused()
    assert shop.admin.post(f"/agent/sessions/{session}/accept", json={"agent_id": "amy"}).is_success
    assert shop.admin.post(f"/agent/sessions/{session}/messages", json={"content": "您好"}).is_success
    expect(page.locator("yingda-chat .badge")).to_have_text("1")
    launcher.press("Enter")
    expect(chat.staff).to_contain_text("您好")
    expect(page.locator("yingda-chat .badge")).to_have_count(0)
    expect(chat.box).to_be_focused()


def test_it_speaks_first_and_keeps_what_was_said_before(shop: Shop, page: Page) -> None:
    look = {
        "accent": "#0a7a4b",
        "label": "客服",
        "greeting_zh": "欢迎光临",
        "proactive": [{"page": "/products/*", "seconds": 0, "message": "想了解降噪耳机吗？"}],
    }
    assert shop.admin.put("/widget", json=look).is_success
    try:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.goto(shop.site.embed(shop.server, key=shop.key) + "/products/h30")
        nudge = page.locator("yingda-chat .nudge")
        expect(nudge).to_contain_text("想了解降噪耳机吗？")
        assert serious(page) == []
        nudge.get_by_role("button", name="想了解").click()
        chat = Chat(page)
        expect(page.locator("yingda-chat .welcome")).to_contain_text("欢迎光临")
        answer = chat.ask(QUESTION)
        answer.get_by_role("button", name="复制回答").click()
        expect(answer.get_by_role("button", name="已复制")).to_be_visible()
        assert "90 分钟" in page.evaluate("() => navigator.clipboard.readText()")
        page.get_by_role("button", name="新对话").click()
        chat.dialog.get_by_role("button", name="开始").click()
        expect(chat.answers).to_have_count(0)
        page.get_by_role("button", name="以前的对话").click()
        chat.dialog.get_by_role("button", name=QUESTION).click()
        expect(chat.answers).to_have_count(1)
        page.reload()
        expect(chat.answers).to_have_count(1)
        expect(nudge).to_have_count(0)
    finally:
        assert shop.admin.put("/widget", json={}).is_success


@pytest.mark.acceptance(only=True)
def test_a_site_may_choose_language_theme_and_place(shop: Shop, page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(shop.site.embed(shop.server, key=shop.key, lang="en", theme="dark", position="left", open=""))
    chat = Chat(page)
    expect(chat.box).to_have_attribute("placeholder", "Type your question…")
    assert page.locator("yingda-chat .panel").bounding_box() == {"x": 0, "y": 0, "width": 390, "height": 844}
    assert page.evaluate("() => getComputedStyle(document.querySelector('yingda-chat')).colorScheme") == "dark"
    assert serious(page) == []


@pytest.mark.acceptance(only=True)
def test_a_key_of_another_site_says_so(shop: Shop, page: Page) -> None:
    address = shop.site.embed(shop.server, key="yd-nobody").replace("localhost", "127.0.0.1")
    page.goto(address)
    page.get_by_role("button", name="打开客服对话").click()
    expect(page.locator("yingda-chat .problem")).to_be_visible()


@pytest.mark.acceptance(only=True)
def test_the_chat_page_of_a_server_with_keys_says_that_it_needs_one(shop: Shop, page: Page) -> None:
    page.goto(shop.server)
    expect(page.locator("yingda-chat .problem")).to_contain_text("请联系网站的管理员")
    assert serious(page) == []
    chat = Chat(page).open(f"{shop.server}/?key={shop.key}")
    assert shop.key not in page.url
    answer = chat.ask(QUESTION)
    expect(answer).to_have_attribute("data-outcome", "answered")
    expect(answer.get_by_role("button", name="这一轮怎么决定的")).to_have_count(0)
    cookies = page.context.cookies()
    assert [(cookie["name"], cookie["httpOnly"], cookie["sameSite"]) for cookie in cookies] == [
        ("yingda-session", True, "Strict")
    ]
    page.reload()
    expect(chat.answers).to_have_count(1)
