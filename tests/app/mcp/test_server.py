"""The MCP server by the SDK's own client, over both transports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from app.auth.principal import Role
from app.client.yingda_client import AsyncClient
from app.http.routes import list_roles
from app.keys.repository import KeyRepository
from app.keys.service import hash_key
from app.main import create_app
from app.mcp.tools import TOOLS
from app.settings import Settings
from tests.app.serving import Served, served

ROOT = Path(__file__).resolve().parents[3]
SENTENCE = "签收之后七天内可以退货"
DOCUMENT = ("退货.md", f"# 退货\n\n## 期限\n\n{SENTENCE}。\n".encode())
KEYS = {("default", role): f"key-of-{role.value}" for role in Role} | {("other", Role.ADMIN): "key-of-another"}
Connect = Callable[[str], AbstractAsyncContextManager[Client]]


@dataclass(frozen=True)
class World:
    """A server with a document of tenant `default`."""

    address: str
    document_id: str


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path / "data", rate_per_key=60, sign_in_failures=0, max_body_bytes=200_000) as server:
        keys = KeyRepository(server.container.base.database)
        for (tenant, role), key in KEYS.items():
            await keys.create(tenant, role, key, hash_key(key))
        yield server


@pytest.fixture
async def world(server: Served) -> World:
    async with AsyncClient(server.address, "key-of-admin") as client:
        job = await client.upload_documents([DOCUMENT], wait=30)
    return World(server.address, job["files"][0]["document_id"] or "")


@asynccontextmanager
async def over_http(address: str, key: str, mode: Any = "auto") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
        Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


def by_stdio(address: str, key: str) -> AbstractAsyncContextManager[Client]:
    return Client(StdioServerParameters(command=sys.executable, args=["-m", "app.mcp"], env=environment(address, key)))


def environment(address: str, key: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "MCP_URL": address, "MCP_KEY": key}


async def call(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """The structured result, which is the text as well; that of an error under `error`."""
    result = await client.call_tool(name, arguments)
    (content,) = result.content
    told: dict[str, Any] = json.loads(getattr(content, "text", ""))
    assert told == result.structured_content
    assert bool(result.is_error) == ("error" in told)
    return told


@pytest.mark.parametrize("transport", ["http", "http before 2026", "stdio"])
async def test_staff_search_read_ask_draft_and_open_tickets(world: World, transport: str) -> None:
    ways: dict[str, Connect] = {
        "http": partial(over_http, world.address),
        "http before 2026": partial(over_http, world.address, mode="legacy"),
        "stdio": partial(by_stdio, world.address),
    }
    async with ways[transport]("key-of-admin") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == list(TOOLS)
        assert [name for name, tool in tools.items() if tool.annotations and tool.annotations.read_only_hint] == [
            *("search_knowledge", "get_document", "list_gaps")
        ]
        found = await call(client, "search_knowledge", question=SENTENCE, limit=1)
        assert found["passages"][0]["document_id"] == world.document_id
        read = await call(client, "get_document", document_id=world.document_id)
        assert SENTENCE in read["chunks"][0]["text"] and read["next_offset"] is None
        answer = await call(client, "ask", message="火星上有几家门店")
        assert answer["outcome"] == "no_evidence" and answer["session_id"]
        assert (await call(client, "list_gaps"))["gaps"] == []
        drafted = await call(client, "draft_faq", question="退货要几天", answer="七天内。")
        assert drafted["state"] == "draft"
        ticket = await call(client, "open_ticket", subject="屏幕有划痕", priority="high")
        assert ticket["number"]
        (resource,) = (await client.list_resources()).resources
        assert resource.title == "退货"
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template.replace("{document_id}", world.document_id) == str(resource.uri)
        (content,) = (await client.read_resource(resource.uri)).contents
        assert SENTENCE in getattr(content, "text", "")
        refused = await call(client, "search_knowledge", question="问" * 3000)
        assert refused["error"]["code"] == "invalid_arguments" and "question" in refused["error"]["message"]
        assert (await call(client, "ask", message="你好", user_id="M1"))["error"]["code"] == "invalid_arguments"
        with pytest.raises(MCPError):
            await client.call_tool("delete_document", {"document_id": world.document_id})
        for uri in ("yingda://documents/nobody", "file:///etc/passwd", "yingda://documents/..%2F..%2Fkeys"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)


async def test_a_key_may_do_here_what_it_may_do_elsewhere(world: World) -> None:
    async with over_http(world.address, "key-of-client") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["ask"]
        first = await call(client, "ask", message="退货运费谁出")
        proof = {"session_id": first["session_id"], "session_token": first["session_token"]}
        assert (await call(client, "ask", message="那多久到账", **proof))["session_id"] == first["session_id"]
        stolen = await call(client, "ask", message="我刚才问了什么", session_id=first["session_id"])
        assert stolen["error"]["code"] == "session_token_required"
        arguments: dict[str, dict[str, Any]] = {
            "search_knowledge": {"question": SENTENCE},
            "get_document": {"document_id": world.document_id},
            "list_gaps": {},
            "draft_faq": {"question": "问", "answer": "答"},
            "open_ticket": {"subject": "退款"},
        }
        for name, given in arguments.items():
            assert (await call(client, name, **given))["error"]["code"] == "forbidden", name
        with pytest.raises(MCPError, match="forbidden"):
            await client.list_resources()
    async with over_http(world.address, "key-of-agent") as client:
        assert "draft_faq" not in [tool.name for tool in (await client.list_tools()).tools]
        assert (await call(client, "draft_faq", question="问", answer="答"))["error"]["code"] == "forbidden"
    async with over_http(world.address, "key-of-another") as client:
        assert (await client.list_resources()).resources == []
        told = await call(client, "get_document", document_id=world.document_id)
        assert told["error"]["code"] == "not_found"
        with pytest.raises(MCPError, match="not_found"):
            await client.read_resource(f"yingda://documents/{world.document_id}")
        assert (await call(client, "search_knowledge", question=SENTENCE))["passages"] == []


def test_the_tools_say_the_roles_of_their_endpoints() -> None:
    roles = list_roles(create_app(Settings(_env_file=None, embedder="hash")))
    assert {tool.endpoint: sorted(tool.roles) for tool in TOOLS.values()} == {
        tool.endpoint: roles[tool.endpoint] for tool in TOOLS.values()
    }


async def test_wrong_keys_large_bodies_and_too_many_calls_are_refused(world: World) -> None:
    hello = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"Accept": "application/json, text/event-stream"}
    async with httpx.AsyncClient(base_url=world.address, headers=accept, trust_env=False) as http:
        for key, status in (("nobody's", 401), ("key-of-metrics", 403)):
            answer = await http.post("/mcp", json=hello, headers={"X-API-Key": key})
            assert (answer.status_code, "error" in answer.json()) == (status, True)
        own = {"X-API-Key": "key-of-agent"}
        large = await http.post("/mcp", json=hello | {"params": {"x": "问" * 100_000}}, headers=own)
        assert large.status_code == 413
        broken = await http.post("/mcp", content=b"[" * 50_000, headers=own | {"Content-Type": "application/json"})
        assert broken.status_code == 400
        assert (await http.get("/mcp", headers=own)).status_code == 405
        statuses: list[int] = []
        while 429 not in statuses and len(statuses) < 130:  # 60 a minute, which may turn meanwhile
            statuses.append((await http.post("/mcp", json=hello, headers=own)).status_code)
        assert len(statuses) > 50 and set(statuses[:-1]) == {200} and statuses[-1] == 429
        danger = {"name": "ask", "arguments": {"message": "我不想活了，想从楼上跳下去"}}
        helped = await http.post("/mcp", json=hello | {"method": "tools/call", "params": danger}, headers=own)
        assert helped.status_code == 200 and "high_stakes" in helped.text


def test_a_wrong_key_or_address_ends_the_process_with_what_to_do(tmp_path: Path) -> None:
    run = [sys.executable, "-m", "app.mcp"]
    done = subprocess.run(run, env=environment("http://127.0.0.1:9", ""), capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "MCP_URL" in done.stderr and "Traceback" not in done.stderr


async def test_a_wrong_key_ends_the_process(server: Served, tmp_path: Path) -> None:
    with pytest.raises(Exception) as ended:  # whatever the SDK makes of a process that ends
        async with by_stdio(server.address, "nobody's"):
            pass
    assert ended.value
