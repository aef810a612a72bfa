"""A power cut right after an answer: what staff and administrators were told is kept must be on the disk by then."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import httpx

from scripts.harness.checks import Report
from scripts.harness.servers import CHAT, Target

ATTACH_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Write:
    """A request that changes something which may not be lost."""

    name: str
    method: str
    path: str
    body: dict[str, Any]


def list_desk_writes(session: str, messages: int) -> list[Write]:
    """What staff do with a session that waits for them, in this order."""
    path, agent = f"/api/v1/agent/sessions/{session}", "durable"
    said = [Write(f"客服消息 {n}", "POST", f"{path}/messages", {"content": f"第 {n} 句"}) for n in range(messages)]
    return [
        Write("转人工", "POST", f"/api/v1/conversations/{session}/handoff", {}),
        Write("接入", "POST", f"{path}/accept", {"agent_id": agent}),
        *said,
        Write("解决", "POST", f"{path}/resolve", {"note": "已处理"}),
        Write("方案", "POST", f"{path}/solution", {"question": "保修多久", "answer": "一年", "agent_id": agent}),
    ]


def list_other_writes(session: str) -> list[Write]:
    """Further requests that must be on the disk before they are acknowledged."""
    ticket = {"subject": f"断电测试 {session}", "session_id": session}
    # a name that nothing answers to: what is under test is the subscription, not its delivery
    hook = {"url": "https://receiver.invalid/hook", "events": ["ticket.created"]}
    return [
        Write("工单", "POST", "/api/v1/tickets", ticket),
        Write("Webhook", "POST", "/api/v1/webhooks", hook),
        Write("助手设定", "PUT", "/api/v1/profile", {}),
        Write("客服资料", "PUT", f"/api/v1/agent/staff/{session}", {"name": "断电", "capacity": 0}),
    ]


async def send_write(api: httpx.AsyncClient, write: Write) -> httpx.Response:
    """Sends it; raises httpx.HTTPStatusError where it was not acknowledged."""
    return (await api.request(write.method, write.path, json=write.body)).raise_for_status()


async def run_attack(target: Target, messages: int = 8) -> Report:
    """Counts the syncs of the process beside what it acknowledged. Needs strace, and the process to be ours."""
    report, session = Report(), f"durable-{uuid4().hex[:12]}"
    if not (target.pid and shutil.which("strace")):
        return report
    async with target.open_client(target.admin) as api:
        asked = {"message": "保修多久", "session_id": session}
        (await api.post(CHAT, json=asked)).raise_for_status()
        for name, writes in (("客服", list_desk_writes(session, messages)), ("管理", list_other_writes(session))):
            async with _trace_syncs(target.pid) as syncs:
                for write in writes:
                    await send_write(api, write)
            report.check(len(syncs) >= len(writes), f"{name}：{len(writes)} 次确认只等了 {len(syncs)} 次磁盘")
    return report


@asynccontextmanager
async def _trace_syncs(pid: int) -> AsyncIterator[list[str]]:
    """The calls that wait for the disk while this is open; the list is filled at its end."""
    calls: list[str] = []
    with TemporaryDirectory() as folder:
        log = Path(folder, "calls")
        command = ["strace", "-f", "-qq", "-e", "trace=fsync,fdatasync", "-e", "signal=none", "-p", str(pid)]
        tracer = await asyncio.create_subprocess_exec(*command, "-o", str(log), stderr=asyncio.subprocess.DEVNULL)
        try:
            await _wait_until_attached(pid, tracer)
            yield calls
        finally:
            if tracer.returncode is None:
                tracer.terminate()
            await tracer.wait()
            calls += _read_calls(log)


async def _wait_until_attached(pid: int, tracer: asyncio.subprocess.Process) -> None:
    """Returns once all threads are traced. Raises OSError where tracing is not allowed."""
    async with asyncio.timeout(ATTACH_SECONDS):
        while not _is_traced(pid):
            if tracer.returncode is not None:
                raise OSError("strace 不能附到服务进程上")
            await asyncio.sleep(0.05)


def _is_traced(pid: int) -> bool:
    return all("TracerPid:\t0\n" not in status.read_text() for status in Path(f"/proc/{pid}/task").glob("*/status"))


def _read_calls(log: Path) -> list[str]:
    return [line for line in log.read_text().splitlines() if "sync(" in line] if log.exists() else []
