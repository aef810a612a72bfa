"""What the customer sees when the network, the limits or a slow answer get in the way."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.chatting import Chat

STREAM = "**/api/v1/chat/stream"


def test_a_message_goes_out_once_although_the_connection_was_lost(server: str, page: Page) -> None:
    chat = Chat(page).open(server)
    sent: list[Any] = []

    def broken(route: Route) -> None:
        sent.append(route.request.post_data_json)
        if len(sent) == 1:  # the server got it, and the answer never arrived
            route.fetch()
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route(STREAM, broken)
    chat.say("退货运费谁出？")
    expect(chat.customer).to_contain_text("连接断了，正在重新连接")
    expect(chat.answered(0)).to_have_attribute("data-outcome", "answered")
    expect(chat.customer.locator(".delivery")).to_have_count(0)
    assert len(sent) == 2 and sent[0] == sent[1] and len(sent[0]["client_id"]) == 36
    said = httpx.get(f"{server}/api/v1/conversations/{chat.session}").json()["entries"]
    assert [entry["who"] for entry in said] == ["customer", "bot"]


@pytest.mark.acceptance(only=True)
def test_too_many_requests_say_when_to_try_again(server: str, page: Page) -> None:
    chat = Chat(page).open(server)
    error = {"code": "rate_limit_exceeded", "message": "请求太频繁，请稍后再试。", "details": {}, "request_id": "r-1"}
    body = json.dumps({"error": error})
    headers = {"Retry-After": "2", "X-Request-ID": "r-1", "Content-Type": "application/json"}
    page.route(STREAM, lambda route: route.fulfill(status=429, headers=headers, body=body), times=1)
    chat.say("退货运费谁出？")
    retry = chat.customer.get_by_role("button", name="重试")
    expect(chat.customer).to_contain_text("请稍后再试（2 秒）")
    expect(chat.customer).to_contain_text("请求编号 r-1")
    expect(retry).to_be_disabled()
    expect(chat.customer).to_contain_text("现在可以重试了")
    retry.click()
    expect(chat.answered(0)).to_have_attribute("data-outcome", "answered")
    expect(chat.customer).to_have_count(1)


@pytest.mark.acceptance(only=True)
def test_being_offline_is_said_and_ends_by_itself(server: str, page: Page) -> None:
    chat = Chat(page).open(server)
    page.context.set_offline(True)
    expect(chat.bar).to_contain_text("网络已断开")
    chat.say("退货运费谁出？")
    expect(chat.customer).to_contain_text("正在重新连接")
    page.context.set_offline(False)
    expect(chat.answered(0)).to_have_attribute("data-outcome", "answered")
    expect(chat.bar).to_have_count(0)


@pytest.mark.acceptance(only=True)
def test_a_server_error_is_told_in_its_words_with_its_number(server: str, page: Page) -> None:
    chat = Chat(page).open(server)
    error = {"code": "internal_error", "message": "服务出错了。", "details": {}, "request_id": "r-2"}
    headers = {"X-Request-ID": "r-2", "Content-Type": "application/json"}
    body = json.dumps({"error": error})
    page.route(STREAM, lambda route: route.fulfill(status=500, headers=headers, body=body), times=1)
    chat.say("退货运费谁出？")
    expect(chat.customer).to_contain_text("没有发送成功：服务出错了。")
    expect(chat.customer).to_contain_text("请求编号 r-2")
    chat.customer.get_by_role("button", name="重试").click()
    chat.answered(0)
