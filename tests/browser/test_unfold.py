"""What an answer left out of a passage unfolds at its place; code is copied by a button, and tables are tables."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import serious
from tests.browser.chatting import Chat
from tests.browser.console import LIGHT
from tests.browser.serving import serving
from tests.browser.shop import Shop, upload
from tests.browser.test_widget import opened

CODE = "yunctl backup --all \\\n  --keep 30"
GUIDE = f"""# 数据备份

管理员运行下面的命令备份数据：

```bash
{CODE}
```

| 套餐 | 保留份数 |
|-|-|
| 标准版 | 三份 |
| 高级版 | 九份 |

{"机房停电之前会有短信通知，收到以后请在两小时内保存好手上的工作。" * 4}
"""
NO_CLIPBOARD = (
    "Object.defineProperty(navigator.clipboard, 'writeText', { value: () => Promise.reject(new Error('not allowed')) })"
)
QUESTION = "管理员怎么备份数据，命令是什么"
CLEANING = f"# 耳机清洁\n\n耳罩清洁请用干布擦拭。\n\n{'收纳盒放在通风的地方，不要挤压，也不要在太阳下晒。' * 8}\n"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("unfold"), **LIGHT) as server:
        with httpx.Client(base_url=f"{server}/api/v1", timeout=60) as api:
            upload(api, "备份.md", GUIDE)
            assert api.post("/chat", json={"message": QUESTION}).json()["outcome"] == "answered"
        yield server


def test_code_is_copied_and_the_rest_of_its_passage_unfolds(address: str, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    answer = Chat(page).open(address).ask(QUESTION)
    expect(answer.locator(".prose pre").first).to_have_text(CODE)
    expect(answer.locator(".prose .mark").first).to_be_visible()
    answer.get_by_role("button", name="复制").first.click()
    expect(answer.get_by_role("button", name="已复制")).to_be_visible()
    assert page.evaluate("() => navigator.clipboard.readText()") == CODE
    unfold = answer.locator(".unfold button").first
    expect(unfold).to_have_attribute("aria-expanded", "false")
    expect(answer).not_to_contain_text("机房停电")
    unfold.press("Enter")
    expect(unfold).to_have_attribute("aria-expanded", "true")
    parts = answer.locator(".parts")
    expect(parts.locator("[data-quoted] pre")).to_have_text(CODE)
    expect(parts.locator("td").last).to_have_text("九份")
    expect(parts.locator(".prose:not([data-quoted])").last).to_contain_text("机房停电")
    assert serious(page) == []
    unfold.click()
    expect(parts).to_have_count(0)


def test_in_english_and_without_a_clipboard_code_is_copied_as_if_by_hand(address: str, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.add_init_script(NO_CLIPBOARD + "; localStorage.setItem('yd-lang', 'en')")
    answer = Chat(page).open(address).ask(QUESTION)
    answer.get_by_role("button", name="Copy").first.click()
    expect(answer.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("() => navigator.clipboard.readText()") == CODE
    expect(answer.locator(".unfold button").first).to_contain_text("more parts of this section")


def test_it_unfolds_in_the_widget(shop: Shop, page: Page) -> None:
    upload(shop.admin, "耳机清洁.md", CLEANING)
    answer = opened(page, shop).ask("耳罩怎么清洁")
    answer.get_by_role("button", name="展开《耳机清洁》这一节的其余 1 段").click()
    expect(answer.locator(".parts")).to_contain_text("收纳盒放在通风的地方")
    expect(answer.locator(".parts [data-quoted]")).to_contain_text("干布擦拭")
    assert serious(page) == []
