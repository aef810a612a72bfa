"""Whatever is sent as a body, the answer is one of the product's own and never a 500."""

from __future__ import annotations

import asyncio
import gc
import random
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.auth.principal import Role
from tests.acceptance import part
from tests.app.limits.test_limits import key_of
from tests.app.openapi.document import Operation, operations
from tests.app.serving import Served, served
from tests.conftest import NetworkBlocked
from tests.security.hostile import hostile
from tests.security.leaks import place

SEED = 20_261_123
_LIMITS = (
    *("rate_per_key", "rate_per_server_key", "rate_per_tenant", "rate_per_address", "rate_per_session"),
    *("sign_in_failures", "handoffs_per_customer", "handoffs_per_address"),
    *("tickets_per_customer", "tickets_per_address"),
)
# The limits are another test's.
UNLIMITED = dict.fromkeys(_LIMITS, 0)
AT_ONCE = 4
# Another server that does not answer, and a service that is full: typed, and told with a code.
TYPED_5XX = {502, 503}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, **UNLIMITED) as server:
        await server.container.startup.ready.wait()
        yield server


@pytest.fixture
def no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of other machines resolve as where there is no network, which is no mistake of this process."""
    real = socket.getaddrinfo

    def resolve(*args: Any, **options: Any) -> Any:
        try:
            return real(*args, **options)
        except NetworkBlocked as error:
            raise socket.gaierror(socket.EAI_NONAME, "no network") from error

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


@pytest.fixture
def no_collection() -> Iterator[None]:
    """A finalizer that runs at the depth of a nested body cannot end, which pytest would count as a failure; what is
    left is collected in between.
    """
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def taking_bodies() -> list[Operation]:
    return [operation for operation in operations().values() if operation.request]


@pytest.mark.timeout(3600)
@pytest.mark.acceptance
async def test_no_hostile_body_is_a_500(server: Served, no_names: None, no_collection: None) -> None:
    headers = await key_of(server, Role.ADMIN)
    dice, statuses, faults = random.Random(SEED), Counter[int](), list[str]()
    cases = [(place(operation, _Anything())[1], operation) for operation in taking_bodies()]
    whole = part(200, 10_000)
    queue = iter([cases[number % len(cases)] for number in range(whole)])
    async with httpx.AsyncClient(base_url=server.address, headers=headers, timeout=120) as http:

        async def send() -> None:
            for path, operation in queue:
                told = hostile(operation, dice)
                response = await http.request(operation.method, path, content=told.body, headers=dict(told.headers))
                statuses[response.status_code] += 1
                if statuses.total() % 500 == 0:
                    gc.collect()
                if response.status_code >= 500 and not _typed(response):
                    faults.append(f"{operation.name} {told.kind} {response.status_code} {response.text[:200]}")

        await asyncio.gather(*(send() for _ in range(AT_ONCE)))
        assert (await http.get("/api/v1/health")).status_code == 200
    sys.stdout.write(f"{whole} hostile bodies over {len(cases)} operations: {dict(sorted(statuses.items()))}\n")
    assert faults == []
    assert sum(statuses.values()) == whole and sum(statuses[status] for status in (400, 413, 415, 422)) > whole / 3


def _typed(response: httpx.Response) -> bool:
    told = response.json() if "json" in response.headers.get("content-type", "") else {}
    return response.status_code in TYPED_5XX and bool(told.get("error", {}).get("code"))


class _Anything(dict[str, str]):
    """An id of nothing for whatever stands in a path, or of what there is."""

    def __missing__(self, name: str) -> str:
        known = {"version": "1", "index": "1", "model": "yingda", "agent_id": "a01", "kind": "gap_mining"}
        return known.get(name, "demo-1")


LIES = {
    "fewer bytes than told": b"content-length: 400\r\n\r\n{}",
    "more bytes than told": b'content-length: 1\r\n\r\n{"message": "x"}',
    "two lengths": b"content-length: 2\r\ncontent-length: 9\r\n\r\n{}",
    "both ways": b"content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "a negative length": b"content-length: -2\r\n\r\n{}",
    "a length beyond all": b"content-length: 99999999999999999999999\r\n\r\n{}",
    "a chunk of no size": b"transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    "a chunk longer than told": b"transfer-encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n",
    "a chunk beyond all": b"transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}\r\n0\r\n\r\n",
    "a chunk that never ends": b"transfer-encoding: chunked\r\n\r\n5\r\n{}",
    "an encoding of chunks that nobody knows": b"transfer-encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("lie", LIES)
async def test_a_lie_about_the_length_is_refused_or_cut_and_never_a_500(server: Served, lie: str) -> None:
    key = (await key_of(server, Role.SERVER))["Authorization"]
    host, port = server.address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = f"POST /api/v1/chat HTTP/1.1\r\nhost: {host}\r\nauthorization: {key}\r\ncontent-type: application/json\r\n"
    writer.write(head.encode() + LIES[lie])
    writer.write_eof()
    async with asyncio.timeout(60):
        answer = await reader.read()
    writer.close()
    statuses = [line.split()[1] for line in answer.split(b"\n") if line.startswith(b"HTTP/1.1 ")]
    assert all(status.startswith(b"4") for status in statuses), answer
    async with httpx.AsyncClient(base_url=server.address, headers={"Authorization": key}, timeout=60) as http:
        assert (await http.post("/api/v1/chat", json={"message": "你好"})).status_code == 200
