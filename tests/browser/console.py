"""The console in a browser: opened at a section, and what several tests do in it."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

SECTIONS = (
    "overview",
    "reports",
    "documents",
    "sources",
    "faqs",
    "hit-test",
    "vocabulary",
    "quality",
    "tuning",
    "evaluation",
    "gaps",
    "conversations",
    "tickets",
    "profile",
    "models",
    "widget",
    "jobs",
    "cache",
    "people",
    "keys",
    "audit",
    "channels",
    "webhooks",
)
# Settings of a server that starts at once, for what is not about retrieval.
LIGHT = {"EMBEDDER": "hash", "VECTOR_STORE": "memory", "SAMPLES_ENABLED": "false"}


def opened(page: Page, server: str, place: str) -> Locator:
    """The section at this address once its heading shows."""
    page.goto(f"{server}/admin#/{place}")
    content = page.locator("main#content")
    expect(content.get_by_role("heading", level=1)).to_be_visible()
    return content


def sign_in(page: Page, key: str) -> None:
    """With a key, at the desk or the console."""
    field, other = page.locator('input[name="key"]'), page.get_by_role("button", name="用密钥登录")
    expect(field.or_(other)).to_be_visible()
    if other.is_visible():
        other.click()
    field.fill(key)
    page.get_by_role("button", name="登录", exact=True).click()


def loaded(content: Locator) -> None:
    """Returns once nothing of the section is loading any more."""
    expect(content.locator(".yd-spinner")).to_have_count(0)


def confirm(page: Page, action: str) -> None:
    """Says yes to what the console asks before it destroys something."""
    page.get_by_role("dialog").get_by_role("button", name=action, exact=True).click()


def dropped(page: Page, *files: tuple[str, str]) -> None:
    """Drops files, each a name and its text, onto the documents."""
    transfer = page.evaluate_handle(
        """(files) => {
          const transfer = new DataTransfer();
          for (const [name, text] of files) transfer.items.add(new File([text], name));
          return transfer;
        }""",
        [list(file) for file in files],
    )
    page.locator(".ad-drop").dispatch_event("drop", {"dataTransfer": transfer})
