"""A request that is sent again under its key, by a phone in a tunnel or two workers at once."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import httpx

from scripts.harness.checks import Report
from scripts.harness.servers import Target, run_product
from scripts.integration.base import Room

CHAT = "/api/v1/chat"
AT_ONCE = 8
_ASKED = {"message": "退货运费谁出"}


def run_retries(room: Room, checks: Report) -> None:
    """Checks retries with a `client` key, as a phone has it."""
    with run_product(room.folder / "retries", LOG_LEVEL="ERROR") as target:
        asyncio.run(check_with_keys(target, checks))


async def check_with_keys(target: Target, checks: Report) -> None:
    """Checks retries at a server with keys."""
    async with target.open_client(target.client) as phone, target.open_client(target.admin) as staff:
        await _check_retries(phone, staff, checks)


async def _check_retries(phone: httpx.AsyncClient, staff: httpx.AsyncClient, checks: Report) -> None:
    """staff: reads what the phone's conversations hold."""
    again = {"Idempotency-Key": str(uuid4())}
    first = await phone.post(CHAT, json=_ASKED, headers=again)
    second = await phone.post(CHAT, json=_ASKED, headers=again)
    same = second.is_success and first.json()["message_id"] == second.json()["message_id"]
    checks.check(same, "retries: the same key gives the same message", second.status_code)
    replayed = second.headers.get("idempotency-replayed", "")
    checks.check(replayed == "true", "retries: a replay says that it is one", replayed)
    other = await phone.post(CHAT, json={"message": "发票怎么开"}, headers=again)
    checks.check(other.status_code == 409, "retries: the same key with another body is refused", other.status_code)
    guessed = await phone.post(CHAT, json=_ASKED, headers={"Idempotency-Key": "1"})
    checks.check(guessed.status_code == 403, "retries: a key that others can guess is refused", guessed.status_code)
    key = {"Idempotency-Key": str(uuid4())}
    raced = await asyncio.gather(*(phone.post(CHAT, json=_ASKED, headers=key) for _ in range(AT_ONCE)))
    bodies = {response.text for response in raced if response.status_code == 200}
    checks.check(len(bodies) == 1, "retries: requests at once get one answer", f"{len(raced)} -> {len(bodies)}")
    told = (await staff.get(f"/api/v1/conversations/{raced[0].json()['session_id']}")).json()
    checks.check(len(told["turns"]) == 1, "retries: requests at once are one turn", len(told["turns"]))
    listed = (await staff.get("/api/v1/conversations")).json()["conversations"]
    checks.check(len(listed) == 2, "retries: no further conversation was begun", len(listed))
