"""A day of a customer service that calls every operation once, with the requests of the documentation."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.app.openapi.document import JSON, operations, problems

SESSION, AGENT = "demo-1", "a01"
GUIDE = "# 退货说明\n\n## 运费\n\n七天无理由退货，运费由顾客承担；质量问题由商家承担。\n"


@dataclass
class Story:
    """bodies: what was answered, by operation and status; faults: what of it the documentation does not say."""

    http: httpx.AsyncClient
    receiver: str
    bodies: dict[tuple[str, str], Any] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    async def call(self, name: str, query: dict[str, Any] | None = None, /, **places: str) -> Any:
        """Sends the documented request, and compares the response with what is documented."""
        return await self.send(name, self.example(name), query, **places)

    async def refused(self, name: str, status: int, body: Any = None, /, **places: str) -> None:
        """The same where it is refused."""
        response = await self._sent(name, body, None, places)
        if response.status_code != status:
            self.faults.append(f"{name}: {response.status_code} and not {status}: {response.text}")
        self._checked(name, response)

    async def send(self, name: str, body: Any, query: dict[str, Any] | None = None, /, **places: str) -> Any:
        """The same with another body."""
        response = await self._sent(name, body, query, places)
        self.called.add(name)
        if response.is_error:
            self.faults.append(f"{name}: {response.status_code} {response.text}")
        return self._checked(name, response)

    async def _sent(self, name: str, body: Any, query: dict[str, Any] | None, places: dict[str, str]) -> httpx.Response:
        operation = operations()[name]
        options: dict[str, Any] = {"json": body} if body is not None else {}
        if "multipart/form-data" in operation.request:
            fields = {key: value for key, value in body.items() if key != "files"}
            options = {"data": fields, "files": [("files", ("退货说明.md", GUIDE))]}
        path = operation.path.format(**places)
        return await self.http.request(operation.method.upper(), path, params=query, **options)

    def example(self, name: str) -> Any:
        """The documented request."""
        return next((told.get("example") for told in operations()[name].request.values()), None)

    def _checked(self, name: str, response: httpx.Response) -> Any:
        where = f"{name} {response.status_code}"
        if str(response.status_code) not in operations()[name].told["responses"]:
            self.faults.append(f"{where} is not documented")
            return None
        kind = response.headers.get("content-type", "").partition(";")[0]
        told = operations()[name].response(response.status_code)
        if kind not in told and (kind or told):
            self.faults.append(f"{where}: {kind} is not documented")
            return None
        body = response.json() if kind == JSON else response.text
        if kind:
            schema = told[kind]["schema"]
            self.faults += [f"{where} {fault}" for fault in problems(schema, body)]
            for _, data in events(body) if "contentSchema" in schema else ():
                if data != "[DONE]":
                    self.faults += [f"{where} {fault}" for fault in problems(schema["contentSchema"], data)]
            self.bodies[name, kind if kind != JSON else str(response.status_code)] = body
        return body

    async def tell(self) -> None:
        """All of it, in an order in which it can happen."""
        await self._knowledge()
        await self._talk()
        await self._desk()
        await self._tickets()
        await self._refusals()
        await self._rest()
        await self._keys()

    async def _knowledge(self) -> None:
        for name in ("health", "readiness"):
            await self.call(name)
        taken = await self.call("upload_documents", {"wait": 60})
        job, document = taken["job"]["id"], taken["files"][0]["document_id"]
        await self.call("list_jobs")
        for name in ("get_job", "cancel_job"):
            await self.call(name, job_id=job)
        await self.call("list_documents")
        for name in ("get_document", "change_document", "list_chunks", "get_original"):
            await self.call(name, document_id=document)
        await self.call("search_knowledge")
        await self.call("write_profile")
        await self.call("read_profile")
        await self.call("read_greeting")

    async def _talk(self) -> None:
        await self.call("open_session")
        await self.call("read_current_session")
        for name in ("sign_in", "read_sign_in", "sign_out"):
            await self.call(name)
        done = await self.call("chat")
        await self.call("chat_stream")
        await self.call("stop_chat", session_id=SESSION)
        await self.call("create_completion")
        streamed = self.example("create_completion") | {"stream": True, "stream_options": {"include_usage": True}}
        await self.send("create_completion", streamed)
        await self.call("list_models")
        await self.call("get_model", model="yingda")
        await self.call("rate_message", session_id=SESSION, message_id=done["message_id"])
        await self.call("list_conversations")
        for name in ("read_conversation", "read_history"):
            await self.call(name, session_id=SESSION)
        await self.call("read_conversation", session_id=SESSION)
        await self.call("read_trace", trace_id=done["message_id"])
        await self.call("read_source", session_id=SESSION, message_id=done["message_id"], index="1")

    async def _desk(self) -> None:
        here = {"session_id": SESSION}
        await self.call("write_staff", agent_id=AGENT)
        await self.call("report_presence", agent_id=AGENT)
        await self.call("list_staff")
        await self.call("request_handoff", **here)
        await self.call("leave_handoff", **here)
        await self.call("request_handoff", **here)
        await self.call("read_handoff", **here)
        await self.call("list_pending_sessions")
        await self.call("accept_session", **here)
        await self.call("list_desk_sessions")
        await self.call("send_desk_message", **here)
        for name in ("read_desk_session", "read_desk_messages", "read_handoff_messages", "recommend_knowledge"):
            await self.call(name, **here)
        await self.call("write_desk_note", **here)
        canned = {"canned_id": (await self.call("add_canned_reply"))["id"]}
        await self.call("list_canned_replies")
        await self.call("change_canned_reply", **canned)
        await self.call("delete_canned_reply", **canned)
        await self.call("assist_with_business", {"question": "我的订单到哪了"}, **here)
        await self.call("transfer_session", **here)
        await self.call("accept_session", **here)
        await self.call("resolve_session", **here)
        await self.call("write_solution", **here)
        await self.call("list_session_solutions", **here)
        await self.call("list_solutions")
        for close in ("close_session", "close_conversation"):
            await self.call("request_handoff", **here)
            await self.call(close, **here)

    async def _tickets(self) -> None:
        hook = await self.send("create_webhook", self.example("create_webhook") | {"url": self.receiver})
        webhook = {"webhook_id": hook["id"]}
        ticket = {"number": (await self.call("open_ticket"))["number"]}
        for name in ("read_ticket", "edit_ticket", "comment_on_ticket", "move_ticket"):
            await self.call(name, **ticket)
        await self.call("list_tickets")
        await self.call("list_webhooks")
        await self.call("test_webhook", **webhook)
        async with asyncio.timeout(60):
            while not (found := (await self.call("list_deliveries", **webhook))["deliveries"]):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        await self.call("retry_delivery", **webhook, delivery_id=found[0]["id"])
        await self.send("change_webhook", self.example("change_webhook") | {"url": self.receiver}, **webhook)
        await self.call("delete_webhook", **webhook)

    async def _refusals(self) -> None:
        """A little of what goes wrong."""
        await self.refused("chat", 422, {})
        await self.refused("create_completion", 400, {"model": "yingda"})
        await self.refused("create_completion", 404, self.example("create_completion") | {"model": "gpt"})
        await self.refused("read_ticket", 404, number="TK0")
        await self.refused("read_conversation", 404, session_id="nobody")
        await self.refused("accept_session", 409, self.example("accept_session"), session_id=SESSION)
        await self.refused("create_webhook", 400, self.example("create_webhook") | {"url": "file:///etc/hosts"})
        for name in ("get_document", "list_chunks", "get_original", "delete_document"):
            await self.refused(name, 404, document_id="none")
        for name in ("get_job", "cancel_job"):
            await self.refused(name, 404, job_id="none")
        await self.refused("invalidate_cache", 400, {"document_id": "d", "question": "q"})
        await self.refused("search_knowledge", 400, {"query": " "})

    async def _rest(self) -> None:
        await self.call("read_metrics")
        await self.call("read_cache_stats")
        await self.call("invalidate_cache")
        await self.call("read_usage")
        await self.call("read_series")
        await self.call("prometheus_metrics")
        await self.call("list_gaps")
        documents = (await self.call("list_documents"))["items"]
        await self.call("delete_document", document_id=documents[0]["id"])
        await self.call("delete_conversation", session_id=SESSION)

    async def _keys(self) -> None:
        """At the end: with the first key a key is asked for."""
        first = await self.call("create_key")
        self.http.headers["X-API-Key"] = first["key"]
        made = await self.send("create_key", {"name": "官网", "role": "client"})
        await self.call("list_keys")
        await self.call("change_key", key_id=made["id"])
        await self.call("revoke_key", key_id=made["id"])


def events(text: str) -> list[tuple[str, Any]]:
    """Type and data of each event of a stream; of `[DONE]` as it stands."""
    found = []
    for block in text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if data := lines.get("data"):
            found.append((lines.get("event", ""), data if data == "[DONE]" else json.loads(data)))
    return found
