from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.backup.service import create_backup, prune_backups, restore_backup, verify_backup
from app.backup.types import MANIFEST, BackupFailed
from app.main import create_app
from app.settings import Settings
from scripts import backup
from tests.app.attachments.pictures import png
from tests.services import postgres_database, require_program

QUESTION, NEEDLE = "路由器整机保修几年", "保修三年"
DOCUMENT = ("保修.md", "# 保修\n\n路由器整机保修三年，耳机保修一年。".encode())


def configured(data_dir: Path, **settings: Any) -> Settings:
    return Settings(data_dir=data_dir, embedder="hash", vector_store="memory", samples_enabled=False, **settings)


@asynccontextmanager
async def served(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(settings)
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1", timeout=60)
    async with app.router.lifespan_context(app), client as http:
        await app.state.container.startup.ready.wait()
        yield http


async def upload(http: httpx.AsyncClient) -> None:
    response = await http.post("/api/v1/knowledge/documents", files=[("files", DOCUMENT)])
    assert response.status_code == 201, response.text


async def ask(http: httpx.AsyncClient, question: str = QUESTION) -> str:
    response = await http.post("/api/v1/chat", json={"message": question})
    assert response.status_code == 200, response.text
    return str(response.json()["reply"])


async def turns(http: httpx.AsyncClient) -> int:
    return int((await http.get("/api/v1/conversations")).json()["total"])


async def send_picture(http: httpx.AsyncClient) -> tuple[str, str, bytes]:
    """Session and id of a picture that a customer sent, and what is shown of it."""
    session = (await http.post("/api/v1/sessions", json={})).json()["session_id"]
    place = f"/api/v1/conversations/{session}/attachments"
    sent = (await http.post(place, files={"file": ("照片.png", png())})).json()["id"]
    told = await http.post("/api/v1/chat", json={"message": "这是什么", "session_id": session, "attachments": [sent]})
    assert told.status_code == 200
    return session, sent, (await http.get(f"{place}/{sent}")).content


async def test_what_was_backed_up_while_a_server_wrote_answers_in_a_fresh_place(tmp_path: Path) -> None:
    live, fresh = configured(tmp_path / "live"), configured(tmp_path / "fresh")
    async with served(live) as http:
        await upload(http)
        first = await ask(http)
        before = await turns(http)
        session, picture, shown = await send_picture(http)
        writing = asyncio.gather(*(ask(http, f"门店{number}几点开门") for number in range(20)))
        folder = await create_backup(live, tmp_path / "backups")
        await writing
    names = {path.name for path in folder.iterdir()}
    assert names >= {"yingda.sqlite3", "embeddings.sqlite3", MANIFEST}
    assert not {name for name in names if name.endswith(("-wal", "-shm"))}
    assert (await restore_backup(fresh, folder)).revision
    async with served(fresh) as http:
        assert NEEDLE in first
        assert await ask(http) == first
        assert before + 1 <= await turns(http) <= before + 22
        restored = await http.get(f"/api/v1/conversations/{session}/attachments/{picture}")
        assert (restored.headers["content-type"], restored.content) == ("image/png", shown)


async def test_postgresql_is_restored_into_an_empty_database(tmp_path: Path) -> None:
    require_program("pg_dump")
    async with postgres_database() as one, postgres_database() as other:
        live = configured(tmp_path / "live", database_url=one)
        async with served(live) as http:
            await upload(http)
            first = await ask(http)
            folder = await create_backup(live, tmp_path / "backups")
        fresh = configured(tmp_path / "fresh", database_url=other)
        await restore_backup(fresh, folder)
        async with served(fresh) as http:
            assert await ask(http) == first
        with pytest.raises(BackupFailed, match="已经有数据库"):
            await restore_backup(fresh, folder)


@pytest.fixture
async def made(tmp_path: Path, migrated: Path) -> Path:
    """A backup of an empty database."""
    live = tmp_path / "live"
    live.mkdir()
    shutil.copy(migrated, live)
    live.joinpath("samples.state").write_text("done")
    return await create_backup(configured(live), tmp_path / "backups")


async def test_a_file_that_changed_is_found_and_nothing_is_restored(tmp_path: Path, made: Path) -> None:
    path = made / "yingda.sqlite3"
    content = bytearray(path.read_bytes())
    content[5000] ^= 1
    path.write_bytes(content)
    with pytest.raises(BackupFailed, match=r"yingda\.sqlite3"):
        await restore_backup(configured(tmp_path / "fresh"), made)
    assert not (tmp_path / "fresh").exists()
    path.unlink()
    with pytest.raises(BackupFailed, match=r"yingda\.sqlite3"):
        verify_backup(made)


async def test_a_place_in_use_or_taken_and_a_backup_of_newer_code_are_refused(tmp_path: Path, made: Path) -> None:
    live = configured(tmp_path / "live")
    with pytest.raises(BackupFailed, match="已经有数据库"):
        await restore_backup(live, made)
    async with served(configured(tmp_path / "other")):
        with pytest.raises(BackupFailed, match="正被服务"):
            await restore_backup(configured(tmp_path / "other"), made)
    told = json.loads(made.joinpath(MANIFEST).read_text())
    made.joinpath(MANIFEST).write_text(json.dumps(told | {"revision": "9999"}))
    with pytest.raises(BackupFailed, match="比这份代码新"):
        await restore_backup(configured(tmp_path / "fresh"), made)
    made.joinpath(MANIFEST).unlink()
    with pytest.raises(BackupFailed, match="不是完整的备份"):
        verify_backup(made)


async def test_logs_and_index_of_another_database_are_gone_after_a_restore(tmp_path: Path, made: Path) -> None:
    fresh = tmp_path / "fresh"
    (fresh / "index").mkdir(parents=True)
    (fresh / "yingda.sqlite3-wal").write_bytes(b"of another database")
    await restore_backup(configured(fresh), made)
    assert {path.name for path in fresh.iterdir()} == {"yingda.sqlite3", "samples.state", "writer.lock"}
    with closing(sqlite3.connect(fresh / "yingda.sqlite3")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_files_that_settings_name_come_along_and_one_that_is_gone_stops_it(tmp_path: Path, made: Path) -> None:
    offers = tmp_path / "offers.yaml"
    offers.write_text("挽留方案", "utf-8")
    settings = configured(tmp_path / "live", offers_file=str(offers))
    folder = await create_backup(settings, tmp_path / "later")
    assert verify_backup(folder).settings == {"files/OFFERS_FILE.yaml": "OFFERS_FILE"}
    assert folder.joinpath("files/OFFERS_FILE.yaml").read_text("utf-8") == "挽留方案"
    offers.unlink()
    with pytest.raises(BackupFailed, match="OFFERS_FILE"):
        await create_backup(settings, tmp_path / "last")
    assert list((tmp_path / "last").iterdir()) == []


def test_only_the_latest_are_kept(tmp_path: Path) -> None:
    for day in (1, 2, 3):
        folder = tmp_path / f"yingda-2026110{day}T000000Z"
        folder.mkdir()
        folder.joinpath(MANIFEST).write_text("{}")
    (tmp_path / "yingda-20261101T000000Z.partial").mkdir()
    assert [path.name for path in prune_backups(tmp_path, 2)] == ["yingda-20261101T000000Z"]
    assert len(list(tmp_path.glob("yingda-*"))) == 3


def test_the_commands_make_check_and_restore(
    tmp_path: Path, migrated: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_DIR", "nowhere")
    assert backup.main(["create"]) == 1
    monkeypatch.setenv("DATA_DIR", str(migrated.parent))
    assert backup.main(["create", "--into", "copies", "--keep", "1"]) == 0
    (folder,) = Path("copies").iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    assert backup.main(["verify", str(folder)]) == 0
    monkeypatch.setenv("DATA_DIR", "fresh")
    assert backup.main(["restore", str(folder)]) == 0
    assert "已恢复" in capsys.readouterr().out
    assert backup.main(["restore", str(folder)]) == 1
    assert "已经有数据库" in capsys.readouterr().err
