"""What staff and administrators were told is kept is on the disk; a power cut cannot be had in a test, so what is
looked at is whether each commit waited for it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from scripts.attacks import durability
from scripts.attacks.base import Target
from scripts.attacks.durability import Write, desk_writes, other_writes, send
from scripts.attacks.process import ROOT, process

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
def recorded(folder: Path, **settings: str) -> Iterator[tuple[Target, Commits]]:
    path = folder / "commits"
    search = f"{Path(__file__).with_name('recorder')}:{ROOT}"
    with process(folder / "data", PYTHONPATH=search, COMMITS=str(path), **settings) as target:
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
    async with target.http(target.admin) as api:
        await ask(api, session)
        for write in desk_writes(session, messages=8) + other_writes(session):
            commits.new()
            await send(api, write)
            assert FULL in commits.new(), write.name


async def test_so_is_a_document_and_a_comment_on_a_ticket(server: tuple[Target, Commits]) -> None:
    target, commits = server
    async with target.http(target.admin) as api:
        commits.new()
        files = {"files": ("保修.md", "# 保修\n\n整机保修一年。".encode())}
        assert (await api.post("/api/v1/knowledge/documents", files=files)).status_code == 201
        assert FULL in commits.new()
        ticket = (await send(api, other_writes(f"s-{uuid4().hex[:8]}")[0])).json()["number"]
        for path, body in (("comments", {"text": "已联系"}), ("transitions", {"to": "in_progress"})):
            commits.new()
            await send(api, Write(path, "POST", f"/api/v1/tickets/{ticket}/{path}", body))
            assert FULL in commits.new(), path


async def test_so_is_what_a_customer_writes_to_a_person(server: tuple[Target, Commits]) -> None:
    target, commits = server
    session = f"s-{uuid4().hex[:8]}"
    async with target.http(target.admin) as api:
        for message in ("转人工", "我的空调不制冷"):  # the first calls a person, the second is for them
            commits.new()
            await ask(api, session, message)
            assert FULL in commits.new(), message


async def test_an_ordinary_turn_does_not_wait(server: tuple[Target, Commits]) -> None:
    target, commits = server
    async with target.http(target.admin) as api:
        commits.new()
        await ask(api, f"s-{uuid4().hex[:8]}")
        assert NORMAL in commits.new()


async def test_the_calls_of_the_process_say_the_same(server: tuple[Target, Commits]) -> None:
    if not shutil.which("strace"):
        pytest.skip("no strace here: the commits above are all there is to see")
    try:
        report = await durability.attack(server[0], messages=4)
    except OSError as error:
        pytest.skip(str(error))
    assert report.broken == []
    assert report.cases == 2
