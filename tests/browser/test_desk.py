"""The staff desk: from the queue to the bot again, with colleagues, by keyboard, on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Route, WebSocketRoute, expect

from tests.acceptance import some
from tests.browser.console import sign_in
from tests.browser.desk import DESK, Customer, Seats
from tests.browser.payloads import CANARY, PAYLOADS
from tests.browser.serving import serving

# A page that nobody looks at, which notes what it calls by.
ELSEWHERE = """
window.calls = [];
Object.defineProperty(document, "hidden", { get: () => Boolean(window.elsewhere) });
window.Notification = class {
  static permission = "default";
  static async requestPermission() { return (window.Notification.permission = "granted"); }
  constructor(title, { body }) { window.calls.push(title + (body || "")); }
};
const start = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (at) { window.calls.push("tone"); return start.call(this, at); };
"""
KEY = "yd-0123456789abcdef0123456789abcdef"
# Settings of a server that starts at once.
LIGHT = {"EMBEDDER": "hash", "VECTOR_STORE": "memory", "SAMPLES_ENABLED": "false"}

Arrives = Callable[[str], Customer]


@pytest.fixture
def seats(browser: Browser, server: str) -> Iterator[Seats]:
    """At a desk where nobody waits: other tests of this server may have left somebody."""
    with httpx.Client(base_url=f"{server}/api/v1", timeout=20) as http:
        for waiting in http.get("/agent/sessions/pending").raise_for_status().json()["sessions"]:
            http.post(f"/conversations/{waiting['session_id']}/close", json={}).raise_for_status()
    seats = Seats(browser, server)
    yield seats
    seats.close()
    assert seats.thrown == []


@pytest.fixture
def arrives(server: str) -> Iterator[Arrives]:
    """A customer of this session; all go when the test ends."""
    there: list[Customer] = []

    def arrive(session: str) -> Customer:
        there.append(Customer(server, session))
        return there[-1]

    yield arrive
    for customer in there:
        customer.leaves()


def test_a_conversation_goes_from_the_queue_to_a_person_and_back_to_the_bot(seats: Seats, arrives: Arrives) -> None:
    amy = seats.open().enter("amy", "小艾")
    page = amy.page
    amy.is_accessible()
    customer = arrives("desk-whole")
    customer.say("退货运费谁出？")
    customer.waits()
    amy.item("desk-whole").click()  # came without a reload
    expect(page).to_have_title("(1) 人工台 · 应答")
    expect(page.locator(".desk-help")).to_contain_text("顾客要求人工")
    bot = amy.log.locator('[data-kind="bot"]').first
    bot.locator(".desk-source summary").first.click()
    expect(bot.locator(".desk-snippet").first).to_contain_text("退货")
    amy.is_accessible()

    amy.button("接入").click()
    draft = page.locator(".desk-piece").first
    expect(draft).to_contain_text("回复草稿")
    assert page.title() == "人工台 · 应答"
    draft.get_by_role("button", name="插入").click()
    expect(amy.reply).not_to_have_value("")
    amy.reply.press_sequentially("请放心。")
    amy.button("发送").click()
    expect(amy.log.locator('[data-kind="staff"]')).to_contain_text("请放心。")
    assert [text.endswith("请放心。") and "[1]" not in text for text in customer.hears(1)] == [True]
    amy.is_accessible()

    customer.say("多谢，那我寄回去了")
    expect(amy.log).to_contain_text("多谢，那我寄回去了")
    amy.button("备注").click()
    page.get_by_role("textbox", name="备注（顾客看不到）").fill("已同意免运费")
    amy.button("保存备注").click()
    expect(amy.log.locator('[data-kind="note"]')).to_contain_text("已同意免运费")
    assert "已同意免运费" not in customer.http.get("/api/v1/conversations/desk-whole/messages").text

    amy.button("解决").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("整理成知识库的答案").check()
    dialog.get_by_role("textbox", name="问题").fill("寄回的运费谁出")
    dialog.get_by_role("textbox", name="答案").fill("质量问题由我们承担。")
    amy.is_accessible()
    dialog.get_by_role("button", name="解决").click()
    expect(dialog).to_contain_text("答案已是知识缺口“寄回的运费谁出”的草稿")
    with page.expect_popup() as opened:
        dialog.get_by_role("link", name="打开草稿").click()
    expect(opened.value.get_by_label("给顾客的回答")).to_have_value("质量问题由我们承担。")
    opened.value.close()
    dialog.get_by_role("button", name="关闭").click()
    expect(page.get_by_role("navigation", name="排队")).to_contain_text("刚结束")
    [kept] = customer.http.get(f"{DESK}/desk-whole/solution").json()["solutions"]
    assert (kept["question"], kept["answer"], kept["agent_id"]) == ("寄回的运费谁出", "质量问题由我们承担。", "amy")
    gaps = customer.http.get("/api/v1/knowledge/gaps/questions").json()["questions"]
    assert kept["gap"] in [gap["id"] for gap in gaps]
    assert customer.say("退货运费谁出？")["outcome"] == "answered"


@pytest.mark.acceptance(only=True)
def test_of_two_who_accept_at_once_one_is_told_who_was_faster(seats: Seats, arrives: Arrives) -> None:
    amy, bob = seats.open().enter("amy", "小艾"), seats.open().enter("bob", "阿宝")
    customer = arrives("desk-race").waits()

    def too_late(route: Route) -> None:
        assert customer.http.post(f"{DESK}/desk-race/accept", json={"agent_id": "amy"}).status_code == 200
        route.continue_()

    bob.page.route("**/accept", too_late)
    bob.item("desk-race").click()
    bob.button("接入").click()
    expect(bob.page.locator(".yd-toasts")).to_contain_text("小艾 先接入了这个会话。（请求编号")
    expect(bob.item("desk-race")).to_have_count(0)
    expect(bob.page.locator(".desk-composer")).to_contain_text("不在您手上")
    amy.item("desk-race").click()

    amy.button("转接").click()
    dialog = amy.page.get_by_role("dialog")
    dialog.get_by_label("阿宝").check()
    dialog.get_by_label("给同事的说明").fill("只差一张发票")
    amy.is_accessible()
    dialog.get_by_role("button", name="转接", exact=True).click()
    expect(bob.item("desk-race")).to_be_visible()
    expect(bob.log).to_contain_text("只差一张发票")
    bob.button("转接").click()
    dialog = bob.page.get_by_role("dialog")
    dialog.get_by_role("button", name="退回队列").click()
    dialog.get_by_label("需要的技能").fill("发票")
    dialog.get_by_role("button", name="转接", exact=True).click()
    expect(amy.item("desk-race")).to_contain_text("发票")
    assert customer.http.get(f"{DESK}/desk-race").json()["skill"] == "发票"


def test_a_broken_line_is_shown_and_nothing_is_lost_or_sent_twice(seats: Seats, arrives: Arrives) -> None:
    amy = seats.open()
    lines: list[WebSocketRoute] = []
    broken: list[bool] = []

    def between(line: WebSocketRoute) -> None:
        if broken:
            line.close()
            return
        lines.append(line)
        line.connect_to_server()

    amy.page.route_web_socket("**/agent/ws*", between)
    amy.enter("amy", "小艾")
    customer = arrives("desk-lost").waits()
    amy.take("desk-lost")
    broken.append(True)
    amy.page.route("**/api/v1/**", lambda route: route.abort())
    lines[-1].close()
    banner = amy.page.locator('.desk-banner[data-state="lost"]')
    expect(banner).to_contain_text("已断线")
    amy.is_accessible()
    amy.send("我在，请稍等")
    expect(amy.log.locator('[data-kind="pending"]')).to_contain_text("恢复连接后自动重发")
    customer.say("还在吗")
    later = arrives("desk-later").waits()
    assert customer.hears() == []
    broken.clear()
    amy.page.unroute("**/api/v1/**")
    expect(amy.page.locator(".desk-banner")).to_have_count(0)
    expect(amy.log).to_contain_text("还在吗")
    expect(amy.log.locator('[data-kind="staff"]')).to_have_text(re.compile("我在，请稍等$"))
    expect(amy.log.locator('[data-kind="pending"]')).to_have_count(0)
    expect(amy.item(later.session)).to_be_visible()
    assert customer.hears(1) == ["我在，请稍等"]


@pytest.mark.acceptance(only=True)
def test_several_conversations_are_served_by_keyboard_alone(seats: Seats, arrives: Arrives) -> None:
    first, second = arrives("desk-keys-1").waits(), arrives("desk-keys-2").waits()
    kim = seats.open().enter("kim", "小金")
    keys = kim.page.keyboard
    kim.item(first.session).focus()
    keys.press("Enter")
    keys.press("Alt+a")
    expect(kim.reply).to_be_focused()
    keys.press("Escape")
    kim.item(second.session).focus()
    keys.press("Enter")
    keys.press("Alt+a")
    expect(kim.reply).to_be_focused()
    keys.type("写给第二位")
    keys.press("Alt+1")
    expect(kim.item(first.session)).to_have_attribute("aria-current", "true")
    expect(kim.reply).to_have_value("")
    keys.type("写给第一位")
    keys.press("Control+Enter")
    expect(kim.log.locator('[data-kind="staff"]')).to_contain_text("写给第一位")
    assert first.hears(1) == ["写给第一位"]
    keys.press("Escape")
    keys.press("j")
    expect(kim.item(second.session)).to_have_attribute("aria-current", "true")
    expect(kim.reply).to_have_value("写给第二位")
    first.say("收到")  # while another one is shown
    expect(kim.item(first.session)).to_contain_text("1 条未读")
    expect(kim.page).to_have_title("(1) 人工台 · 应答")
    kim.page.reload()
    kim.ready()
    kim.item(second.session).click()
    expect(kim.reply).to_have_value("写给第二位")  # unsent text outlives the page
    keys.press("?")
    expect(kim.page.get_by_role("dialog", name="键盘快捷键")).to_be_visible()
    kim.is_accessible()
    keys.press("Escape")
    keys.press("Alt+n")
    expect(kim.page.get_by_role("textbox", name="备注（顾客看不到）")).to_be_focused()
    keys.press("Escape")
    keys.press("Alt+r")
    keys.press("Tab")
    kim.page.get_by_role("dialog").get_by_role("button", name="解决").focus()
    keys.press("Enter")
    expect(kim.page.locator(".yd-toasts")).to_contain_text("会话已解决")


@pytest.mark.acceptance(only=True)
def test_whoever_looks_elsewhere_is_called_without_a_word_of_the_customer(seats: Seats, arrives: Arrives) -> None:
    amy = seats.open()
    amy.page.add_init_script(ELSEWHERE)
    amy.enter("amy", "小艾")
    amy.page.get_by_title("我的设置").click()
    amy.button("允许桌面通知").click()
    expect(amy.page.get_by_role("dialog")).to_contain_text("桌面通知已开启")
    amy.page.keyboard.press("Escape")
    amy.page.evaluate("window.elsewhere = true")
    customer = arrives("desk-alert").waits()
    expect(amy.page).to_have_title("(1) 人工台 · 应答")
    assert amy.page.evaluate("window.calls") == ["tone", "tone", "有顾客在排队"]
    amy.take("desk-alert")
    amy.button("关闭提示音").click()
    amy.page.evaluate("window.calls = []")
    customer.say("我的手机号是 13800138000")
    expect(amy.page).to_have_title("(1) 人工台 · 应答")
    assert amy.page.evaluate("window.calls") == ["顾客发来消息"]
    amy.page.evaluate("(window.elsewhere = false, document.dispatchEvent(new Event('visibilitychange')))")
    expect(amy.page).to_have_title("人工台 · 应答")


@pytest.mark.acceptance(only=True)
def test_canned_replies_are_kept_on_the_server_and_found_by_a_stroke(seats: Seats, arrives: Arrives) -> None:
    amy = seats.open().enter("amy", "小艾")
    page = amy.page
    amy.button("快捷回复").click()
    dialog = page.get_by_role("dialog", name="快捷回复")
    for shortcut, text in (("问好", "您好，我是客服小艾。"), ("运费", "质量问题的运费由我们承担。")):
        dialog.get_by_role("button", name="新增").click()
        dialog.get_by_label("快捷词").fill(shortcut)
        dialog.get_by_label("文字").fill(text)
        dialog.get_by_role("button", name="保存").click()
        expect(dialog.get_by_role("listitem").filter(has_text=text)).to_be_visible()
    dialog.get_by_role("button", name="新增").click()
    dialog.get_by_label("快捷词").fill("运费")
    dialog.get_by_label("文字").fill("重复")
    dialog.get_by_role("button", name="保存").click()
    expect(dialog.get_by_role("alert")).to_contain_text("快捷词“运费”已经有了。请求编号")
    amy.is_accessible()
    dialog.get_by_role("button", name="取消").click()
    page.keyboard.press("Escape")
    customer = arrives("desk-canned").waits()
    amy.take("desk-canned")
    amy.reply.fill("/运")
    expect(page.get_by_role("option")).to_have_count(1)
    amy.is_accessible()
    amy.reply.press("Enter")
    expect(amy.reply).to_have_value("质量问题的运费由我们承担。")
    amy.reply.press("Control+Enter")
    expect(amy.log.locator('[data-kind="staff"]')).to_contain_text("运费由我们承担")
    assert customer.hears(1) == ["质量问题的运费由我们承担。"]
    amy.button("快捷回复").click()
    dialog.get_by_role("button", name="删除 运费").click()
    page.get_by_role("dialog", name="删除").get_by_role("button", name="删除").click()
    expect(dialog.get_by_role("listitem")).to_have_count(1)


@pytest.mark.acceptance(only=True)
def test_on_a_phone_one_column_is_shown_at_a_time(seats: Seats, arrives: Arrives) -> None:
    customer = arrives("desk-phone").waits()
    amy = seats.open(viewport={"width": 390, "height": 844}, locale="en", color_scheme="dark")
    page = amy.page
    page.goto(amy.address + "/desk")
    page.get_by_label("Display name").fill("Amy")
    page.get_by_label("Staff id").fill("amy")
    page.get_by_role("button", name="Start serving").click()
    amy.ready()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    amy.is_accessible()
    amy.item("desk-phone").click()
    expect(amy.item("desk-phone")).to_be_hidden()
    expect(page.locator(".desk-help")).to_be_hidden()
    amy.button("Accept").click()
    page.get_by_role("textbox", name="Reply").fill("Hello")
    amy.button("Send").click()
    expect(amy.log).to_contain_text("Hello")
    assert customer.hears(1) == ["Hello"]
    amy.is_accessible()
    page.get_by_role("navigation", name="Views").get_by_role("button", name="Customer and help").click()
    expect(page.locator(".desk-help")).to_contain_text("Handoff card")
    expect(amy.log).to_be_hidden()
    amy.is_accessible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    amy.button("Online").click()
    expect(amy.button("Away")).to_be_visible()


@pytest.mark.acceptance
def test_nothing_that_customers_and_colleagues_write_is_run(seats: Seats, arrives: Arrives) -> None:
    amy = seats.open()
    page, asked = amy.page, list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: asked.append(CANARY + dialog.message))
    amy.enter("amy", "小艾")
    customer = arrives("desk-payloads").waits()
    amy.take("desk-payloads")
    texts = some(PAYLOADS, 6)
    for text in texts:
        customer.say(text)
        for path, name in (("messages", "content"), ("notes", "content")):
            sent = customer.http.post(f"{DESK}/desk-payloads/{path}", json={name: text, "agent_id": "amy"})
            assert sent.status_code == 201, sent.text
    canned = {"shortcut": "<img/src=x/onerror=alert(1)>", "text": texts[0]}
    made = customer.http.post("/api/v1/agent/canned", json=canned).json()
    page.reload()
    amy.ready()
    amy.item("desk-payloads").click()
    expect(amy.log.locator('[data-kind="staff"]')).to_have_count(len(texts))
    amy.reply.fill("/")
    expect(page.get_by_role("option").filter(has_text="onerror")).to_have_count(1)
    amy.button("快捷回复").click()
    amy.page.keyboard.press("Escape")
    customer.http.delete(f"/api/v1/agent/canned/{made['id']}")
    assert page.evaluate("window.__xss") is None
    assert [address for address in asked if CANARY in address] == []


@pytest.mark.acceptance(only=True)
def test_a_key_signs_in_without_being_seen_by_a_script_and_out_again(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path, **LIGHT, API_KEY=KEY) as address:
        seats = Seats(browser, address)
        amy = seats.open()
        page = amy.page
        keys = httpx.Client(base_url=address, headers={"X-API-Key": KEY})
        made = keys.post("/api/v1/keys", json={"role": "agent", "name": "人工台"}).json()
        page.goto(address + "/desk")
        amy.is_accessible()
        sign_in(page, "yd-wrong")
        expect(page.get_by_role("alert")).to_contain_text("请求编号")
        sign_in(page, made["key"])
        expect(page.get_by_role("heading", name="您是哪位客服？")).to_be_visible()
        amy.is_accessible()
        page.get_by_label("显示名称").fill("小艾")
        page.get_by_label("客服编号").fill("amy")
        amy.button("开始接待").click()
        amy.ready()
        page.reload()
        amy.ready()
        kept = page.evaluate("JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}])")
        assert made["key"] not in kept and "小艾" in kept
        page.get_by_role("button", name="我的设置：小艾").click()
        amy.is_accessible()
        amy.button("退出登录").click()
        expect(page.get_by_label("密码")).to_be_visible()
        page.reload()
        sign_in(page, made["key"])
        amy.ready()
        assert keys.delete(f"/api/v1/keys/{made['id']}").status_code == 204
        page.wait_for_timeout(600)  # how long a process may go by its copy of the keys
        amy.button("在线").click()
        expect(page.get_by_role("status")).to_contain_text("登录已失效")
        keys.close()
        seats.close()
        assert seats.thrown == []
