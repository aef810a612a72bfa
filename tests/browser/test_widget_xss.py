"""Nothing that anybody wrote runs: not in messages, documents, file names, what a model wrote, the profile, tickets or
what staff say. Canaries: a variable that payloads set, a dialog, a request that only a payload makes.
"""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from scripts.scripted_llm import Behaviour, Say
from tests.acceptance import some
from tests.browser.chatting import Chat
from tests.browser.console import loaded, opened
from tests.browser.payloads import CANARY, PAYLOADS
from tests.browser.shop import Shop, upload

pytestmark = pytest.mark.acceptance
CHOSEN = some(PAYLOADS, 6)
GROUPS = [CHOSEN[at : at + 6] for at in range(0, len(CHOSEN), 6)]
SHOW = """(texts) => {
  const chat = document.querySelector('yingda-chat').conversation;
  for (const text of texts) chat.add(text);
}"""


@pytest.fixture
def watched(browser: Browser) -> Iterator[Page]:
    """A page on which the canaries are looked at when the test is over."""
    context = browser.new_context(locale="zh-CN")
    page = context.new_page()
    ran: list[str] = []

    def shut(dialog: Dialog) -> None:
        ran.append(f"dialog {dialog.message}")
        dialog.dismiss()

    page.on("dialog", shut)
    context.on("page", lambda opened: ran.append(f"window {opened.url}") if opened is not page else None)
    context.on("request", lambda request: ran.append(f"request {request.url}") if CANARY in request.url else None)
    yield page
    page.wait_for_timeout(200)
    ran += [f"script {number}" for number in [page.evaluate("() => window.__xss")] if number is not None]
    context.close()
    assert ran == []


def clicked(page: Page) -> None:
    """Every link of the answers is followed where it would run something."""
    links = page.locator("yingda-chat .prose a").evaluate_all("(all) => all.map((one) => one.protocol)")
    assert set(links) <= {"http:", "https:", "mailto:", "tel:"}


def test_what_is_shown_of_anybody_runs_nothing(server: str, watched: Page) -> None:
    chat = Chat(watched).open(server)
    source = {"index": 1, "document_id": "d", "page": 1, "score": 1}
    shown = []
    for text in CHOSEN:
        sources = [source | {"title": text, "heading": text, "snippet": text}]
        about = {"outcome": "clarify", "sources": sources, "suggestions": [text], "id": "m"}
        shown += [{"who": "bot", "text": text, **about}, {"who": "bot", "text": f"{text}[1]", **about}]
        shown += [{"who": "customer", "text": text}, {"who": "staff", "text": text, "name": text}]
        shown += [{"who": "system", "event": "accept", "name": text}]
    watched.evaluate(SHOW, shown)
    expect(chat.staff).to_have_count(len(CHOSEN))
    clicked(watched)
    for number in range(0, len(CHOSEN), max(1, len(CHOSEN) // 6)):
        chat.answers.nth(number * 2).locator(".pill").click()
        expect(chat.dialog.locator(".prose")).not_to_be_empty()
        watched.keyboard.press("Escape")
        expect(chat.dialog).to_have_count(0)


@pytest.mark.timeout(3600)  # all payloads, a document and two turns each
def test_messages_answers_and_documents_run_nothing(shop: Shop, watched: Page) -> None:
    """All the way through the server: as messages, as documents of such names, as a model's answers."""
    for number, group in enumerate(GROUPS):
        for place, text in enumerate(group):
            name = "".join(letter for letter in text if letter not in '/\\\0\n\t:*?"|')[:60]
            about = f"挂钩{number}{place}型"
            kept = text.replace("\0", "")  # a file with a NUL is no text, and refused
            upload(shop.admin, f"{number}{place}{name}.md", f"# {about} {kept}\n\n{about}的安装说明：{kept}\n")
    watched.goto(shop.site.embed(shop.server, key=shop.key, open=""))
    chat = Chat(watched)
    expect(chat.box).to_be_enabled()
    try:
        for number, group in enumerate(GROUPS):
            for place, text in enumerate(group):
                shop.llm.script = (Say(f"降噪耳机充满电需要 90 分钟 {text}[1]"),)
                chat.ask(f"降噪耳机充满电要多久 {text}"[:1900])
                if place == 0:
                    chat.ask(f"挂钩{number}{place}型怎么安装")
                    for pill in chat.answers.last.locator(".pill").all():
                        pill.click()
                        expect(chat.dialog.locator(".prose")).not_to_be_empty()
                        watched.keyboard.press("Escape")
                        expect(chat.dialog).to_have_count(0)
    finally:
        shop.llm.script = (Behaviour.ANSWER,)
    clicked(watched)


@pytest.mark.acceptance(only=True)
def test_profile_and_tickets_run_nothing(shop: Shop, watched: Page) -> None:
    try:
        for group in GROUPS:
            texts = [text[:100].replace("\0", "") for text in group]
            profile = {"name": texts[0], "welcome_message": "\n".join(texts)[:500], "suggested_questions": texts}
            assert shop.admin.put("/profile", json=profile).is_success
            watched.context.clear_cookies()
            watched.goto(shop.site.embed(shop.server, key=shop.key, open=""))
            watched.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
            watched.reload()
            chat = Chat(watched)
            expect(chat.questions).to_have_count(len(texts))
            chat.questions.nth(0).click()
            chat.answered(0)
            chat.ask("我要提交工单：耳机坏了 " + " ".join(texts))
            watched.reload()
            expect(chat.answers).to_have_count(2)
    finally:
        shop.admin.put("/profile", json={})


def test_tickets_in_the_console_run_nothing(light: str, watched: Page) -> None:
    """Subject, comments, customer and the name of a colleague; in the list, on the board, on their own page."""
    with httpx.Client(base_url=f"{light}/api/v1", timeout=60) as http:
        for number, text in enumerate(CHOSEN):
            assert http.put(f"/agent/staff/xss-{number}", json={"name": text[:64]}).is_success
            made = http.post("/tickets", json={"subject": text[:100], "description": text, "user_id": text[:128]})
            place = f"/tickets/{made.json()['number']}"
            assert http.patch(place, json={"assignee": f"xss-{number}"}).is_success
            assert http.post(f"{place}/comments", json={"text": text, "author": text[:128]}).is_success
            loaded(opened(watched, light, place[1:]))
            expect(watched.locator(".ad-comment")).to_have_count(1)
    for view in ("", "?view=board"):
        loaded(opened(watched, light, f"tickets{view}"))
        expect(watched.locator("a", has_text="TK")).not_to_have_count(0)


def test_the_corpus_is_as_large_as_it_should_be() -> None:
    assert len(set(PAYLOADS)) >= 120
