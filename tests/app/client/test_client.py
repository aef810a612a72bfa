"""The typed client against a real server, and against connections that break."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import pytest

from app.auth.principal import Role
from app.client.yingda_client import (
    ApiError,
    AsyncClient,
    Client,
    Conflict,
    ConnectionFailed,
    Forbidden,
    InvalidRequest,
    NotFound,
    RateLimited,
    Unauthorized,
    Unavailable,
)
from app.client.yingda_client.calls import Call
from app.keys.repository import KeyRepository
from app.keys.service import hash_key
from scripts.client_package import PACKAGE, build_sync_client, build_types
from tests.app.serving import Served, served

FAQ = ("退货运费谁承担", "质量问题的退货运费由商家承担，其他原因由顾客承担。")
DOCUMENT = ("退货.md", "# 退货\n\n## 期限\n\n签收之后七天内可以退货。\n".encode())


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path / "data", turns_per_key=100) as server:
        keys = KeyRepository(server.container.base.database)
        for role in (Role.ADMIN, Role.AGENT, Role.CLIENT):
            await keys.create("default", role, role.value, hash_key(f"key-of-{role.value}"))
        yield server


def test_what_is_generated_is_not_stale() -> None:
    """Afterwards: .venv/bin/python scripts/client_package.py"""
    assert (PACKAGE / "sync_client.py").read_text("utf-8") == build_sync_client()
    assert (PACKAGE / "types.py").read_text("utf-8") == build_types()


def test_the_package_installs_and_needs_httpx_alone(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target"]
    source = tmp_path / "source"
    names = [path for path in PACKAGE.parent.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    for path in names:  # a build leaves files beside its source
        copied = source / path.relative_to(PACKAGE.parent)
        copied.parent.mkdir(parents=True, exist_ok=True)
        copied.write_bytes(path.read_bytes())
    subprocess.run([*pip, str(tmp_path / "site"), str(source)], check=True, capture_output=True)
    code = """
import sys
import yingda_client
assert not {"app", "fastapi", "pydantic", "sqlalchemy", "langchain_core", "llama_index"} & set(sys.modules)
print(yingda_client.__file__, yingda_client.__version__)
"""
    run = [sys.executable, "-c", code]
    said = subprocess.run(run, check=True, capture_output=True, text=True, cwd=tmp_path / "site").stdout
    assert said.startswith(str(tmp_path / "site"))
    assert (tmp_path / "site" / "yingda_client" / "py.typed").exists()


async def test_what_staff_do_works_from_upload_to_ticket(server: Served) -> None:
    async with AsyncClient(server.address, "key-of-admin") as client:
        job = await client.upload_documents([DOCUMENT], wait=30, tags=["售后"], draft=False)
        (report,) = job["files"]
        assert (report["name"], report["status"]) == ("退货.md", "ready")
        assert (await client.read_upload(job["job"]["id"]))["files"] == job["files"]
        document_id = report["document_id"] or ""
        assert (await client.get_document(document_id))["document"]["title"] == "退货"
        assert "七天" in (await client.list_chunks(document_id))["items"][0]["text"]
        assert await client.get_original(document_id) == DOCUMENT[1]
        assert (await client.list_documents(tag="售后"))["total"] == 1
        found = await client.search("签收之后七天内可以退货", top_k=1)
        assert found["candidates"][0]["document_id"] == document_id
        faq = await client.add_faq({"question": FAQ[0], "answer": FAQ[1]})
        assert (await client.list_faqs(q="运费"))["items"][0]["id"] == faq["id"]
        changed = await client.change_faq(faq["id"], {"question": FAQ[0], "answer": "商家。"})
        assert changed["answer"] == "商家。"
        await client.delete_faq(faq["id"])
        assert (await client.list_gaps(order="recent", state=["open", "drafted"]))["total"] == 0
        ticket = await client.open_ticket("屏幕有划痕", priority="high")
        await client.comment_on_ticket(ticket["number"], "已联系仓库")
        assert (await client.get_ticket(ticket["number"]))["subject"] == "屏幕有划痕"
        assert (await client.list_tickets(state=["open"], priority="high"))["total"] == 1
        await client.delete_document(document_id)
        assert await client.request(Call("GET", "/api/v1/knowledge/documents")) | {"total": 0} == (
            await client.list_documents()
        )
        assert (await client.read_sign_in())["roles"] == ["admin"]


async def test_a_customer_talks_streams_rates_and_calls_a_person(server: Served) -> None:
    """With a `client` key, to which a session id alone opens nothing."""
    async with AsyncClient(server.address, "key-of-client") as client:
        conversation = client.conversation(channel="app")
        first = await conversation.ask("签收之后几天内可以退货")
        events = [event async for event in conversation.stream("那运费谁出")]
        assert (events[0]["type"], events[-1]["type"]) == ("meta", "done")
        done = events[-1]
        assert done["type"] == "done" and done["session_id"] == conversation.session_id == first["session_id"]
        started = await conversation.request_handoff()
        assert started["state"] != "bot"
        token = first.get("session_token") or ""
        await client.rate_message(conversation.session_id, first["message_id"], "up", session_token=token)
        seen = await client.read_history(conversation.session_id, session_token=token)
        assert len(seen["entries"]) >= 2
        await conversation.read_messages()
        with pytest.raises(ApiError) as refused:
            await client.read_history(conversation.session_id)
        assert refused.value.status in (401, 403, 404)


async def test_the_waiting_client_is_the_same(server: Served) -> None:
    def play() -> list[str]:
        with Client(server.address, "key-of-client") as client:
            return [event["type"] for event in client.conversation().stream("退货运费谁出")]

    kinds = await asyncio.to_thread(play)
    assert (kinds[0], kinds[-1]) == ("meta", "done")


async def test_errors_are_typed_by_status(server: Served) -> None:
    async with AsyncClient(server.address, "nobody's") as client:
        with pytest.raises(Unauthorized):
            await client.chat("你好")
        with pytest.raises(Unauthorized):
            _ = [event async for event in client.stream_chat("你好")]
    async with AsyncClient(server.address, "key-of-client") as client:
        with pytest.raises(Forbidden):
            await client.list_gaps()
    async with AsyncClient(server.address, "key-of-admin") as client:
        with pytest.raises(NotFound) as missing:
            await client.get_document("../../faqs")
        assert missing.value.request_id and missing.value.code
        with pytest.raises(InvalidRequest) as refused:
            await client.search("")
        assert refused.value.status == 422 or refused.value.status == 400
        key = "9f7c2d5c-5a0e-4a57-8f13-2f1f6c1f0a11"
        await client.chat("退货运费谁出", idempotency_key=key)
        with pytest.raises(Conflict):
            await client.chat("发票怎么开", idempotency_key=key)
    with pytest.raises(ConnectionFailed):
        async with AsyncClient("http://127.0.0.1:9", retries=0) as client:
            await client.list_faqs()


Handler = Callable[[httpx.Request], httpx.Response]


class Line:
    """A connection that breaks or refuses as told, before each of the server's own answers."""

    def __init__(self, *faults: httpx.Response | type[httpx.TransportError]) -> None:
        self.faults = list(faults)
        self.seen: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        fault = self.faults.pop(0) if self.faults else httpx.Response(200, json={"reply": "好"})
        if isinstance(fault, type):
            raise fault("the line broke")
        return fault

    def client(self) -> AsyncClient:
        return AsyncClient("http://a", transport=httpx.MockTransport(self))


async def test_a_chat_is_sent_again_under_the_same_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.client.yingda_client.calls.FIRST_DELAY", 0.001)
    line = Line(httpx.ReadTimeout, httpx.Response(503, headers={"retry-after": "0"}, text="busy"))
    assert (await line.client().chat("你好"))["reply"] == "好"
    keys = {request.headers["idempotency-key"] for request in line.seen}
    assert (len(line.seen), len(keys)) == (3, 1)


async def test_what_may_have_been_done_is_not_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.client.yingda_client.calls.FIRST_DELAY", 0.001)
    line = Line(httpx.ReadTimeout)
    with pytest.raises(ConnectionFailed):
        await line.client().add_faq({"question": "问", "answer": "答"})
    assert len(line.seen) == 1
    refused = Line(httpx.Response(429, headers={"retry-after": "0"}), httpx.ConnectError)
    await refused.client().add_faq({"question": "问", "answer": "答"})  # the server did nothing with either
    assert len(refused.seen) == 3
    patient = Line(httpx.Response(429, headers={"retry-after": "3600"}, json={}))
    with pytest.raises(RateLimited) as limited:
        await patient.client().list_faqs()
    assert (limited.value.retry_after, limited.value.code) == (3600.0, "unexpected_response")
    down = Line(*[httpx.Response(502, text="<html>bad gateway") for _ in range(3)])
    with pytest.raises(Unavailable):
        await down.client().list_faqs()
    assert len(down.seen) == 3


async def test_a_stream_that_breaks_in_the_middle_is_not_begun_again() -> None:
    class Broken(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield 'event: token\ndata: {"type": "token", "text": "质量'.encode()
            yield '问题"}\n\n'.encode()
            raise httpx.ReadError("the line broke")

    line = Line(httpx.Response(200, stream=Broken()))
    got = []
    with pytest.raises(ConnectionFailed):
        async for event in line.client().stream_chat("运费"):
            got.append(event)
    assert got == [{"type": "token", "text": "质量问题"}]
    assert len(line.seen) == 1
