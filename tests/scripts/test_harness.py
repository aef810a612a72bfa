"""What attacks, benchmarks and drills share."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from time import perf_counter

import pytest

from scripts import attack
from scripts.harness.load import Flood, build_request, post_all, run_flood, send_requests
from scripts.harness.processes import measure_memory
from scripts.harness.servers import Target
from tests.processes import list_descendants, read_cpu_ticks

PATH = "/api/v1/chat"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
REFUSAL = b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n"


@asynccontextmanager
async def serving(*answers: bytes) -> AsyncIterator[int]:
    """The port of a server that gives these answers in turn."""
    numbers = count()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.read(65536):
            assert head.startswith(b"POST ")
            writer.write(answers[next(numbers) % len(answers)])
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@contextmanager
def sleeping_child() -> Iterator[int]:
    """The id of a process that has started another one."""
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(flush=True); input()'])"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid


async def test_every_body_is_posted_once_and_no_refusal_is_passed_over() -> None:
    bodies = [{"message": str(number)} for number in range(7)]
    async with serving(ANSWER) as port:
        answers = await post_all(port, PATH, bodies, 3)
    assert (len(answers.bodies), len(answers.milliseconds), answers.statuses["200"]) == (7, 7, 7)
    async with serving(ANSWER, REFUSAL) as port:
        with pytest.raises(OSError, match="429"):
            await post_all(port, PATH, bodies, 3)


async def test_requests_end_with_the_time() -> None:
    requests = (build_request(PATH, {"message": str(number)}) for number in count())
    started = perf_counter()
    async with serving(ANSWER) as port:
        answers = await send_requests(port, requests, 2, 0.5)
    assert perf_counter() - started > 0.4
    assert answers.statuses["200"] >= 2


async def test_a_flood_from_another_process_counts_statuses_and_refusals_that_say_no_time() -> None:
    async with serving(ANSWER, REFUSAL) as port, run_flood(Flood(port, "key", "问", 0.3, 1)) as counts:
        pass
    assert counts["429"] > 0 and counts["untold"] == counts["429"]
    assert abs(counts["200"] - counts["429"]) <= 1


def test_a_process_is_measured_with_those_that_it_started() -> None:
    with sleeping_child() as pid:
        [child] = list_descendants(pid)
        assert measure_memory(pid) > measure_memory(child) > 1
        assert read_cpu_ticks([pid, child, 2**22 + 1]).keys() == {pid, child}
    assert measure_memory() == pytest.approx(measure_memory(os.getpid()), rel=0.5)


def test_keys_for_a_server_that_runs_are_shown_as_the_roles_that_they_are_named_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    attacked: list[Target] = []

    async def keep_target(target: Target, subjects: Sequence[str]) -> bool:
        attacked.append(target)
        return True

    monkeypatch.setattr(attack, "run_attacks", keep_target)
    keys = ["--admin-key", "a", "--server-key", "s", "--agent-key", "g", "--client-key", "c", "--other-client-key", "o"]
    assert attack.main(["http://127.0.0.1:8000", *keys]) == 0
    [target] = attacked
    shown = target.admin, target.server, target.agent, target.client, target.other_client
    assert shown == ("a", "s", "g", "c", "o")
    assert target.lead == ""
