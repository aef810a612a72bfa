"""A tenant full of secrets, by which whatever reaches somebody else is known."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any

import httpx

from app.db.base import now
from tests.app.channels.test_webhook import signed
from tests.app.openapi.document import Operation, operations

# Asks for what the tenant knows.
QUESTION = "云朵计划的暗号是什么"
NOWHERE = "http://127.0.0.1:9/"
PATIENCE_S = 240
_TEXTS = frozenset(
    ("answer", "content", "description", "name", "persona", "question", "subject", "text", "title", "welcome_message")
)
_ASKING = frozenset(("message", "query", "question"))


@dataclass
class Tenant:
    """admin: a client with its key; secret: stands in all that it wrote; private: in what its customer said.

    ids: what stands in a path -> an id of the tenant's.
    """

    admin: httpx.AsyncClient
    secret: str = field(default_factory=lambda: f"QX{token_hex(8)}")
    private: str = field(default_factory=lambda: f"QY{token_hex(8)}")
    ids: dict[str, str] = field(default_factory=lambda: {"index": "1", "model": "yingda", "version": "1", "name": "1"})
    token: str = ""

    async def fill(self, customer: httpx.AsyncClient) -> None:
        """Something of everything that has an id. customer: with a key of a chat window."""
        await self._knowledge()
        await self._conversation(customer)
        await self._rest()

    async def make(self, name: str, given: Mapping[str, Any] | None = None, /, **query: Any) -> Any:
        """Sends the documented request, with the secret in its texts."""
        body = marked(example(operations()[name]), self.secret)
        body = body | dict(given or {}) if isinstance(body, dict) else body
        response = await self.admin.request(*place(operations()[name], self.ids), json=body, params=query)
        assert response.is_success, (name, response.status_code, response.text)
        return response.json() if response.content else None

    async def _knowledge(self) -> None:
        guide = f"# 云朵计划\n\n{QUESTION}：云朵计划的暗号是 {self.secret}。\n".encode()
        for draft in ("false", "true"):
            sent = [("files", ("云朵计划.md", guide))]
            form: dict[str, Any] = {"data": {"draft": draft, "category": draft}, "files": sent}
            taken = (await self.admin.post("/api/v1/knowledge/documents?wait=60", **form)).json()
        self.ids |= {"job_id": taken["job"]["id"], "document_id": taken["files"][0]["document_id"], "version": "2"}
        self.ids["chunk_id"] = (await self.make("list_chunks"))["items"][0]["id"]
        self.ids["correction_id"] = (await self.make("correct_chunk"))["correction"]["id"]
        self.ids["faq_id"] = (await self.make("add_faq"))["id"]
        self.ids["entry_id"] = (await self.make("put_vocabulary_entry", {"others": [self.secret]}))["id"]
        self.ids["source_id"] = (await self.make("add_source", {"website": {"url": NOWHERE}}))["id"]
        await self.make("write_profile")

    async def _conversation(self, customer: httpx.AsyncClient) -> None:
        self.ids["webhook_id"] = (await self.make("create_webhook", {"url": NOWHERE}))["id"]
        said = (await customer.post("/api/v1/chat", json={"message": f"我的暗语是 {self.private}"})).json()
        self.token = said["session_token"]
        self.ids |= {"session_id": said["session_id"], "message_id": said["message_id"], "trace_id": said["message_id"]}
        self.ids |= {"agent_id": "a01", "team_id": (await self.make("create_team"))["id"]}
        self.ids["person_id"] = (await self.make("create_person", {"teams": []}))["id"]
        place = f"/api/v1/conversations/{said['session_id']}/attachments"
        sent = await self.admin.post(place, files={"file": ("暗语.txt", self.private.encode())})
        self.ids["attachment_id"] = sent.json()["id"]
        self.ids["view_id"] = (await self.make("save_view"))["id"]
        for name in ("write_staff", "report_presence", "request_handoff", "accept_session"):
            await self.make(name)
        await self.make("send_desk_message", {"content": f"{self.private} {self.secret}"})
        for name in ("write_desk_note", "resolve_session", "write_solution"):
            await self.make(name)
        await self.make("rate_service", {"comment": self.private})
        for name in ("request_handoff", "accept_session"):
            await self.make(name)
        self.ids["canned_id"] = (await self.make("add_canned_reply"))["id"]
        self.ids["number"] = (await self.make("open_ticket", {"session_id": self.ids["session_id"]}))["number"]

    async def _rest(self) -> None:
        self.ids["set_id"] = (await self.make("add_evaluation_set"))["id"]
        self.ids["case_id"] = (await self.make("put_evaluation_cases"))["cases"][0]["id"]
        self.ids["report_id"] = (await self.make("start_evaluation_run", {"set_id": self.ids["set_id"]}))["id"]
        self.ids["key_id"] = (await self.make("create_key"))["id"]
        self.ids["delivery_id"] = (await self._once("list_deliveries", lambda body: body["deliveries"]))[0]["id"]
        await self.make(
            "add_faq", {"question": f"进货价 {self.secret}", "answer": "仅供内部：进货价见采购系统。", "variants": []}
        )
        for kind in ("quality_check", "gap_mining"):
            self.ids["kind"] = kind
            self.ids["run_id"] = (await self.make("start_job_run", {"parameters": {}}))["id"]
            await self._once("get_job_run", lambda body: body["state"] not in ("queued", "running"))
        self.ids["issue_id"] = (await self.make("list_quality_issues"))["items"][0]["id"]
        self.ids["gap_id"] = (await self.make("list_gaps"))["items"][0]["id"]
        body = json.dumps({"id": "m1", "user_id": "u1", "text": f"我的暗语是 {self.private}"}).encode()
        (
            await self.admin.post("/api/v1/channels/1/callback", content=body, headers=signed(body, now()))
        ).raise_for_status()
        self.ids["reply_id"] = (await self._once("list_channel_replies", lambda body: body["replies"]))[0]["id"]

    async def _once(self, name: str, there: Any) -> Any:
        async with asyncio.timeout(PATIENCE_S):
            while not (found := there(await self.make(name))):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        return found


def example(operation: Operation) -> Any:
    """The documented request."""
    return next((told.get("example") for told in operation.request.values()), None)


def place(operation: Operation, ids: Mapping[str, str]) -> tuple[str, str]:
    """Method and path, with these ids."""
    return operation.method.upper(), re.sub(r"\{(\w+)\}", lambda found: ids[found[1]], operation.path)


def marked(value: Any, secret: str) -> Any:
    """The same with the secret in its texts."""
    if isinstance(value, list):
        return [marked(item, secret) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: f"{inner} {secret}" if name in _TEXTS and isinstance(inner, str) else marked(inner, secret)
        for name, inner in value.items()
    }


def aimed(operation: Operation, ids: Mapping[str, str]) -> dict[str, Any]:
    """Options of a request that names these ids wherever it can name one, and asks for what the tenant knows."""
    queries = [told["name"] for told in operation.told.get("parameters", ()) if told.get("in") == "query"]
    options: dict[str, Any] = {"params": {name: ids[name] for name in queries if name in ids}}
    body = _aimed(example(operation), ids)
    if "multipart/form-data" in operation.request and "file" in body:
        return options | {"files": {"file": ("云朵.csv", body["file"])}}
    if "multipart/form-data" in operation.request:
        return options | {"files": [("files", ("云朵.md", b"# x\n\ny"))]}
    return options if body is None else options | {"json": body}


def _aimed(value: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_aimed(item, ids) for item in value]
    if not isinstance(value, dict):
        return value
    known = {**ids, "into": ids["gap_id"], "set": ids["set_id"], "url": NOWHERE, **dict.fromkeys(_ASKING, QUESTION)}
    known["assignee"] = ""  # else it is refused for that one, before anybody looks at the ticket
    if "numbers" in value:
        return value | {"numbers": [ids["number"]]}
    return {
        name: known[name] if name in known and isinstance(inner, str) else _aimed(inner, ids)
        for name, inner in value.items()
    }
