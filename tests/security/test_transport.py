"""Bodies, heads, connections and frames, against one server with a key of each role."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from scripts.attacks import bodies, connections, origins, sockets
from scripts.attacks.wire import build_bearer, build_head, open_wire
from scripts.harness.servers import Target, run_product

CHAT, JSON = "/api/v1/chat", ("Content-Type", "application/json")
PATIENCE = 30.0


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    folder = tmp_path_factory.mktemp("server")
    with run_product(folder, HEAD_TIMEOUT="1", BODY_TIMEOUT="1", KEEP_ALIVE_TIMEOUT="1", LOG_LEVEL="ERROR") as target:
        yield target
        assert target.is_alive()


def test_it_has_a_key_of_each_role_and_is_measured(target: Target) -> None:
    assert all((target.admin, target.server, target.agent, target.client, target.other_client))
    assert target.is_alive()
    assert target.measure_memory() > 50


async def test_bodies_are_bounded_in_bytes_and_time_and_read_for_nobody(target: Target) -> None:
    before = target.measure_memory()
    report = await bodies.run_attack(target, megabytes=48, patience=PATIENCE)
    assert report.broken == [] and report.cases > 40
    assert target.measure_memory() - before < 200


@pytest.mark.acceptance(only=True)
async def test_half_open_idle_and_endless_connections_stop_nobody_else(target: Target) -> None:
    report = await connections.run_attack(target, count=3000, others=300, patience=PATIENCE)
    assert report.broken == [] and report.cases > 25


@pytest.mark.acceptance(only=True)
async def test_frames_and_strangers_are_bounded(target: Target) -> None:
    report = await sockets.run_attack(target, strangers=300, megabytes=16, patience=PATIENCE)
    assert report.broken == [] and report.cases > 12


async def test_with_keys_nothing_stands_in_for_a_key_and_nothing_is_documented(target: Target) -> None:
    report = await origins.run_attack(target)
    assert report.broken == [] and report.cases > 15


@pytest.mark.parametrize(
    ("head", "status", "code"),
    [
        (build_head("POST", CHAT, [JSON, ("Content-Length", "9")]), 401, "unauthorized"),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 40_000, 431, "head_too_large"),
        (b"GET / HTTP/1.1\r\nX: ", 408, "request_timeout"),
        (b"nonsense\r\n\r\n", 400, "invalid_request"),
    ],
)
async def test_what_is_refused_early_has_the_error_body_too(
    target: Target, head: bytes, status: int, code: str
) -> None:
    async with open_wire(target) as line:
        await line.send(head)
        assert await line.read_status(PATIENCE) == status
        assert json.loads(await line.reader.readuntil(b"}}"))["error"]["code"] == code


async def test_a_connection_goes_on_after_a_refusal_whose_body_came_after_all(target: Target) -> None:
    async with open_wire(target) as line:
        await line.send(build_head("POST", CHAT, [JSON, ("Content-Length", "100000")]))
        assert await line.read_status(PATIENCE) == 401
        await line.reader.readuntil(b"}}")
        await line.send(b" " * 100_000)
        body = '{"message": "你好"}'.encode()
        head = build_head("POST", CHAT, [JSON, *build_bearer(target.client), ("Content-Length", str(len(body)))])
        await line.send(head + body)
        assert await line.read_status(PATIENCE) == 200


async def test_requests_in_one_piece_are_answered_in_order(target: Target) -> None:
    async with open_wire(target) as line:
        health, unknown = build_head("GET", "/api/v1/health"), build_head("GET", "/nowhere")
        await line.send(health + unknown + health)
        statuses = []
        for _ in range(3):
            statuses.append(await line.read_status(PATIENCE))
            await line.reader.readuntil(b"}")
            if statuses[-1] == 404:
                await line.reader.readuntil(b"}")
        assert statuses == [200, 404, 200]


async def test_an_upload_may_pause_but_not_stay(target: Target) -> None:
    """Each piece that comes gives the next one time."""
    form = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n' + b"x" * 40_000
    headers = [("Content-Type", "multipart/form-data; boundary=b"), ("Transfer-Encoding", "chunked")]
    async with open_wire(target) as line:
        await line.send(build_head("POST", "/api/v1/knowledge/documents", [*build_bearer(target.admin), *headers]))
        await line.send(f"{len(form):x}\r\n".encode() + form + b"\r\n")
        await asyncio.sleep(1.5)
        await line.send(b"9\r\n\r\n--b--\r\n\r\n0\r\n\r\n")
        assert await line.read_status(PATIENCE) in (201, 202)
