"""From the bot to a person and back, as the customer sees it; the person answers through the API."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import serious
from tests.browser.chatting import Chat


class Person:
    """A member of staff."""

    def __init__(self, server: str, name: str) -> None:
        self.http = httpx.Client(base_url=f"{server}/api/v1/agent", timeout=20)
        self.name = name
        self.call("PUT", f"staff/{name}", {"name": name})
        self.call("POST", f"staff/{name}/presence", {"online": True})

    def call(self, method: str, path: str, body: dict[str, Any]) -> None:
        response = self.http.request(method, path, json=body)
        assert response.is_success, response.text

    def accept(self, session: str) -> None:
        self.call("POST", f"sessions/{session}/accept", {"agent_id": self.name})

    def say(self, session: str, text: str) -> None:
        self.call("POST", f"sessions/{session}/messages", {"agent_id": self.name, "content": text})

    def resolve(self, session: str) -> None:
        self.call("POST", f"sessions/{session}/resolve", {"agent_id": self.name})


@pytest.fixture
def person(server: str) -> Iterator[Person]:
    person = Person(server, "小艾")
    yield person
    person.call("POST", "staff/小艾/presence", {"online": False})
    person.http.close()


def test_a_person_takes_over_and_hands_back(server: str, page: Page, person: Person) -> None:
    chat = Chat(page).open(server)
    chat.ask("退货运费谁出？")
    chat.call_person()
    expect(chat.bar).to_contain_text("正在排队等人工客服")
    expect(chat.bar).to_contain_text("预计")
    expect(chat.ask("发票开错了怎么换开？")).to_have_attribute("data-outcome", "answered")
    assert serious(page) == []
    person.accept(chat.session)
    expect(chat.bar).to_contain_text("小艾 正在为您服务")
    chat.say("我要改抬头")
    expect(chat.customer.last).to_contain_text("已送达")
    person.say(chat.session, "好的，请把新抬头发给我 <b>谢谢</b>")
    expect(chat.staff).to_contain_text("请把新抬头发给我 <b>谢谢</b>")
    expect(chat.staff).to_contain_text("小艾")
    expect(chat.answers).to_have_count(2)
    assert serious(page) == []
    page.reload()
    expect(chat.staff).to_have_count(1)
    expect(chat.bar).to_contain_text("小艾 正在为您服务")
    person.say(chat.session, "已经改好了")
    expect(chat.staff).to_have_count(2)
    person.resolve(chat.session)
    expect(chat.page.locator("yingda-chat .event").last).to_contain_text("人工服务已结束")
    expect(chat.bar).to_contain_text("这次人工服务怎么样？")
    assert serious(page) == []
    page.get_by_role("button", name="5 分").click()
    page.get_by_role("button", name="提交").click()
    expect(chat.bar).to_contain_text("谢谢，评价已收到")
    expect(chat.ask("耳机的保修期是多久？")).to_have_attribute("data-outcome", "answered")


@pytest.mark.acceptance(only=True)
def test_who_waits_may_leave_the_queue(server: str, page: Page) -> None:
    chat = Chat(page).open(server)
    chat.ask("转人工")
    expect(chat.bar).to_contain_text("客服暂时都不在线")
    page.get_by_role("button", name="退出排队").click()
    expect(chat.bar).to_have_count(0)
    expect(page.locator(".tool[aria-label=转人工]")).to_be_visible()


@pytest.mark.acceptance(only=True)
def test_outside_of_hours_a_message_goes_on_the_ticket(server: str, page: Page) -> None:
    hours = [f"{(datetime.now(UTC).isoweekday() + 2) % 7 + 1} 09:00-18:00"]  # three days ahead
    assert httpx.put(f"{server}/api/v1/profile", json={"business_hours": hours}).is_success
    try:
        chat = Chat(page).open(server)
        chat.call_person()
        expect(chat.bar).to_contain_text("现在不在人工服务时间")
        assert serious(page) == []
        page.get_by_label("请留下问题的经过").fill("耳机左边没有声音")
        page.get_by_label("联系方式").fill("amy@example.com")
        page.get_by_role("button", name="提交留言").click()
        expect(chat.answered(0)).to_contain_text("已补充到工单")
        ticket = httpx.get(f"{server}/api/v1/tickets", params={"session_id": chat.session}).json()["tickets"][0]
        told = httpx.get(f"{server}/api/v1/tickets/{ticket['number']}").text
        assert "耳机左边没有声音" in told and "amy@example.com" in told
    finally:
        httpx.put(f"{server}/api/v1/profile", json={})
