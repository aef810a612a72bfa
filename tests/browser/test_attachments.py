"""Pictures and files between the widget and the desk, as both sides see them."""

from __future__ import annotations

from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.app.attachments.pictures import PDF, jpeg, png
from tests.browser.axe import serious
from tests.browser.chatting import Chat
from tests.browser.desk import Seat

NAME = '<img src=x onerror="window.hit=1">.png'


def test_customer_and_staff_send_each_other_pictures(server: str, page: Page, browser: Browser) -> None:
    chat = Chat(page).open(server)
    picker = page.locator("yingda-chat input[type=file]")
    picker.set_input_files([FilePayload(name=NAME, mimeType="image/png", buffer=png(text="<script>hit=1</script>"))])
    expect(page.locator("yingda-chat .waiting")).to_contain_text("onerror")
    expect(page.locator("yingda-chat .waiting [role=status]")).to_have_count(0)
    page.locator("yingda-chat .round").click()
    expect(chat.answered(0)).to_contain_text("图片收到了")
    expect(chat.customer.last.locator("canvas")).to_be_visible()
    expect(chat.customer.last.locator(".bubble")).to_have_count(0)
    chat.customer.last.locator("button").click()
    expect(chat.dialog).to_be_visible()
    assert serious(page) == []
    page.keyboard.press("Escape")

    chat.ask("转人工")
    with browser.new_context(viewport={"width": 1280, "height": 800}, locale="zh-CN") as context:
        seat = Seat(context.new_page(), server).enter("pia", "小皮")
        seat.take(chat.session)
        desk = seat.page
        expect(desk.locator(".desk-picture img")).to_be_visible()
        assert desk.evaluate("() => document.querySelector('.desk-picture img').naturalWidth") == 200
        chat.box.press_sequentially("我")
        expect(desk.locator(".desk-typing")).to_contain_text("正在输入")
        field = desk.locator(".desk-composer textarea")
        field.press_sequentially("请看")
        expect(chat.bar).to_contain_text("正在输入")
        desk.locator(".desk-composer input[type=file]").set_input_files(
            [
                FilePayload(name="线路图.jpg", mimeType="image/jpeg", buffer=jpeg(place="家里")),
                FilePayload(name="说明.pdf", mimeType="application/pdf", buffer=PDF),
            ]
        )
        expect(desk.locator(".desk-composer .waiting li")).to_have_count(2)
        expect(desk.locator(".desk-composer .waiting [role=status]")).to_have_count(0)
        field.press("Control+Enter")
        expect(chat.staff.last.locator("canvas")).to_be_visible()
        expect(chat.staff.last).to_contain_text("说明.pdf")
        expect(desk.locator(".desk-entry[data-kind=staff]").last).to_contain_text("请看")
        expect(desk.get_by_text("已读", exact=True)).to_be_visible()
        desk.locator(".desk-picture").first.click()
        expect(desk.locator("dialog")).to_contain_text("识别文字")
        assert serious(desk) == []
        desk.locator("dialog").get_by_role("button", name="删除").click()
        desk.get_by_role("dialog", name="删除", exact=True).locator(".yd-btn-danger").click()
        expect(desk.locator(".desk-files .desk-none").first).to_be_visible()
    assert page.evaluate("() => window.hit") is None
    page.reload()
    expect(chat.staff.last.locator("canvas")).to_be_visible()


def test_what_may_not_be_sent_is_told(server: str, page: Page) -> None:
    Chat(page).open(server)
    svg = b'<svg xmlns="http://www.w3.org/2000/svg" onload="window.hit=1"></svg>'
    page.locator("yingda-chat input[type=file]").set_input_files(
        [FilePayload(name="logo.svg", mimeType="image/svg+xml", buffer=svg)]
    )
    expect(page.locator("yingda-chat .bar[role=alert]")).to_contain_text("不支持")
    expect(page.locator("yingda-chat .waiting")).to_have_count(0)
