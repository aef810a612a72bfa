"""Channels in the console: how an account does, a reply that the platform refused goes again, a test message."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import httpx
import pytest
from playwright.sync_api import Page, expect

from app.db.base import now
from tests.app.channels.test_webhook import SECRET, signed
from tests.browser.axe import serious
from tests.browser.console import LIGHT, opened
from tests.browser.serving import serving


class Receiver(BaseHTTPRequestHandler):
    """Refuses the first message for good, and takes those that follow."""

    taken: list[str]

    def do_POST(self) -> None:
        said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.taken.append(said["text"])
        self.send_response(410 if len(self.taken) == 1 else 200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def taken() -> Iterator[tuple[str, list[str]]]:
    """Where a platform takes replies, and what it took."""
    found: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Receiver", (Receiver,), {"taken": found}))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", found
    server.shutdown()
    server.server_close()


def test_a_refused_reply_goes_again_and_a_test_message_arrives(
    tmp_path: Path, taken: tuple[str, list[str]], page: Page
) -> None:
    address, arrived = taken
    accounts = [{"name": "shop", "kind": "webhook", "options": {"url": address, "secret": SECRET}}]
    with serving(tmp_path, **LIGHT | {"CHANNELS": json.dumps(accounts)}) as server:
        content = opened(page, server, "channels")
        expect(content.get_by_role("row").filter(has_text="shop")).to_contain_text("还没有用过")
        body = json.dumps({"id": "m1", "user_id": "u1", "text": "你好"}).encode()
        callback = f"{server}/api/v1/channels/shop/callback"
        assert httpx.post(callback, content=body, headers=signed(body, now())).status_code == 200
        for _ in range(60):
            page.reload()
            if content.get_by_text("有回复没发出").count():
                break
            page.wait_for_timeout(500)
        assert serious(page) == []
        content.get_by_role("row").filter(has_text="shop").get_by_role("link", name="1").click()
        row = content.get_by_role("table").get_by_role("row").last
        expect(row).to_contain_text("HTTP 410")
        row.get_by_role("button", name="再发一次").click()
        expect(content).to_contain_text("没有符合条件的内容")  # of those not sent there are none left
        content.get_by_role("button", name="清除条件").click()
        content.get_by_role("button", name="发测试消息").click()
        assert serious(page) == []
        page.get_by_role("dialog").get_by_role("button", name="发送").click()
        expect(content.get_by_role("row").filter(has_text="已发出")).to_have_count(2)
        assert "测试消息" in arrived[2]
        assert content.get_by_role("row").filter(has_text="没发出").count() == 0
