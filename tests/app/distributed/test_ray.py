"""The command on a local Ray of two workers: from folders, archives and web servers, killed in the middle, gone on."""

from __future__ import annotations

import functools
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install -r requirements-ray.txt")
pytest.importorskip("fsspec", reason="fsspec is not installed: pip install -r requirements-ray.txt")
pytestmark = [pytest.mark.acceptance(only=True), pytest.mark.xdist_group("ray")]

ROOT = Path(__file__).resolve().parents[3]
MANY = 400
SECONDS = 240.0


def command(data_dir: Path, *locations: str, **settings: str) -> subprocess.Popen[str]:
    environment = {
        "DATA_DIR": str(data_dir),
        "EMBEDDER": "hash",
        "VECTOR_STORE": "memory",
        "SAMPLES_ENABLED": "false",
        "DATABASE_URL": "",
    }
    return subprocess.Popen(
        [sys.executable, "scripts/ingest.py", "--distributed", "--workers", "2", *locations],
        cwd=ROOT,
        env=os.environ | environment | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ingested(data_dir: Path, *locations: str, **settings: str) -> tuple[int, str]:
    with command(data_dir, *locations, **settings) as running:
        told, _ = running.communicate(timeout=SECONDS)
        return running.returncode, told


def documents(data_dir: Path) -> list[tuple[str, str]]:
    """Path and hash of every document; none before the database is there."""
    path = data_dir / "yingda.sqlite3"
    if not path.exists():
        return []
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)) as database:
        there = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'documents'").fetchone()
        return database.execute("SELECT path, content_hash FROM documents ORDER BY path").fetchall() if there else []


def chunks(data_dir: Path) -> int:
    with closing(sqlite3.connect(data_dir / "yingda.sqlite3")) as database:
        return int(database.execute("SELECT count(*) FROM chunks").fetchone()[0])


def written(folder: Path, count: int) -> Path:
    for number in range(count):
        path = folder / f"部门{number % 3}" / f"说明{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# 说明 {number}\n\n型号 X{number} 的退货运费由您承担，首重 {number} 元。\n", "utf-8")
    return folder


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def test_a_folder_an_archive_and_a_web_server_are_one_knowledge_base(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", 12)
    (docs / "坏.pdf").write_bytes(b"no pdf")
    archive = shutil.make_archive(str(tmp_path / "docs"), "zip", docs)
    code, told = ingested(tmp_path / "data", f"file://{docs}")
    assert code == 1 and "共 13 个文件：新增 12，更新 0，未变 0，失败 1" in told, told
    assert {path for path, _ in documents(tmp_path / "data")} == {f"docs/部门{n % 3}/说明{n}.md" for n in range(12)}
    code, told = ingested(tmp_path / "data", f"zip://::file://{archive}")
    assert "共 13 个文件：新增 0，更新 0，未变 12，失败 1" in told, told
    (docs / "部门0" / "说明0.md").write_text("# 说明 0\n\n改为包邮。\n", "utf-8")
    (docs / "坏.pdf").unlink()
    with serving(tmp_path) as address:
        code, told = ingested(tmp_path / "data", f"{address}/docs/")
    assert code == 0 and "共 12 个文件：新增 0，更新 1，未变 11，失败 0" in told, told


def test_a_driver_that_is_killed_loses_and_doubles_nothing(tmp_path: Path) -> None:
    docs, data_dir = written(tmp_path / "docs", MANY), tmp_path / "data"
    deadline = time.monotonic() + SECONDS
    with command(data_dir, str(docs)) as running:
        while len(documents(data_dir)) < MANY // 10:
            assert running.poll() is None and time.monotonic() < deadline, running.communicate()
            time.sleep(0.01)
        running.send_signal(signal.SIGKILL)
        running.communicate()
    before = documents(data_dir)
    assert MANY // 10 <= len(before) < MANY
    code, told = ingested(data_dir, str(docs))
    assert code == 0 and f"新增 {MANY - len(before)}，更新 0，未变 {len(before)}，失败 0" in told, told
    after = documents(data_dir)
    assert len(after) == len(set(after)) == MANY and set(before) <= set(after)
    assert chunks(data_dir) == MANY
