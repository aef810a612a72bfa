"""What the server keeps: on the disk once acknowledged, gone once deleted or old, and nobody else's to read.

A power cut cannot be had in a test, so what is looked at is whether each commit waited for the disk.
"""

from __future__ import annotations

import asyncio
import sqlite3
import stat
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from scripts import retention
from scripts.harness.servers import ROOT, Target, run_product

FULL, NORMAL = "2", "1"
TICKETS = "/api/v1/tickets"
# What a webhook is told of the conversation that is deleted.
TOLD = {"handoff.queued", "ticket.created", "gap.detected"}


@dataclass(frozen=True, slots=True)
class Write:
    """A request that changes something which may not be lost."""

    name: str
    method: str
    path: str
    body: dict[str, Any]

    async def send(self, api: httpx.AsyncClient) -> httpx.Response:
        return (await api.request(self.method, self.path, json=self.body)).raise_for_status()


class Commits:
    """The commits of the server, as it records them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0

    def new(self) -> list[str]:
        """Those since the last call."""
        lines = self._path.read_text().split() if self._path.exists() else []
        found, self._read = lines[self._read :], len(lines)
        return found


@contextmanager
def recorded(folder: Path) -> Iterator[tuple[Target, Commits]]:
    path, data = folder / "commits", folder / "data"
    (data / "old").mkdir(parents=True)
    (data / "old" / "left.txt").write_text("由从前的版本留下")  # open to all, as the folder is
    search = f"{Path(__file__).with_name('recorder')}:{ROOT}"
    with run_product(data, PYTHONPATH=search, COMMITS=str(path)) as target:
        yield target, Commits(path)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Target, Commits]]:
    with recorded(tmp_path_factory.mktemp("durable")) as found:
        yield found


def list_writes(session: str) -> list[Write]:
    """What staff do with a session that waits for them, in this order, and what administrators change."""
    path, agent = f"/api/v1/agent/sessions/{session}", "durable"
    hook = {"url": "https://receiver.invalid/hook", "events": ["ticket.created"]}
    return [
        Write("转人工", "POST", f"/api/v1/conversations/{session}/handoff", {}),
        Write("接入", "POST", f"{path}/accept", {"agent_id": agent}),
        *(Write(f"客服消息 {n}", "POST", f"{path}/messages", {"content": f"第 {n} 句"}) for n in range(8)),
        Write("解决", "POST", f"{path}/resolve", {"note": "已处理"}),
        Write("方案", "POST", f"{path}/solution", {"question": "保修多久", "answer": "一年", "agent_id": agent}),
        Write("工单", "POST", TICKETS, {"subject": f"断电测试 {session}", "session_id": session}),
        Write("Webhook", "POST", "/api/v1/webhooks", hook),
        Write("助手设定", "PUT", "/api/v1/profile", {}),
        Write("客服资料", "PUT", f"/api/v1/agent/staff/{session}", {"name": "断电", "capacity": 0}),
    ]


async def ask(api: httpx.AsyncClient, session: str, message: str = "保修多久") -> None:
    (await api.post("/api/v1/chat", json={"message": message, "session_id": session})).raise_for_status()


async def test_what_staff_and_administrators_do_is_on_the_disk_when_it_is_acknowledged(
    server: tuple[Target, Commits],
) -> None:
    target, commits = server
    session = f"s-{uuid4().hex[:8]}"
    async with target.open_client(target.admin) as api:
        await ask(api, session)
        for write in list_writes(session):
            commits.new()
            await write.send(api)
            assert FULL in commits.new(), write.name


async def test_so_is_a_document_and_a_comment_on_a_ticket(server: tuple[Target, Commits]) -> None:
    target, commits = server
    async with target.open_client(target.admin) as api:
        commits.new()
        files = {"files": ("保修.md", "# 保修\n\n整机保修一年。".encode())}
        assert (await api.post("/api/v1/knowledge/documents?wait=60", files=files)).status_code == 201
        assert FULL in commits.new()
        ticket = (await api.post(TICKETS, json={"subject": "断电测试"})).raise_for_status().json()["number"]
        for path, body in (("comments", {"text": "已联系"}), ("transitions", {"to": "in_progress"})):
            commits.new()
            await Write(path, "POST", f"{TICKETS}/{ticket}/{path}", body).send(api)
            assert FULL in commits.new(), path


async def test_so_is_what_a_customer_writes_to_a_person(server: tuple[Target, Commits]) -> None:
    target, commits = server
    session = f"s-{uuid4().hex[:8]}"
    async with target.open_client(target.admin) as api:
        for message in ("转人工", "我的空调不制冷"):  # the first calls a person, the second is for them
            commits.new()
            await ask(api, session, message)
            assert FULL in commits.new(), message


async def test_an_ordinary_turn_does_not_wait(server: tuple[Target, Commits]) -> None:
    target, commits = server
    async with target.open_client(target.admin) as api:
        commits.new()
        await ask(api, f"s-{uuid4().hex[:8]}")
        assert NORMAL in commits.new()


async def test_nobody_else_on_the_machine_can_read_what_is_kept(server: tuple[Target, Commits]) -> None:
    files = list_private_files(server[0])
    names = {path.name for path in files}
    assert names >= {"data", "yingda.sqlite3", "yingda.sqlite3-wal", "embeddings.sqlite3", "writer.lock", "left.txt"}
    others = stat.S_IRWXG | stat.S_IRWXO
    assert [path.name for path in files if path.stat().st_mode & others] == []


@pytest.mark.acceptance(only=True)
@pytest.mark.parametrize("delivered", [True, False])
async def test_a_deleted_conversation_is_gone_from_every_table(server: tuple[Target, Commits], delivered: bool) -> None:
    """Once its events were handed on to a webhook, and at once, while they wait for it."""
    target, mark = server[0], uuid4().hex[:12]
    session = f"erase-{mark}"
    async with target.open_client(target.admin) as api:
        # a name that nothing answers to: deliveries stay
        hook = {"url": "https://receiver.invalid/hook", "events": sorted(TOLD)}
        hook_id = (await api.post("/api/v1/webhooks", json=hook)).raise_for_status().json()["id"]
        await ask(api, session, f"{mark} 型号的陀螺仪怎么校准")
        (await api.post(f"/api/v1/conversations/{session}/handoff", json={})).raise_for_status()
        (await api.post(TICKETS, json={"subject": "回访", "session_id": session})).raise_for_status()
        assert rows_with(target, mark)
        if delivered:
            await _wait_until_delivered(target, hook_id, mark)
        assert (await api.delete(f"/api/v1/conversations/{session}")).status_code == 204
        assert rows_with(target, mark) == []
        assert (await api.get(f"/api/v1/conversations/{session}")).status_code == 404
        await api.delete(f"/api/v1/webhooks/{hook_id}")


def test_what_is_older_than_its_tenant_keeps_it_goes_while_the_server_runs(
    server: tuple[Target, Commits], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target, _ = server
    data = target.data_dir
    monkeypatch.setenv("DATA_DIR", str(data))
    monkeypatch.setenv("RETENTION_CONVERSATIONS_DAYS", "30")
    sessions = {"old": target.server, "new": target.server, "theirs": target.other_client}
    for session, key in sessions.items():
        say(target, key, session)
    with closing(sqlite3.connect(data / "yingda.sqlite3", timeout=30)) as database, database:
        database.execute("UPDATE conversations SET updated_at = '2020-01-01' WHERE session_id IN ('old', 'theirs')")
    assert retention.main(["set", "conversations", "0", "--tenant", "other"]) == 0
    assert retention.main(["apply", "--dry-run"]) == 0
    assert "会删除 1 行：conversations（租户 default）" in capsys.readouterr().out
    assert kept(data, sessions) == {"old", "new", "theirs"}
    assert retention.main(["apply"]) == 0
    assert kept(data, sessions) == {"new", "theirs"}
    assert retention.main(["set", "conversations", "common", "--tenant", "other"]) == 0
    assert retention.main(["apply", "--tenant", "other"]) == 0
    assert kept(data, sessions) == {"new"}
    with httpx.Client(base_url=target.address, headers={"X-API-Key": target.admin}, trust_env=False) as api:
        assert api.get("/api/v1/conversations/old").status_code == 404
        assert api.get("/api/v1/conversations/new").status_code == 200


def say(target: Target, key: str, session: str) -> None:
    body = {"message": "保修多久", "session_id": session}
    with httpx.Client(base_url=target.address, headers={"X-API-Key": key}, trust_env=False, timeout=60) as api:
        api.post("/api/v1/chat", json=body).raise_for_status()


def kept(data: Path, sessions: Iterable[str]) -> set[str]:
    with closing(sqlite3.connect(data / "yingda.sqlite3", timeout=30)) as database:
        found = {row[0] for row in database.execute("SELECT session_id FROM turns")}
    return found & set(sessions)


def list_private_files(target: Target) -> list[Path]:
    """DATA_DIR, with all files and folders in it."""
    return [target.data_dir, *target.data_dir.rglob("*")]


async def _wait_until_delivered(target: Target, hook_id: str, mark: str) -> None:
    """Returns once all that is TOLD of the text is kept for the webhook, which takes the seconds of a gathering."""
    found = "SELECT DISTINCT event FROM webhook_deliveries WHERE webhook_id = ? AND instr(body, ?)"
    with closing(sqlite3.connect(target.data_dir / "yingda.sqlite3", timeout=30)) as database:
        for _ in range(150):
            if {row[0] for row in database.execute(found, (hook_id, mark))} == TOLD:
                return
            await asyncio.sleep(0.2)
    raise TimeoutError


def rows_with(target: Target, mark: str) -> list[str]:
    """Every row of every table of every database in DATA_DIR that holds the text."""
    found = []
    for path in list_private_files(target):
        if path.suffix != ".sqlite3":
            continue
        with closing(sqlite3.connect(path, timeout=30)) as database:
            tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table in tables:
                rows = database.execute(f'SELECT * FROM "{table}"').fetchall()
                found += [f"{table}: {row}" for row in rows if mark in str(row)]
    return found
