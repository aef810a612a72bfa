"""A day of a customer service that calls every operation once, with the requests of the documentation."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import httpx

from app.db.base import now
from tests.app.channels.test_webhook import signed
from tests.app.openapi.document import JSON, data_of, operations, problems

SESSION, AGENT, CHANNEL = "demo-1", "a01", "shop"
PATIENCE_S = 240
GUIDE = "# 退货说明\n\n## 运费\n\n七天无理由退货，运费由顾客承担；质量问题由商家承担。\n"


@dataclass
class Story:
    """bodies: what was answered, by operation and status; faults: what of it the documentation does not say."""

    http: httpx.AsyncClient
    receiver: str
    site: str
    model: str
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
        if "multipart/form-data" in operation.request and "file" in body:
            options = {"files": {"file": ("表格.csv", body["file"])}}
        elif "multipart/form-data" in operation.request:
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
            streamed = data_of(told[kind])
            schema = streamed or told[kind]["schema"]
            for value in [data for _, data in events(body) if data != "[DONE]"] if streamed else [body]:
                self.faults += [f"{where} {fault}" for fault in problems(schema, value)]
            self.bodies[name, kind if kind != JSON else str(response.status_code)] = body
        return body

    async def tell(self) -> None:
        """All of it, in an order in which it can happen."""
        await self._connect()
        await self._knowledge()
        await self._talk()
        await self._desk()
        await self._tickets()
        await self._channels()
        await self._refusals()
        await self._rest()
        await self._keys()

    async def _connect(self) -> None:
        """A language model, which judges once it is measured."""
        wish = {"provider": "compatible", "base_url": self.model, "model": "large", "api_key": "key"}
        await self.send("test_model_connection", wish)
        await self.send("write_model_connection", wish)
        await self.refused("write_model_connection", 409, wish | {"base_url": "http://127.0.0.1:9/v1", "api_key": ""})
        async with asyncio.timeout(PATIENCE_S):
            while not (await self.call("read_model_connection"))["judges"]:  # noqa: ASYNC110
                await asyncio.sleep(0.2)
        await self.call("read_first_steps")

    async def _knowledge(self) -> None:
        for name in ("health", "readiness"):
            await self.call(name)
        taken = await self.call("upload_documents", {"wait": 60})
        job, document = taken["job"]["id"], taken["files"][0]["document_id"]
        await self.call("preview_document")
        await self.call("list_jobs")
        for name in ("get_job", "cancel_job"):
            await self.call(name, job_id=job)
        await self.call("list_documents")
        for name in ("get_document", "change_document", "list_chunks", "get_original"):
            await self.call(name, document_id=document)
        await self.call("search_knowledge")
        await self.call("search_many")
        for kind in ("csv", "xlsx"):
            await self.call("search_file", {"format": kind})
        await self._corrections(document)
        await self._versions({"document_id": document})
        await self._sources()
        await self._faqs()
        await self.call("write_profile")
        await self.call("read_profile")
        await self.call("read_greeting")
        await self.call("write_widget")
        await self.call("read_widget")

    async def _corrections(self, document: str) -> None:
        place = {"document_id": document}
        (chunk,) = self.bodies["list_chunks", "200"]["items"]
        made = await self.call("correct_chunk", **place, chunk_id=chunk["id"])
        await self.call("list_corrections")
        await self.call("list_document_corrections", **place)
        await self.refused("correct_chunk", 409, {"excluded": True}, **place, chunk_id=made["chunk_id"])
        await self.call("delete_correction", **place, correction_id=made["correction"]["id"])

    async def _versions(self, document: dict[str, str]) -> None:
        """Drafts of the same file, under other labels."""
        sent = self.example("upload_documents") | {"draft": "true"}
        await self.send("upload_documents", sent | {"category": "保修"}, {"wait": 60})
        await self.call("list_drafts")
        draft = document | {"version": "2"}
        await self.call("diff_versions", **draft)
        for name in ("submit_version", "reject_version", "submit_version", "approve_version"):
            await self.call(name, **draft)
        await self.refused("submit_version", 409, self.example("submit_version"), **draft)
        await self.call("rollback_document", **document)
        await self.send("upload_documents", sent | {"category": "退货"}, {"wait": 60})
        await self.call("discard_version", **document, version="4")

    async def _sources(self) -> None:
        page = {"url": f"{self.site}/returns"}
        await self.send("import_from_url", self.example("import_from_url") | page, {"wait": 60})
        await self.refused("import_from_url", 403, {"url": "http://10.0.0.1/"})
        await self.refused("import_from_url", 422, {"url": f"{self.site}/none"})
        website = self.example("add_source")["website"] | page
        source = {"source_id": (await self.send("add_source", self.example("add_source") | {"website": website}))["id"]}
        await self.refused("add_source", 403, {"name": "内网", "website": {"url": "http://10.0.0.1/"}})
        await self.call("list_sources")
        for name in ("get_source", "change_source", "sync_source", "list_source_items", "delete_source"):
            await self.call(name, **source)
        await self.refused("get_source", 404, **source)

    async def _faqs(self) -> None:
        entry = {"faq_id": (await self.call("add_faq"))["id"]}
        await self.call("list_faqs")
        await self.call("import_faqs")
        await self.call("export_faqs")
        for name in ("read_faq", "change_faq", "delete_faq"):
            await self.call(name, **entry)
        await self.refused("read_faq", 404, **entry)

    async def _talk(self) -> None:
        await self.call("open_session")
        await self.call("read_current_session")
        await self._people()
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

    async def _people(self) -> None:
        """The examples are one person's: invited, with one password and then the other, signed out."""
        person = {"person_id": (await self.call("create_person"))["id"]}
        await self.call("list_people")
        for name in ("assign_duty", "change_person"):
            await self.call(name, **person)
        invited = await self.call("invite_person", **person)
        await self.send("accept_invitation", self.example("accept_invitation") | {"invitation": invited["invitation"]})
        for name in ("change_password", "sign_out_everywhere", "sign_in", "read_sign_in", "sign_out"):
            await self.call(name)
        await self.call("sign_person_out", **person)

    async def _attachments(self, **here: str) -> None:
        await self.call("upload_staff_attachment", **here)
        sent = await self.call("upload_attachment", **here)
        place = {**here, "attachment_id": sent["id"]}
        await self.call("read_attachment", **place)
        await self.call("read_attachment_text", **place)
        await self.call("delete_attachment", **place)

    async def _desk(self) -> None:
        here = {"session_id": SESSION}
        await self.call("write_staff", agent_id=AGENT)
        await self.call("report_presence", agent_id=AGENT)
        await self.call("list_staff")
        team = {"team_id": (await self.call("create_team"))["id"]}
        await self.call("list_teams")
        for name in ("rename_team", "remove_team"):
            await self.call(name, **team)
        await self.call("request_handoff", **here)
        await self.call("leave_handoff", **here)
        await self.call("request_handoff", **here)
        await self.call("read_handoff", **here)
        await self.call("list_pending_sessions")
        await self.call("accept_session", **here)
        await self.call("list_desk_sessions")
        await self.call("send_desk_message", **here)
        await self._attachments(**here)
        for name in ("read_desk_session", "read_desk_messages", "read_handoff_messages", "recommend_knowledge"):
            await self.call(name, **here)
        await self.call("write_desk_note", **here)
        await self.call("report_visit", **here)
        for name in ("mark_session_read", "change_session", "label_conversation", "name_contact", "read_contact"):
            await self.call(name, **here)
        for name in ("list_labels", "search_history", "list_saved_views"):
            await self.call(name)
        view = await self.call("save_view")
        await self.call("delete_view", view_id=view["id"])
        canned = {"canned_id": (await self.call("add_canned_reply"))["id"]}
        await self.call("list_canned_replies")
        await self.call("change_canned_reply", **canned)
        await self.call("delete_canned_reply", **canned)
        await self.call("assist_with_business", {"question": "我的订单到哪了"}, **here)
        await self.call("transfer_session", **here)
        await self.call("accept_session", **here)
        await self.call("resolve_session", **here)
        await self.call("list_recent_sessions", {"agent_id": AGENT})
        await self.call("write_solution", **here)
        await self.call("list_session_solutions", **here)
        await self.call("list_solutions")
        for name in ("read_rating", "rate_service"):
            await self.call(name, **here)
        await self.call("read_report")
        await self.call("list_reported", {"measure": "rated"})
        await self.call("export_report", {"table": "agents"})
        for close in ("close_session", "close_conversation"):
            await self.call("request_handoff", **here)
            await self.call(close, **here)

    async def _tickets(self) -> None:
        hook = await self.send("create_webhook", self.example("create_webhook") | {"url": self.receiver})
        webhook = {"webhook_id": hook["id"]}
        ticket = {"number": (await self.call("open_ticket"))["number"]}
        for name in ("read_ticket", "edit_ticket", "comment_on_ticket", "move_ticket"):
            await self.call(name, **ticket)
        await self.send("change_tickets", self.example("change_tickets") | {"numbers": list(ticket.values())})
        for name in ("list_tickets", "export_tickets", "list_assignees"):
            await self.call(name)
        await self.call("list_webhooks")
        await self.call("test_webhook", **webhook)
        async with asyncio.timeout(PATIENCE_S):
            while not (found := (await self.call("list_deliveries", **webhook))["deliveries"]):  # noqa: ASYNC110
                await asyncio.sleep(0.2)
        await self.call("retry_delivery", **webhook, delivery_id=found[0]["id"])
        await self.send("change_webhook", self.example("change_webhook") | {"url": self.receiver}, **webhook)
        await self.call("delete_webhook", **webhook)

    async def _channels(self) -> None:
        body = json.dumps({"id": "m1", "user_id": "u1", "text": "你好"}).encode()
        path = f"/api/v1/channels/{CHANNEL}/callback"
        (await self.http.post(path, content=body, headers=signed(body, now()))).raise_for_status()
        await self.call("list_channels")
        async with asyncio.timeout(PATIENCE_S):
            while not (found := (await self.call("list_channel_replies", name=CHANNEL))["replies"]):  # noqa: ASYNC110
                await asyncio.sleep(0.2)
        await self.call("retry_channel_reply", name=CHANNEL, reply_id=found[0]["id"])
        await self.refused("list_channel_replies", 404, name="none")
        found = (await self.call("list_channel_conversations", name=CHANNEL))["conversations"]
        await self.send("send_channel_test", {"session_id": found[0]["session_id"]}, name=CHANNEL)
        await self.call("bind_channel_member", name=CHANNEL)
        user = self.example("bind_channel_member")["channel_user"]
        await self.call("forget_channel_members", {"channel_user": user}, name=CHANNEL)

    async def _refusals(self) -> None:
        """A little of what goes wrong."""
        await self.refused("chat", 422, {})
        await self.refused("create_completion", 400, {"model": "yingda"})
        await self.refused("create_completion", 404, self.example("create_completion") | {"model": "gpt"})
        await self.refused("read_ticket", 404, number="TK0")
        await self.refused("read_conversation", 404, session_id="nobody")
        await self.refused("accept_session", 409, self.example("accept_session"), session_id=SESSION)
        await self.refused("create_webhook", 403, self.example("create_webhook") | {"url": "file:///etc/hosts"})
        for name in ("get_document", "list_chunks", "get_original", "delete_document"):
            await self.refused(name, 404, document_id="none")
        for name in ("restore_document", "erase_document"):
            await self.refused(name, 404, document_id="none")
        for name in ("get_job", "cancel_job"):
            await self.refused(name, 404, job_id="none")
        for name in ("get_job_run", "cancel_job_run"):
            await self.refused(name, 404, run_id="none")
        await self.refused("start_job_run", 404, kind="none")
        await self.refused("start_job_run", 409, {"parameters": {"all": 1}}, kind="index_verification")
        await self.refused("invalidate_cache", 400, {"document_id": "d", "question": "q"})
        await self.refused("search_knowledge", 400, {"query": " "})

    async def _rest(self) -> None:
        await self.call("read_metrics")
        await self.call("read_cache_stats")
        await self.call("invalidate_cache")
        await self.call("read_usage")
        await self.call("list_circuit_breakers")
        await self.call("read_spending")
        await self.call("list_prompts")
        await self.call("list_prompt_versions", name="answer")
        await self.call("reset_circuit_breaker", name="llm")
        await self.call("read_series")
        await self.call("prometheus_metrics")
        await self._gaps()
        await self._quality()
        await self._vocabulary()
        await self._evaluation()
        await self._tuner()
        run = {"run_id": (await self.call("start_job_run", kind="index_verification"))["id"]}
        for name in ("get_job_run", "cancel_job_run"):
            await self.call(name, **run)
        await self.call("list_job_runs")
        await self.call("list_job_kinds")
        documents = (await self.call("list_documents"))["items"]
        for deleted in documents[:2]:
            await self.call("delete_document", document_id=deleted["id"])
        await self.call("list_bin")
        await self.call("restore_document", document_id=documents[0]["id"])
        await self.call("erase_document", document_id=documents[1]["id"])
        await self.call("delete_conversation", session_id=SESSION)
        await self.call("drop_model_connection")

    async def _quality(self) -> None:
        await self.send("add_faq", {"question": "进货价是多少", "answer": "仅供内部：进货价见采购系统。"})
        run = await self.send("start_job_run", {}, kind="quality_check")
        async with asyncio.timeout(PATIENCE_S):
            while (await self.call("get_job_run", run_id=run["id"]))["state"] != "done":  # noqa: ASYNC110
                await asyncio.sleep(0.2)
        (issue,) = (await self.call("list_quality_issues"))["items"]
        await self.refused("decide_quality_issue", 400, {"state": "ignored"}, issue_id=issue["id"])
        await self.call("decide_quality_issue", issue_id=issue["id"])

    async def _gaps(self) -> None:
        answered = await self.send("chat", {"message": "xylophone zebra quartz"})
        message = {"session_id": answered["session_id"], "message_id": answered["message_id"]}
        await self.send("rate_message", {"rating": "down", "reason": "答非所问"}, **message)
        await self.call("list_unanswered")
        run = await self.call("mine_gaps")
        async with asyncio.timeout(PATIENCE_S):
            while (await self.call("get_job_run", run_id=run["id"]))["state"] in ("queued", "running"):  # noqa: ASYNC110
                await asyncio.sleep(0.2)
        gap = (await self.call("list_gaps"))["items"][0]
        one = {"gap_id": gap["id"]}
        await self.call("read_gap", **one)
        for name in ("draft_gap", "edit_gap", "submit_gap", "reject_gap", "submit_gap", "approve_gap", "reopen_gap"):
            await self.call(name, **one)
        for name in ("dismiss_gap", "reopen_gap"):
            await self.call(name, **one)
        await self.refused("approve_gap", 409, **one)
        for name in ("put_gap_policy", "read_gap_policy"):
            await self.call(name)
        listed = (await self.call("list_gaps"))["items"]  # what was worked on may stand in another place by now
        other = next(item for item in listed if item["id"] != gap["id"])
        await self.send("merge_gap", {"into": gap["id"]}, gap_id=other["id"])
        await self.refused("read_gap", 404, gap_id="none")

    async def _vocabulary(self) -> None:
        entry = await self.call("put_vocabulary_entry")
        await self.refused("put_vocabulary_entry", 409, {"kind": "stop", "term": "云朵一号"})
        await self.call("put_vocabulary_entries")
        await self.call("import_vocabulary")
        await self.call("list_vocabulary")
        await self.call("export_vocabulary")
        await self.call("list_vocabulary_suggestions")
        await self.call("delete_vocabulary_entry", entry_id=entry["id"])
        await self.refused("delete_vocabulary_entry", 404, entry_id="none")

    async def _evaluation(self) -> None:
        made = {"set_id": (await self.call("add_evaluation_set"))["id"]}
        await self.refused("add_evaluation_set", 409, self.example("add_evaluation_set"))
        for name in ("get_evaluation_set", "change_evaluation_set"):
            await self.call(name, **made)
        case = made | {"case_id": (await self.call("put_evaluation_cases", **made))["cases"][0]["id"]}
        await self.call("change_evaluation_case", **case)
        await self.call("list_evaluation_cases", **made)
        await self.call("import_evaluation_cases", **made)
        for kind in ("jsonl", "csv", "xlsx"):
            await self.call("export_evaluation_cases", {"format": kind}, **made)
        await self.call("list_evaluation_sets")
        body = self.example("start_evaluation_run") | made
        report = {"report_id": (await self.send("start_evaluation_run", body))["id"]}
        async with asyncio.timeout(PATIENCE_S):
            while (await self.call("get_evaluation_report", **report))["state"] in ("queued", "running"):  # noqa: ASYNC110
                await asyncio.sleep(0.2)
        await self.call("list_evaluation_reports")
        await self.call("list_evaluation_results", **report)
        await self.call("compare_evaluation_reports", {"before": report["report_id"]}, **report)
        await self.call("delete_evaluation_report", **report)
        await self.refused("get_evaluation_report", 404, **report)
        await self.call("delete_evaluation_case", **case)
        await self.call("delete_evaluation_set", **made)
        await self.refused("delete_evaluation_set", 404, **made)

    async def _tuner(self) -> None:
        for name in ("read_params", "write_params", "list_params_history"):
            await self.call(name)
        await self.refused("write_params", 400, {"values": {"similarity_threshold": 0}})
        await self.refused("write_params", 409, self.example("write_params") | {"version": 9})
        await self.call("revert_params", version="0")
        await self.refused("revert_params", 404, version="99")
        await self.call("reset_params")
        asked = [
            {"question": f"{text}{'呢' * number}", "answerable": kind}
            for kind, text in ((True, "质量问题退货运费谁出"), (False, "长城有多长"))
            for number in range(20)
        ]
        await self.send("write_params", {"values": {"similarity_threshold": 0.95, "confident_threshold": 0.99}})
        made = {"report_id": (await self.send("begin_calibration", {"questions": asked}))["id"]}
        async with asyncio.timeout(PATIENCE_S):
            while not (await self.call("read_tuner_report", **made))["finished_at"]:  # noqa: ASYNC110
                await asyncio.sleep(0.2)
        await self.call("list_parameter_effects")
        await self.call("apply_tuner_report", **made)
        report = {"report_id": (await self.send("begin_sweep", {"questions": asked, "ks": [60], "widths": [25]}))["id"]}
        await self.call("list_tuner_reports")
        await self.refused("apply_tuner_report", 409, self.example("apply_tuner_report"), **report)
        await self.call("delete_tuner_report", **report)
        await self.refused("begin_calibration", 404, self.example("begin_calibration"))
        await self.refused("begin_sweep", 409, self.example("begin_sweep"))
        await self.call("estimate_judgement")
        await self.call("begin_judgement")
        await self.call("read_verdicts")
        await self.call("drop_verdicts")

    async def _keys(self) -> None:
        """At the end: with the first key a key is asked for."""
        first = await self.call("create_key")
        self.http.headers["X-API-Key"] = first["key"]
        made = await self.send("create_key", {"name": "官网", "role": "client"})
        await self.call("list_keys")
        await self.call("change_key", key_id=made["id"])
        await self.call("rotate_key", key_id=made["id"])
        await self.call("revoke_key", key_id=made["id"])
        for name in ("list_audit", "list_audit_choices", "export_audit"):
            await self.call(name)


def events(text: str) -> list[tuple[str, Any]]:
    """Type and data of each event of a stream; of `[DONE]` as it stands."""
    found = []
    for block in text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if data := lines.get("data"):
            found.append((lines.get("event", ""), data if data == "[DONE]" else json.loads(data)))
    return found
