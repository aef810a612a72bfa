"""Keys that are narrowed to a part of their role."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from app.auth.scopes import ALSO, READING_POSTS, TAGS, UNSCOPED, KeyScope, is_covered
from tests.app.auth.test_auth import FIRST
from tests.app.desk.client import talking
from tests.app.openapi.document import document, operations
from tests.app.serving import Served, served
from tests.security.leaks import place


@pytest.fixture
async def product(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, api_key=FIRST) as running:
        yield running


async def key(product: Served, role: str, *scopes: str) -> str:
    async with httpx.AsyncClient(base_url=product.address, headers={"X-API-Key": FIRST}, timeout=60) as http:
        made = await http.post("/api/v1/keys", json={"name": "k", "role": role, "scopes": scopes})
        assert made.status_code == 201, made.text
        assert made.json()["scopes"] == list(scopes)
        return str(made.json()["key"])


def test_every_part_of_the_interface_is_of_a_scope_but_what_makes_keys_or_asks_for_none() -> None:
    tags = {tag["name"] for tag in document()["tags"]}
    assert frozenset[str]().union(*TAGS.values()) == (tags | {"mcp"}) - UNSCOPED  # which has a description of its own
    assert tags >= UNSCOPED and TAGS.keys() == set(KeyScope)
    assert operations().keys() >= READING_POSTS.union(*ALSO.values()) - {"call_mcp"}


def test_writing_covers_reading_and_reading_no_writing() -> None:
    assert is_covered({KeyScope.DOCUMENTS_READ}, ["documents"])
    assert not is_covered({KeyScope.DOCUMENTS_READ}, ["documents"], "DELETE", "delete_document")
    assert is_covered({KeyScope.DOCUMENTS_READ}, ["search"], "POST", "search_knowledge")
    assert is_covered({KeyScope.DOCUMENTS_WRITE}, ["documents"]) and is_covered(
        {KeyScope.DOCUMENTS_WRITE}, ["documents"], "DELETE"
    )
    assert not is_covered({KeyScope.CHAT, KeyScope.DESK}, ["keys"])


# Scope -> what a key with it gets to, and what not.
NARROWED = {
    "documents:read": (["list_documents", "search_knowledge"], ["upload_documents", "list_keys", "chat"]),
    "documents:write": (["list_documents", "add_faq"], ["list_keys", "list_tickets", "create_key"]),
    "chat": (["chat", "list_models", "read_greeting"], ["read_profile", "list_documents", "list_staff", "list_audit"]),
    "desk": (["list_staff", "list_tickets"], ["chat", "add_faq"]),
    "evaluation": (["list_evaluation_sets"], ["write_params", "chat"]),
    "tuning": (["read_params"], ["write_profile", "list_documents", "create_key"]),
    "profile": (["read_profile"], ["write_params", "chat"]),
    "jobs": (["list_job_kinds"], ["list_webhooks", "list_sources"]),
    "webhooks": (["list_webhooks"], ["list_job_kinds", "list_conversations"]),
    "traces": (["read_trace"], ["list_conversations", "read_usage"]),
    "observability": (["read_spending", "read_usage", "list_circuit_breakers"], ["list_audit", "list_conversations"]),
    "reports": (["read_report"], ["list_audit", "list_conversations"]),
    "audit": (["list_audit"], ["list_keys", "read_usage"]),
}


async def test_a_narrowed_key_gets_no_further(product: Served) -> None:
    assert NARROWED.keys() == set(KeyScope)
    for scope, (open_to, closed) in NARROWED.items():
        headers = {"X-API-Key": await key(product, "admin", scope)}
        async with httpx.AsyncClient(base_url=product.address, headers=headers, timeout=60) as http:
            for name in (*open_to, *closed):
                operation = operations()[name]
                body = next((told.get("example") for told in operation.request.values()), None)
                response = await http.request(*place(operation, defaultdict(lambda: "x")), json=body)
                assert (response.status_code == 403) == (name in closed), (scope, name, response.text)
                assert name in open_to or response.json()["error"]["code"] == "scope_missing"


async def test_a_scope_adds_nothing_to_a_role_and_counts_for_sockets(product: Served) -> None:
    window = {"X-API-Key": await key(product, "client", "documents:write")}
    async with httpx.AsyncClient(base_url=product.address, headers=window) as http:
        assert (await http.get("/api/v1/knowledge/documents")).json()["error"]["code"] == "forbidden"
        assert (await http.post("/api/v1/keys", json={})).status_code == 403
    desk = {"X-API-Key": await key(product, "agent", "chat")}
    async with talking(product.address, "/api/v1/agent/ws?agent_id=a", additional_headers=desk) as talker:
        await talker.send("hello", agent_id="a")
        refused = await talker.until(lambda frame: frame["type"] == "error")
    assert refused["error"]["code"] == "scope_missing"


async def test_metrics_keys_have_no_scopes(product: Served) -> None:
    async with httpx.AsyncClient(base_url=product.address, headers={"X-API-Key": FIRST}) as http:
        wrong = await http.post("/api/v1/keys", json={"name": "k", "role": "metrics", "scopes": ["chat"]})
    assert wrong.status_code == 400
