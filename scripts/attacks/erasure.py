"""What is left of a deleted conversation where staff and administrators can look."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from uuid import uuid4

import httpx

from scripts.harness.checks import Report
from scripts.harness.servers import CHAT, Target

TOLD = {"handoff.queued", "ticket.created", "gap.detected"}
WAIT_SECONDS = 30.0
# Longer than events are gathered before they are handed on.
SETTLE_SECONDS = 3.0


async def run_attack(target: Target) -> Report:
    """Makes a conversation of which webhooks are told, deletes it, and looks for it."""
    report, mark = Report(), uuid4().hex[:12]
    async with target.open_client(target.admin) as api:
        hook = await subscribe_webhook(api)
        others = await _wait_until_settled(api, hook, frozenset())
        session = await make_conversation(api, mark)
        stored = await _wait_until_settled(api, hook, frozenset(TOLD), others)
        report.check(set(stored.values()) == TOLD, f"没有收到全部事件：{stored}")
        (await api.delete(f"/api/v1/conversations/{session}")).raise_for_status()
        gone = stored.keys() - await _list_deliveries(api, hook)  # others may have conversations meanwhile
        report.check(len(gone) >= len(TOLD), "会话删除后，Webhook 投递里还存着它")
        report.check((await api.get(f"/api/v1/conversations/{session}")).status_code == 404, "会话还能读")
        report.check(
            mark not in (await api.get("/api/v1/knowledge/gaps/questions?limit=200")).text, "知识缺口里还有它的问题"
        )
        tickets = await api.get("/api/v1/tickets", params={"session_id": session})
        report.check(tickets.json()["total"] == 0, "工单还连着它")
        await api.delete(f"/api/v1/webhooks/{hook}")
    return report


async def subscribe_webhook(api: httpx.AsyncClient) -> str:
    """A webhook to a name that nothing answers to, so that deliveries stay; its id."""
    hook = {"url": "https://receiver.invalid/hook", "events": [*sorted(TOLD)]}
    return str((await api.post("/api/v1/webhooks", json=hook)).raise_for_status().json()["id"])


async def make_conversation(api: httpx.AsyncClient, mark: str) -> str:
    """A question that nothing answers, a request for a person and a ticket; the session's id."""
    session = f"erase-{mark}"
    asked = {"message": f"{mark} 型号的陀螺仪怎么校准", "session_id": session}
    (await api.post(CHAT, json=asked)).raise_for_status()
    (await api.post(f"/api/v1/conversations/{session}/handoff", json={})).raise_for_status()
    (await api.post("/api/v1/tickets", json={"subject": "回访", "session_id": session})).raise_for_status()
    return session


async def _wait_until_settled(
    api: httpx.AsyncClient, hook: str, told: frozenset[str], others: Collection[str] = ()
) -> dict[str, str]:
    """Deliveries besides others' once all of `told` were handed on and no more come, or after a while."""
    before: dict[str, str] = {}
    for _ in range(int(WAIT_SECONDS / SETTLE_SECONDS)):
        await asyncio.sleep(SETTLE_SECONDS)
        found = {key: event for key, event in (await _list_deliveries(api, hook)).items() if key not in others}
        if found == before and set(found.values()) >= told:
            break
        before = found
    return before


async def _list_deliveries(api: httpx.AsyncClient, hook: str) -> dict[str, str]:
    """What is stored for the webhook: id of a delivery -> event."""
    page = (await api.get(f"/api/v1/webhooks/{hook}/deliveries", params={"limit": 200})).raise_for_status().json()
    return {item["id"]: item["event"] for item in page["deliveries"]}
