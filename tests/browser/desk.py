"""Staff and customers of the desk, as the tests of its page need them."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Any

import httpx
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.axe import serious

DESK = "/api/v1/agent/sessions"


@dataclass
class Customer:
    """Somebody who talks over the interface, beside the browser."""

    address: str
    session: str
    http: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.http = httpx.Client(base_url=self.address, timeout=60)

    def say(self, text: str) -> dict[str, Any]:
        """Returns what is answered."""
        answer = self.http.post("/api/v1/chat", json={"message": text, "session_id": self.session})
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body

    def hears(self, at_least: int = 0) -> list[str]:
        """What staff said, as the customer reads it, once it is so much: the desk shows a message while it is sent."""
        deadline = monotonic() + 60
        while True:
            messages = self.http.get(f"/api/v1/conversations/{self.session}/messages").json()["messages"]
            said = [message["content"] for message in messages if message["sender"] == "agent"]
            if len(said) >= at_least or monotonic() > deadline:
                return said
            sleep(0.1)

    def waits(self) -> Customer:
        """Asks for a person."""
        assert self.say("转人工")["data"]["handoff"]["state"] == "queued"
        return self

    def leaves(self) -> None:
        """Ends the conversation, so that it is in nobody's way."""
        self.http.post(f"/api/v1/conversations/{self.session}/close", json={})
        self.http.close()


class Seat:
    """A member of staff at the desk."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address

    def enter(self, agent: str, name: str) -> Seat:
        """Says who it is, at the first visit."""
        self.page.goto(self.address + "/desk")
        self.page.get_by_label("显示名称").fill(name)
        self.page.get_by_label("客服编号").fill(agent)
        self.page.get_by_role("button", name="开始接待").click()
        return self.ready()

    def ready(self) -> Seat:
        """The line stands."""
        expect(self.page.locator(".desk-columns")).to_be_visible()
        expect(self.page.locator(".desk-banner")).to_have_count(0)
        return self

    def item(self, session: str) -> Locator:
        return self.page.locator(f'[data-session="{session}"]')

    def take(self, session: str) -> None:
        """Opens a conversation of the queue and accepts it."""
        self.item(session).click()
        self.button("接入").click()
        expect(self.button("解决")).to_be_visible()

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    @property
    def log(self) -> Locator:
        return self.page.get_by_role("log")

    @property
    def reply(self) -> Locator:
        return self.page.get_by_role("textbox", name="回复顾客")

    def send(self, text: str) -> None:
        self.reply.fill(text)
        self.reply.press("Control+Enter")

    def is_accessible(self) -> None:
        found = serious(self.page)
        assert not found, found


class Seats:
    """Opens a browser for each member of staff; what their pages throw is kept."""

    def __init__(self, browser: Browser, address: str) -> None:
        self._browser, self._address = browser, address
        self._contexts: list[BrowserContext] = []
        self.thrown: list[str] = []

    def open(self, **options: Any) -> Seat:
        """Somebody who was never here, Chinese, at a desktop unless told otherwise."""
        settings: dict[str, Any] = {
            "locale": "zh-CN",
            "reduced_motion": "reduce",
            "viewport": {"width": 1280, "height": 800},
        } | options
        context = self._browser.new_context(**settings)
        context.set_default_timeout(20_000)
        context.on("weberror", lambda error: self.thrown.append(str(error.error)))
        self._contexts.append(context)
        return Seat(context.new_page(), self._address)

    def close(self) -> None:
        for context in self._contexts:
            context.close()
