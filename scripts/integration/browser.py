"""What a browser sends for a page of its own site and for a page of a stranger's, header by header."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx

from app.auth.principal import DEFAULT_TENANT, Role
from app.db.engine import Database
from app.db.migrate import upgrade_schema
from app.keys.repository import KeyRepository
from app.keys.service import create_key, hash_key
from scripts.attacks.base import Target
from scripts.attacks.process import process
from scripts.integration.base import Checks, Room

PAGE, FOREIGN = "https://shop.example.com", "https://evil.example"
CHAT, SESSIONS = "/api/v1/chat", "/api/v1/sessions"
_ALLOW = "access-control-allow-origin"
_PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}


def run(room: Room, checks: Checks) -> None:
    """One server with a key that is for one site, one without keys."""
    data_dir = room.folder / "browser"
    data_dir.mkdir()
    key = asyncio.run(_key(data_dir))
    with process(data_dir, LOG_LEVEL="ERROR") as target:
        asyncio.run(_with_keys(target, key, checks))
    with process(room.folder / "keyless", keys=False, LOG_LEVEL="ERROR") as target:
        asyncio.run(_without_keys(target, checks))


async def _with_keys(target: Target, key: str, checks: Checks) -> None:
    async with target.http(key) as page, target.http() as bare, target.http(target.client) as elsewhere:
        await _preflights(bare, checks)
        await _requests(page, checks)
        await _sessions(page, elsewhere, checks)


async def _key(data_dir: Path) -> str:
    """A key for pages of PAGE."""
    database = Database(f"sqlite+aiosqlite:///{(data_dir / 'yingda.sqlite3').as_posix()}")
    await upgrade_schema(database)
    await KeyRepository(database).create(DEFAULT_TENANT, Role.CLIENT, "page", hash_key(key := create_key()), [PAGE])
    await database.close()
    return key


async def _preflights(bare: httpx.AsyncClient, checks: Checks) -> None:
    own = await bare.options(CHAT, headers=_PREFLIGHT | {"Origin": PAGE})
    checks.check("browser: a preflight of the site is granted", own.headers.get(_ALLOW) == PAGE, own.status_code)
    allowed = own.headers.get("access-control-allow-headers", "").lower()
    wanted = {"authorization", "content-type", "x-session-token", "idempotency-key"}
    granted = {name.strip() for name in allowed.split(",")} & wanted
    checks.check("browser: it may send what the API needs", granted == wanted, f"{len(granted)}/{len(wanted)}")
    foreign = await bare.options(CHAT, headers=_PREFLIGHT | {"Origin": FOREIGN})
    checks.check("browser: a preflight of a stranger is not", _ALLOW not in foreign.headers, foreign.status_code)


async def _requests(page: httpx.AsyncClient, checks: Checks) -> None:
    body = {"message": "退货运费谁出"}
    own = await page.post(CHAT, json=body, headers={"Origin": PAGE})
    readable = own.status_code == 200 and own.headers.get(_ALLOW) == PAGE
    checks.check("browser: the site's own request is answered", readable, own.status_code)
    varies = "origin" in own.headers.get("vary", "").lower()
    checks.check("browser: caches keep origins apart", varies, own.headers.get("vary", ""))
    foreign = await page.post(CHAT, json=body, headers={"Origin": FOREIGN})
    refused = foreign.status_code == 403 and _ALLOW not in foreign.headers
    checks.check("browser: a stranger's with the site's key is not", refused, foreign.status_code)
    simple = await page.post(CHAT, content=json.dumps(body), headers={"Origin": FOREIGN, "Content-Type": "text/plain"})
    checks.check("browser: nor a simple one without a preflight", simple.status_code == 403, simple.status_code)


async def _sessions(page: httpx.AsyncClient, elsewhere: httpx.AsyncClient, checks: Checks) -> None:
    own = {"Origin": PAGE}
    opened = await page.post(SESSIONS, json={}, headers=own)
    checks.check("browser: the site's page opens a session", opened.status_code == 201, opened.status_code)
    without = await page.post(SESSIONS, json={})
    checks.check("browser: nobody does without a page", without.status_code == 403, without.status_code)
    foreign = await elsewhere.post(SESSIONS, json={}, headers={"Origin": FOREIGN})
    checks.check("browser: a key without pages does not", foreign.status_code == 403, foreign.status_code)
    session, token = opened.json()["session_id"], {"X-Session-Token": opened.json()["session_token"]}
    said = {"message": "我住在幸福路 12 号", "session_id": session}
    answered = await page.post(CHAT, json=said, headers=own | token)
    checks.check("browser: its token goes on with it", answered.status_code == 200, answered.status_code)
    path = f"/api/v1/conversations/{session}/messages"
    read = await page.get(path, headers=own | token)
    checks.check("browser: its token reads it", read.status_code == 200, read.status_code)
    for name, headers in (("no token", {}), ("another token", {"X-Session-Token": "ys-" + "x" * 43})):
        refused = await page.get(path, headers=own | headers)
        held = refused.status_code in (401, 403, 404) and "幸福路" not in refused.text
        checks.check(f"browser: {name} reads nothing", held, refused.status_code)


async def _without_keys(target: Target, checks: Checks) -> None:
    """Every page that somebody on this machine looks at could ask a server without keys."""
    async with target.http() as bare:
        for kind in ("text/plain", "application/json", "application/x-www-form-urlencoded"):
            headers = {"Origin": FOREIGN, "Content-Type": kind}
            response = await bare.post(CHAT, content='{"message": "你好"}'.encode(), headers=headers)
            status = response.status_code
            checks.check(f"browser: keyless, a stranger's {kind} is refused", status == 403, status)
        foreign = await bare.options(CHAT, headers=_PREFLIGHT | {"Origin": FOREIGN})
        checks.check("browser: keyless, so is its preflight", _ALLOW not in foreign.headers, foreign.status_code)
