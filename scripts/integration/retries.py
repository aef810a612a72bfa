"""A request that is sent again under its key, by a phone in a tunnel or two workers at once."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import httpx

from scripts.attacks.base import Target
from scripts.attacks.process import process
from scripts.integration.base import Checks, Room

CHAT = "/api/v1/chat"
AT_ONCE = 8
_ASKED = {"message": "退货运费谁出"}


def run(room: Room, checks: Checks) -> None:
    """See above, with a `client` key as a phone has it."""
    with process(room.folder / "retries", LOG_LEVEL="ERROR") as target:
        asyncio.run(play(target, checks))


async def play(target: Target, checks: Checks) -> None:
    """With the target's keys."""
    async with target.http(target.client) as phone, target.http(target.admin) as staff:
        await _play(phone, staff, checks)


async def _play(phone: httpx.AsyncClient, staff: httpx.AsyncClient, checks: Checks) -> None:
    """staff: reads what the phone's conversations hold."""
    again = {"Idempotency-Key": str(uuid4())}
    first = await phone.post(CHAT, json=_ASKED, headers=again)
    second = await phone.post(CHAT, json=_ASKED, headers=again)
    same = second.is_success and first.json()["message_id"] == second.json()["message_id"]
    checks.check("retries: the same key gives the same message", same, second.status_code)
    replayed = second.headers.get("idempotency-replayed", "")
    checks.check("retries: a replay says that it is one", replayed == "true", replayed)
    other = await phone.post(CHAT, json={"message": "发票怎么开"}, headers=again)
    checks.check("retries: the same key with another body is refused", other.status_code == 409, other.status_code)
    guessed = await phone.post(CHAT, json=_ASKED, headers={"Idempotency-Key": "1"})
    checks.check("retries: a key that others can guess is refused", guessed.status_code == 403, guessed.status_code)
    key = {"Idempotency-Key": str(uuid4())}
    raced = await asyncio.gather(*(phone.post(CHAT, json=_ASKED, headers=key) for _ in range(AT_ONCE)))
    bodies = {response.text for response in raced if response.status_code == 200}
    checks.check("retries: requests at once get one answer", len(bodies) == 1, f"{len(raced)} -> {len(bodies)}")
    told = (await staff.get(f"/api/v1/conversations/{raced[0].json()['session_id']}")).json()
    checks.check("retries: requests at once are one turn", len(told["turns"]) == 1, len(told["turns"]))
    listed = (await staff.get("/api/v1/conversations")).json()["conversations"]
    checks.check("retries: no further conversation was begun", len(listed) == 2, len(listed))
