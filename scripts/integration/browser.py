"""What a browser sends for a page of its own site and for a page of a stranger's, header by header."""

from __future__ import annotations

import asyncio
import json

import httpx

from app.auth.principal import DEFAULT_TENANT, Role
from scripts.harness.checks import Report
from scripts.harness.servers import CHAT, Target, get_database_url, run_product, store_keys
from scripts.integration.base import Room

PAGE, FOREIGN = "https://shop.example.com", "https://evil.example"
SESSIONS = "/api/v1/sessions"
_ALLOW = "access-control-allow-origin"
_PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}


def run_browser(room: Room, checks: Report) -> None:
    """Checks a server with a key for one site, and one without keys."""
    data_dir = room.folder / "browser"
    data_dir.mkdir()
    role = {"page": (DEFAULT_TENANT, Role.CLIENT)}
    keys = asyncio.run(store_keys(get_database_url(data_dir), role, [PAGE]))
    with run_product(data_dir, LOG_LEVEL="ERROR") as target:
        asyncio.run(_check_with_keys(target, keys["page"], checks))
    with run_product(room.folder / "keyless", keys=False, LOG_LEVEL="ERROR") as target:
        asyncio.run(_check_without_keys(target, checks))


async def _check_with_keys(target: Target, key: str, checks: Report) -> None:
    async with (
        target.open_client(key) as page,
        target.open_client() as bare,
        target.open_client(target.client) as elsewhere,
    ):
        await _check_preflights(bare, checks)
        await _check_requests(page, checks)
        await _check_sessions(page, elsewhere, checks)


async def _check_preflights(bare: httpx.AsyncClient, checks: Report) -> None:
    own = await bare.options(CHAT, headers=_PREFLIGHT | {"Origin": PAGE})
    checks.check(own.headers.get(_ALLOW) == PAGE, "browser: a preflight of the site is granted", own.status_code)
    allowed = own.headers.get("access-control-allow-headers", "").lower()
    wanted = {"authorization", "content-type", "x-session-token", "idempotency-key"}
    granted = {name.strip() for name in allowed.split(",")} & wanted
    checks.check(granted == wanted, "browser: it may send what the API needs", f"{len(granted)}/{len(wanted)}")
    foreign = await bare.options(CHAT, headers=_PREFLIGHT | {"Origin": FOREIGN})
    checks.check(_ALLOW not in foreign.headers, "browser: a preflight of a stranger is not", foreign.status_code)


async def _check_requests(page: httpx.AsyncClient, checks: Report) -> None:
    body = {"message": "退货运费谁出"}
    own = await page.post(CHAT, json=body, headers={"Origin": PAGE})
    readable = own.status_code == 200 and own.headers.get(_ALLOW) == PAGE
    checks.check(readable, "browser: the site's own request is answered", own.status_code)
    varies = "origin" in own.headers.get("vary", "").lower()
    checks.check(varies, "browser: caches keep origins apart", own.headers.get("vary", ""))
    foreign = await page.post(CHAT, json=body, headers={"Origin": FOREIGN})
    refused = foreign.status_code == 403 and _ALLOW not in foreign.headers
    checks.check(refused, "browser: a stranger's with the site's key is not", foreign.status_code)
    simple = await page.post(CHAT, content=json.dumps(body), headers={"Origin": FOREIGN, "Content-Type": "text/plain"})
    checks.check(simple.status_code == 403, "browser: nor a simple one without a preflight", simple.status_code)


async def _check_sessions(page: httpx.AsyncClient, elsewhere: httpx.AsyncClient, checks: Report) -> None:
    own = {"Origin": PAGE}
    opened = await page.post(SESSIONS, json={}, headers=own)
    checks.check(opened.status_code == 201, "browser: the site's page opens a session", opened.status_code)
    without = await page.post(SESSIONS, json={})
    checks.check(without.status_code == 403, "browser: nobody does without a page", without.status_code)
    foreign = await elsewhere.post(SESSIONS, json={}, headers={"Origin": FOREIGN})
    checks.check(foreign.status_code == 403, "browser: a key without pages does not", foreign.status_code)
    session, token = opened.json()["session_id"], {"X-Session-Token": opened.json()["session_token"]}
    said = {"message": "我住在幸福路 12 号", "session_id": session}
    answered = await page.post(CHAT, json=said, headers=own | token)
    checks.check(answered.status_code == 200, "browser: its token goes on with it", answered.status_code)
    path = f"/api/v1/conversations/{session}/messages"
    read = await page.get(path, headers=own | token)
    checks.check(read.status_code == 200, "browser: its token reads it", read.status_code)
    for name, headers in (("no token", {}), ("another token", {"X-Session-Token": "ys-" + "x" * 43})):
        refused = await page.get(path, headers=own | headers)
        held = refused.status_code in (401, 403, 404) and "幸福路" not in refused.text
        checks.check(held, f"browser: {name} reads nothing", refused.status_code)


async def _check_without_keys(target: Target, checks: Report) -> None:
    """Every page that somebody on this machine looks at could ask a server without keys."""
    async with target.open_client() as bare:
        for kind in ("text/plain", "application/json", "application/x-www-form-urlencoded"):
            headers = {"Origin": FOREIGN, "Content-Type": kind}
            response = await bare.post(CHAT, content='{"message": "你好"}'.encode(), headers=headers)
            status = response.status_code
            checks.check(status == 403, f"browser: keyless, a stranger's {kind} is refused", status)
        foreign = await bare.options(CHAT, headers=_PREFLIGHT | {"Origin": FOREIGN})
        checks.check(_ALLOW not in foreign.headers, "browser: keyless, so is its preflight", foreign.status_code)
