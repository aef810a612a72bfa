"""The chat, in the words of its tests: on the page or in the widget, which are the same element."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect


class Chat:
    """What a customer does and sees."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.box = page.locator("yingda-chat .composer textarea")
        self.questions = page.locator("yingda-chat .question")
        self.answers = page.locator("yingda-chat .entry.bot[data-outcome]")
        self.customer = page.locator("yingda-chat .entry.customer")
        self.staff = page.locator("yingda-chat .entry.staff")
        self.bar = page.locator("yingda-chat .bar")
        self.dialog = page.locator("yingda-chat dialog")

    def open(self, address: str) -> Chat:
        """The chat page, ready for a question."""
        self.page.goto(address)
        expect(self.box).to_be_enabled()
        return self

    def say(self, text: str) -> None:
        """Sends a message, and waits for nothing."""
        self.box.fill(text)
        self.box.press("Enter")

    def ask(self, text: str, answer: int | None = None) -> Locator:
        """Sends a message; the answer to it, whole. answer: its number, from 0; the next without."""
        number = self.answers.count() if answer is None else answer
        self.say(text)
        return self.answered(number)

    def answered(self, number: int) -> Locator:
        """The answer of that number, once it is whole."""
        expect(self.answers).to_have_count(number + 1)
        expect(self.page.locator("yingda-chat .round[aria-label=停止回答], .round[aria-label=Stop]")).to_have_count(0)
        return self.answers.nth(number)

    def call_person(self) -> None:
        """By the button in the head, which asks first."""
        self.page.locator("yingda-chat .head .tool[aria-label=转人工]").click()
        self.dialog.get_by_role("button", name="转人工").click()

    @property
    def session(self) -> str:
        """The id of the conversation."""
        session: str = self.page.evaluate("() => document.querySelector('yingda-chat').conversation.proof.id")
        return session
