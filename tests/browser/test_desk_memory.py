"""What the desk remembers and finds again: after a reload, of customers, and of conversations that are over."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.acceptance import some
from tests.browser.desk import DESK, Customer, Seats
from tests.browser.payloads import CANARY, PAYLOADS

AGENT = "/api/v1/agent"
PLACE = {"url": "https://shop.example/p/9?token=hidden", "title": "降噪耳机 商品页"}


@pytest.fixture
def seats(browser: Browser, light: str) -> Iterator[Seats]:
    seats = Seats(browser, light)
    yield seats
    seats.close()
    assert seats.thrown == []


@pytest.fixture
def customers(light: str) -> Iterator[list[Customer]]:
    there: list[Customer] = []
    yield there
    for customer in there:
        customer.leaves()


def arrive(there: list[Customer], address: str, session: str) -> Customer:
    there.append(Customer(address, session))
    asked = {"message": "耳机坏了怎么办", "session_id": session, "page": PLACE, "channel": "web"}
    assert there[-1].http.post("/api/v1/chat", json=asked).status_code == 200
    return there[-1].waits()


def test_a_reload_loses_nothing(seats: Seats, customers: list[Customer], light: str) -> None:
    first, second = arrive(customers, light, "memory-1"), arrive(customers, light, "memory-2")
    amy = seats.open().enter("amy", "小艾")
    amy.take("memory-1")
    amy.take("memory-2")
    first.say("还在吗")
    first.say("急用")
    expect(amy.item("memory-1")).to_contain_text("2 条未读")
    amy.page.reload()
    amy.ready()
    expect(amy.item("memory-1")).to_contain_text("2 条未读")
    expect(amy.item("memory-1")).to_contain_text("急用")
    expect(amy.page).to_have_title("(2) 人工台 · 应答")
    expect(amy.item("memory-2")).to_have_attribute("aria-current", "true")  # the address says what was open
    amy.item("memory-1").click()
    expect(amy.page).to_have_title("人工台 · 应答")
    amy.reply.fill("没写完的话")
    elsewhere = amy.page.context.new_page()
    elsewhere.goto(light + "/desk")
    expect(elsewhere.locator('[data-session="memory-1"]')).to_be_visible()
    expect(elsewhere).to_have_title("人工台 · 应答")
    elsewhere.close()
    amy.page.reload()
    amy.ready()
    expect(amy.reply).to_have_value("没写完的话")
    amy.reply.press("Enter")  # sends, by the setting of those who never chose
    assert first.hears(1) == ["没写完的话"]
    amy.button("解决").click()
    dialog = amy.page.get_by_role("dialog")
    expect(dialog.get_by_label("处理结果（同事可见）")).to_be_focused()
    dialog.get_by_role("button", name="解决").click()
    expect(amy.page.get_by_role("region", name="刚结束")).to_contain_text("没写完的话")
    amy.page.reload()
    amy.ready()
    expect(amy.page.get_by_role("region", name="刚结束")).to_contain_text("没写完的话")
    bob = seats.open().enter("bob", "阿宝")
    bob.page.goto(light + "/desk#/conversation/memory-2")
    amy.item("memory-2").click()
    expect(amy.page.locator(".desk-viewers")).to_have_text("阿宝正在看")
    bob.page.get_by_role("button", name="历史", exact=True).click()
    bob.page.close()
    expect(amy.page.locator(".desk-viewers")).to_have_count(0)
    assert second.session == "memory-2"


def test_a_customer_is_named_labelled_put_aside_and_found_again(
    seats: Seats, customers: list[Customer], light: str
) -> None:
    customer = arrive(customers, light, "memory-named")
    amy = seats.open().enter("amy", "小艾")
    page = amy.page
    amy.take("memory-named")
    help = page.locator(".desk-help")
    expect(page.locator(".desk-head h2")).to_contain_text("访客 ")
    expect(help.get_by_role("link", name="降噪耳机 商品页")).to_have_attribute("href", "https://shop.example/p/9")
    help.get_by_role("button", name="起名").click()
    name = page.get_by_role("dialog").get_by_label("怎么称呼这位顾客")
    expect(name).to_be_focused()
    name.fill("王总")
    name.press("Enter")
    expect(page.locator(".desk-head h2")).to_have_text("王总")
    expect(amy.item("memory-named")).to_contain_text("王总")
    page.wait_for_load_state("networkidle")  # the panel is drawn anew with the name
    label = help.get_by_label("标签", exact=True)
    label.fill("换货")
    label.press("Enter")
    expect(help.locator(".desk-label").filter(has_text="换货")).to_be_visible()
    expect(amy.item("memory-named")).to_contain_text("换货")
    help.get_by_role("button", name="紧急").click()
    expect(help.get_by_role("button", name="紧急")).to_have_attribute("aria-pressed", "true")
    amy.is_accessible()
    help.get_by_text("稍后处理").click()
    help.get_by_role("button", name="1 小时后").click()
    aside = page.get_by_role("region", name="稍后处理")
    expect(aside).to_contain_text("王总")
    customer.say("怎么样了")
    expect(aside).to_have_count(0)
    amy.send("这就给您换")
    assert customer.hears(1) == ["这就给您换"]
    amy.button("解决").click()
    page.get_by_role("dialog").get_by_role("button", name="解决").click()
    expect(page.locator(".yd-toasts")).to_contain_text("会话已解决")
    page.get_by_role("button", name="历史", exact=True).click()
    search = page.get_by_label("说过的话、单号、顾客")
    search.fill("给您换")
    search.press("Enter")
    found = page.locator(".desk-found")
    expect(found).to_have_count(1)
    expect(found).to_contain_text("这就给您换")
    amy.is_accessible()
    page.locator(".desk-history summary").click()
    page.locator(".desk-filters").get_by_label("标签").select_option("换货")
    page.get_by_role("button", name="存为视图").click()
    page.get_by_label("视图名称").fill("换货的")
    page.get_by_role("dialog").get_by_role("button", name="保存").click()
    page.get_by_role("button", name="清除筛选").click()
    page.get_by_role("button", name="换货的", exact=True).click()
    expect(found).to_have_count(1)
    found.click()
    expect(amy.log).to_contain_text("这就给您换")
    page.locator(".desk-head h2 a").click()
    contact = page.get_by_role("region", name="顾客主页")
    expect(contact.get_by_role("heading", name="王总")).to_be_visible()
    expect(contact).to_contain_text("降噪耳机 商品页")
    amy.is_accessible()
    page.get_by_role("button", name="删除 换货的").click()
    page.get_by_role("dialog").get_by_role("button", name="删除").click()
    expect(page.get_by_role("button", name="换货的", exact=True)).to_have_count(0)


def test_replies_are_made_of_what_is_known(seats: Seats, customers: list[Customer], light: str) -> None:
    customer = arrive(customers, light, "memory-variables")
    canned = {"shortcut": "问候", "text": "{顾客}您好，我是{客服}，工单 {工单} 已登记"}
    kept = httpx.post(f"{light}{AGENT}/canned", json=canned).json()
    httpx.put(f"{light}{DESK}/memory-variables/contact", json={"name": "王总", "labels": []})
    amy = seats.open().enter("amy", "小艾")
    amy.take("memory-variables")
    ticket = httpx.get(f"{light}{DESK}/memory-variables").json()["ticket"]
    amy.reply.fill("/问候")
    amy.reply.press("Enter")
    expect(amy.reply).to_have_value(f"王总您好，我是小艾，工单 {ticket or '{工单}'} 已登记")
    amy.reply.fill("王总您好，工单 {工单} 已登记")
    amy.reply.press("Enter")
    expect(amy.page.locator(".yd-toasts")).to_contain_text("还有没填的地方：{工单}")
    assert customer.hears() == []
    amy.reply.fill("好的")
    amy.page.get_by_role("button", name="表情").click()
    amy.is_accessible()
    amy.page.get_by_role("button", name="👍").click()
    expect(amy.reply).to_have_value("好的👍")
    amy.reply.press("Shift+Enter")
    expect(amy.reply).to_have_value("好的👍\n")
    amy.page.get_by_role("button", name="我的设置：小艾").click()
    amy.button("Ctrl+Enter").click()
    amy.page.keyboard.press("Escape")
    amy.reply.press("Enter")
    amy.reply.press("Control+Enter")
    assert customer.hears(1) == ["好的👍"]
    httpx.delete(f"{light}{AGENT}/canned/{kept['id']}")


def test_on_a_phone_history_and_customer_are_one_column(seats: Seats, customers: list[Customer], light: str) -> None:
    arrive(customers, light, "memory-phone")
    amy = seats.open(viewport={"width": 390, "height": 844}, color_scheme="dark").enter("amy", "小艾")
    page = amy.page
    page.get_by_role("button", name="历史", exact=True).click()
    page.locator(".desk-history summary").click()
    page.get_by_label("状态").select_option("正在人工")
    page.locator(".desk-found").first.click()
    expect(amy.log).to_be_visible()
    amy.is_accessible()
    page.goto(light + "/desk#/contact/memory-phone")
    expect(page.get_by_role("region", name="顾客主页")).to_be_visible()
    amy.is_accessible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.acceptance
@pytest.mark.timeout(3600)  # all payloads, three pages each
def test_no_name_label_or_page_is_run(seats: Seats, customers: list[Customer], light: str) -> None:
    texts = some(PAYLOADS, 6)
    customer = arrive(customers, light, "memory-payloads")
    amy = seats.open()
    asked = list[str]()
    amy.page.on("request", lambda request: asked.append(request.url))
    amy.page.on("dialog", lambda dialog: asked.append(CANARY + dialog.message))
    amy.enter("amy", "小艾")
    for text in texts:
        pages = {"url": f"https://shop.example/{text}", "title": text}
        customer.http.post("/api/v1/chat", json={"message": "在", "session_id": customer.session, "page": pages})
        named = {"name": text[:64], "labels": [text[:32]]}
        assert customer.http.put(f"{DESK}/{customer.session}/contact", json=named).status_code == 200
        labels = {"labels": [text[:32]]}
        assert customer.http.put(f"{DESK}/{customer.session}/labels", json=labels).status_code == 204
        view = {"name": text[:64], "agent_id": "amy", "filter": {"q": text[:100]}}
        kept = customer.http.post(f"{AGENT}/views", json=view).json()
        amy.page.goto(f"{light}/desk#/contact/{customer.session}")
        amy.page.reload()
        amy.ready()
        expect(amy.page.get_by_role("region", name="顾客主页")).to_be_visible()
        amy.page.get_by_role("button", name="历史", exact=True).click()
        expect(amy.page.locator(".desk-view")).to_have_count(1)
        amy.page.goto(f"{light}/desk#/conversation/{customer.session}")
        expect(amy.page.locator(".desk-head h2")).to_be_visible()
        customer.http.delete(f"{AGENT}/views/{kept['id']}")
    assert amy.page.evaluate("window.__xss") is None
    assert [address for address in asked if CANARY in address] == []
