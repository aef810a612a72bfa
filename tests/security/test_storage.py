"""What the server keeps: on the disk once acknowledged, gone once deleted or old, and nobody else's to read.

A power cut cannot be had in a test, so what is looked at is whether each commit waited for the disk.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from scripts import retention
from scripts.attacks import durability, erasure, stored_files
from scripts.attacks.durability import Write, list_desk_writes, list_other_writes, send_write
from scripts.harness.servers import ROOT, Target, run_product

FULL, NORMAL = "2", "1"


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


async def ask(api: httpx.AsyncClient, session: str, message: str = "保修多久") -> None:
    (await api.post("/api/v1/chat", json={"message": message, "session_id": session})).raise_for_status()


async def test_what_staff_and_administrators_do_is_on_the_disk_when_it_is_acknowledged(
    server: tuple[Target, Commits],
) -> None:
    target, commits = server
    session = f"s-{uuid4().hex[:8]}"
    async with target.open_client(target.admin) as api:
        await ask(api, session)
        for write in list_desk_writes(session, messages=8) + list_other_writes(session):
            commits.new()
            await send_write(api, write)
            assert FULL in commits.new(), write.name


async def test_so_is_a_document_and_a_comment_on_a_ticket(server: tuple[Target, Commits]) -> None:
    target, commits = server
    async with target.open_client(target.admin) as api:
        commits.new()
        files = {"files": ("保修.md", "# 保修\n\n整机保修一年。".encode())}
        assert (await api.post("/api/v1/knowledge/documents?wait=60", files=files)).status_code == 201
        assert FULL in commits.new()
        ticket = (await send_write(api, list_other_writes(f"s-{uuid4().hex[:8]}")[0])).json()["number"]
        for path, body in (("comments", {"text": "已联系"}), ("transitions", {"to": "in_progress"})):
            commits.new()
            await send_write(api, Write(path, "POST", f"/api/v1/tickets/{ticket}/{path}", body))
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


async def test_the_calls_of_the_process_say_the_same(server: tuple[Target, Commits]) -> None:
    if not shutil.which("strace"):
        pytest.skip("no strace here: the commits above are all there is to see")
    try:
        report = await durability.run_attack(server[0], messages=4)
    except OSError as error:
        pytest.skip(str(error))
    assert report.broken == []
    assert report.cases == 2


async def test_nobody_else_on_the_machine_can_read_what_is_kept(server: tuple[Target, Commits]) -> None:
    report = await stored_files.run_attack(server[0])
    names = {path.name for path in stored_files.list_private_files(server[0].pid)}
    assert names >= {"data", "yingda.sqlite3", "yingda.sqlite3-wal", "embeddings.sqlite3", "writer.lock", "left.txt"}
    assert report.broken == []
    assert report.cases >= len(names)


@pytest.mark.acceptance(only=True)
async def test_a_deleted_conversation_is_gone_from_every_table(server: tuple[Target, Commits]) -> None:
    target, _ = server
    report = await erasure.run_attack(target)
    assert (report.broken, report.cases) == ([], 5)
    async with target.open_client(target.admin) as api:
        hook, mark = await erasure.subscribe_webhook(api), uuid4().hex[:12]
        session = await erasure.make_conversation(api, mark)
        assert rows_with(target, mark)  # and at once, before anything was settled behind:
        assert (await api.delete(f"/api/v1/conversations/{session}")).status_code == 204
        assert rows_with(target, mark) == []
        await api.delete(f"/api/v1/webhooks/{hook}")


def test_what_is_older_than_its_tenant_keeps_it_goes_while_the_server_runs(
    server: tuple[Target, Commits], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target, _ = server
    data = stored_files.list_private_files(target.pid)[0]
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


def rows_with(target: Target, mark: str) -> list[str]:
    """Every row of every table of every database in DATA_DIR that holds the text."""
    found = []
    for path in stored_files.list_private_files(target.pid):
        if path.suffix != ".sqlite3":
            continue
        with closing(sqlite3.connect(path, timeout=30)) as database:
            tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table in tables:
                rows = database.execute(f'SELECT * FROM "{table}"').fetchall()
                found += [f"{table}: {row}" for row in rows if mark in str(row)]
    return found
