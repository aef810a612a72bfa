"""Nothing of a tenant reaches another one, and nothing of a customer another customer: every operation of the OpenAPI
document and every socket, with foreign keys, tokens and ids.
"""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from app.auth.principal import Role
from app.auth.user_token import sign_token
from app.features import load_routers
from app.http.routes import list_roles, list_sockets
from app.keys.repository import KeyRepository
from app.keys.service import create_key, hash_key
from app.main import create_app
from app.settings import Settings
from tests.acceptance import WHOLE
from tests.app.auth.provider import Signer, ec_signer, provider_server, rsa_signer
from tests.app.channels.test_webhook import SECRET as CHANNEL_SECRET
from tests.app.desk.client import talking
from tests.app.openapi.document import Operation, operations
from tests.app.serving import served
from tests.security.leaks import NOWHERE, Tenant, aimed, place

MINE, THEIRS = "acme", "rival"
MEMBER = "M0001"
SECRET = "a-secret-of-32-characters-or-more!"
SOCKETS = {"/api/v1/conversations/{session_id}/ws", "/api/v1/agent/ws"}
SETTINGS: dict[str, Any] = {
    "webhook_allow_private": True,
    "fetch_allowed_hosts": "127.0.0.1",
    "user_token_secret": SECRET,
    "user_token_tenant_claim": "org",
    "sign_in_failures": 0,
    "rate_per_session": 0,
    "rate_per_address": 0,
    "channels": [
        {"name": "1", "kind": "webhook", "tenant": MINE, "options": {"url": NOWHERE, "secret": CHANNEL_SECRET}}
    ],
}


@dataclass
class World:
    """A filled tenant, and clients with keys of both, and with none. tried: requests of those who must not see it."""

    address: str
    tenant: Tenant
    keys: dict[tuple[str, Role], str]
    clients: dict[tuple[str, Role], httpx.AsyncClient]
    keyless: httpx.AsyncClient
    tried: int = 0
    leaks: list[str] = field(default_factory=list)

    async def attempt(self, who: str, client: httpx.AsyncClient, operation: Operation, **headers: str) -> None:
        """One request with the tenant's ids; its customer's words and, for another tenant, all of it must not come."""
        method, path = place(operation, self.tenant.ids)
        response = await client.request(method, path, headers=headers, **aimed(operation, self.tenant.ids))
        self.tried += 1
        self.look(f"{who} {operation.name} {response.status_code}", f"{response.headers} {response.text}", who)
        if response.status_code in (429, 500):
            self.leaks.append(f"{who} {operation.name} {response.status_code}: this request proves nothing")

    def look(self, where: str, text: str, who: str) -> None:
        """Notes what must not be in a text."""
        kept = [self.tenant.private] + ([self.tenant.secret] if who.startswith(THEIRS) else [])
        self.leaks += [f"{where} tells {secret}" for secret in kept if secret in text]

    async def seen(self) -> dict[str, tuple[int, bool]]:
        """What the tenant's own administrator reads: status, and whether the secret is in it."""
        found = {}
        for operation in operations().values():
            if operation.method == "get":
                method, path = place(operation, self.tenant.ids)
                response = await self.tenant.admin.request(method, path)
                shown = self.tenant.secret in response.text or self.tenant.private in response.text
                found[operation.name] = response.status_code, shown
        return found


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with AsyncExitStack() as stack:
        provider = stack.enter_context(provider_server(rsa_signer(), ec_signer()))
        server = await stack.enter_async_context(served(tmp_path, **SETTINGS, **provider.settings))
        await server.container.startup.ready.wait()
        repository, keys, clients = KeyRepository(server.container.base.database), {}, {}
        for owner in [(tenant, role) for tenant in (MINE, THEIRS) for role in Role]:
            keys[owner] = create_key()
            await repository.create(*owner, "key", hash_key(keys[owner]))
            headers = {"X-API-Key": keys[owner]}
            client = httpx.AsyncClient(base_url=server.address, headers=headers, timeout=120)
            clients[owner] = await stack.enter_async_context(client)
        server.container.keys.expire_copy()
        tenant, keyless = Tenant(clients[MINE, Role.ADMIN]), httpx.AsyncClient(base_url=server.address, timeout=120)
        await stack.enter_async_context(keyless)
        keyless.headers["Authorization"] = f"Bearer {rsa_signer().token(sub=MEMBER, org=MINE)}"
        await tenant.fill(keyless)
        del keyless.headers["Authorization"]
        yield World(server.address, tenant, keys, clients, keyless)


def customers() -> list[Operation]:
    """What a key of a chat window may call."""
    roles = list_roles(create_app(Settings(_env_file=None, embedder="hash")))
    return [one for one in operations().values() if Role.CLIENT in roles[f"{one.method.upper()} {one.path}"]]


@pytest.mark.acceptance
async def test_nothing_of_a_tenant_or_a_customer_reaches_another(world: World) -> None:
    """In every run an administrator of another tenant, by acceptance every role."""
    before = await world.seen()
    assert sum(shown for _, shown in before.values()) >= 30, "else there is nothing to leak"
    for role in Role if WHOLE else (Role.ADMIN,):
        for operation in operations().values():
            await world.attempt(f"{THEIRS} {role}", world.clients[THEIRS, role], operation)
    await strangers(world)
    await bearers(world)
    sockets = await listeners(world)
    assert world.leaks == []
    assert await world.seen() == before, "what another tenant asked for changed or deleted something"
    sys.stdout.write(f"{world.tried} requests over {len(operations())} operations, {sockets} connections: 0 leaks\n")


async def strangers(world: World) -> None:
    """Customers of the same tenant, and of the other, with every proof but the right one."""
    window = world.clients[MINE, Role.CLIENT]
    own = (await window.post("/api/v1/chat", json={"message": "你好"})).json()["session_token"]
    member = sign_token(SECRET, "M0002", 3600, time.time(), MINE, tenant_claim="org")
    proofs: dict[str, dict[str, str]] = {
        "no proof": {},
        "another session's token": {"X-Session-Token": own},
        "another member": {"X-User-Token": member},
    }
    for who, headers in proofs.items():
        for operation in customers():
            await world.attempt(f"{MINE} {who}", window, operation, **headers)
    for operation in customers():
        shown = {"X-Session-Token": world.tenant.token}
        await world.attempt(f"{THEIRS} the right token", world.clients[THEIRS, Role.CLIENT], operation, **shown)
    right = {"X-Session-Token": world.tenant.token}
    history = f"/api/v1/conversations/{world.tenant.ids['session_id']}/history"
    assert world.tenant.private in (await window.get(history, headers=right)).text


async def bearers(world: World) -> None:
    """Tokens of an identity provider: another tenant's, of a member with the same number; another member's; forged
    ones; alone, and with a key of the tenant that they are not of.
    """
    theirs, other = rsa_signer().token(sub=MEMBER, org=THEIRS), ec_signer().token(sub="M0002", org=MINE)
    forged = Signer("RS256", rsa_signer("elsewhere").key, "rsa-1").token(sub=MEMBER, org=MINE)
    guessed = sign_token("a-secret-of-somebody-else-altogether", MEMBER, 3600, time.time(), MINE, tenant_claim="org")
    mine = rsa_signer().token(sub=MEMBER, org=MINE)
    window, rival = world.keys[MINE, Role.CLIENT], world.keys[THEIRS, Role.CLIENT]
    shown: dict[str, dict[str, str]] = {
        f"{THEIRS} token alone": {"Authorization": f"Bearer {theirs}"},
        f"{THEIRS} token and the right session's": {"X-User-Token": theirs, "X-Session-Token": world.tenant.token},
        f"{THEIRS} key and the right token": {"X-API-Key": rival, "X-User-Token": mine},
        f"{MINE} key and another tenant's token": {"X-API-Key": window, "X-User-Token": theirs},
        f"{MINE} another member's token alone": {"Authorization": f"Bearer {other}"},
        f"{THEIRS} forged token": {"Authorization": f"Bearer {forged}"},
        f"{THEIRS} guessed token": {"Authorization": f"Bearer {guessed}"},
    }
    for who, headers in shown.items():
        for operation in operations().values() if WHOLE and "alone" in who else customers():
            await world.attempt(who, world.keyless, operation, **headers)
    history = f"/api/v1/conversations/{world.tenant.ids['session_id']}/history"
    own = await world.keyless.get(history, headers={"Authorization": f"Bearer {mine}"})
    assert world.tenant.private in own.text, "else these tokens open nothing anyway"


async def listeners(world: World) -> int:
    """Everybody's frames up to the answer to a frame of their own; meanwhile the tenant writes to its customer."""
    assert {path for router in load_routers() for path in list_sockets(router)} == SOCKETS
    session = world.tenant.ids["session_id"]
    line = f"/api/v1/conversations/{session}/ws"
    connections = [
        (f"{THEIRS} desk", Role.ADMIN, "/api/v1/agent/ws?agent_id=a01", {}),
        (f"{THEIRS} desk", Role.AGENT, "/api/v1/agent/ws?agent_id=a01", {}),
        (f"{THEIRS} line", Role.SERVER, line, {}),
        (f"{THEIRS} line", Role.CLIENT, line, {"X-Session-Token": world.tenant.token}),
        (f"{MINE} line", Role.CLIENT, line, {}),
        (f"{MINE} line", Role.CLIENT, line, {"X-Session-Token": "x" * 43}),
        (f"{MINE} desk", Role.CLIENT, "/api/v1/agent/ws?agent_id=a01", {}),
    ]
    alone = [
        (f"{THEIRS} token", line, {"X-User-Token": rsa_signer().token(sub=MEMBER, org=THEIRS)}),
        (f"{MINE} another member's token", line, {"X-User-Token": rsa_signer().token(sub="M0002", org=MINE)}),
    ]
    keyed = [
        (who, path, {"X-API-Key": world.keys[who.split()[0], role]} | headers)
        for who, role, path, headers in connections
    ]
    for who, path, headers in (*keyed, *alone):
        async with talking(world.address, path, additional_headers=headers) as talker:
            with suppress(ConnectionClosed):  # turned away; what came before is looked at all the same
                await talker.send("hello", agent_id="a01", after={session: 0})
            said = {"content": f"{world.tenant.private} {world.tenant.secret}", "agent_id": "a01"}
            wrote = await world.tenant.admin.post(f"/api/v1/agent/sessions/{session}/messages", json=said)
            assert wrote.is_success, wrote.text
            with suppress(ConnectionClosed):
                await talker.connection.send("[]")
            await talker.until(lambda frame: frame["type"] == "error")
            world.look(who, str(talker.frames), who)
    return len(keyed) + len(alone)
