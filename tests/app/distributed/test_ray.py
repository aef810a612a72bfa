"""The command on a local Ray of two workers: from folders, archives, web servers and object stores, killed in the
middle, gone on, and the same as the ordinary import.
"""

from __future__ import annotations

import functools
import shutil
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from app.settings import Settings
from app.wiring.knowledge import open_knowledge
from tests.acceptance import LEFT
from tests.app.distributed.runs import DISTRIBUTED, documents, ingested, kept, killed, place, written
from tests.services import postgres_database

pytest.importorskip("ray", reason="Ray is not installed: pip install -r requirements-ray.txt")
pytest.importorskip("fsspec", reason="fsspec is not installed: pip install -r requirements-ray.txt")
pytestmark = pytest.mark.xdist_group("ray")

MANY = 200
SECRETS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}


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


@contextmanager
def object_store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An S3 server on this machine, and its file system."""
    s3fs = pytest.importorskip("s3fs", reason="s3fs is not installed: pip install s3fs")
    moto = pytest.importorskip("moto.server", reason="moto is not installed: pip install 'moto[server]'")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        for name, value in SECRETS.items():
            monkeypatch.setenv(name, value)
        host, port = server.get_host_and_port()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        yield s3fs.S3FileSystem(skip_instance_cache=True)
    finally:
        server.stop()


@asynccontextmanager
async def database(kind: str, data_dir: Path) -> AsyncIterator[dict[str, str]]:
    """SQLite and an embedded store, or PostgreSQL and Milvus."""
    if kind == "sqlite":
        yield place(data_dir, VECTOR_STORE="chroma")
        return
    pytest.importorskip("milvus_lite", reason="Milvus Lite is not installed: pip install -r requirements.txt")
    async with postgres_database() as url:
        yield place(data_dir, VECTOR_STORE="milvus", DATABASE_URL=url)


async def in_the_index(where: dict[str, str]) -> frozenset[str]:
    """Ids of the chunks that searches know after a start."""
    names = ("DATA_DIR", "DATABASE_URL", "EMBEDDER", "VECTOR_STORE")
    settings = Settings.model_validate({name.lower(): where[name] for name in names})
    async with open_knowledge(settings, owns_index=True) as base:
        await base.wait_until_settled()
        return (await base.open_index("default")).get_snapshot().list_ids()


async def test_two_workers_leave_what_the_ordinary_import_leaves(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", 12)
    (docs / "坏.pdf").write_bytes(b"no pdf")
    left = []
    for name, how in (("apart", DISTRIBUTED), ("here", ())):
        where = place(tmp_path / name)
        code, told = ingested(where, *how, str(docs))
        assert code == 1 and "共 13 个文件：新增 12，更新 0，未变 0，失败 1" in told, told
        left.append(await kept(where))
    assert len(left[0].chunks) == 12 and left[0].chunks == left[1].chunks
    assert left[0].documents == left[1].documents
    assert left[0].revisions == left[1].revisions == list(range(1, 13))
    assert (left[0].revision, left[0].indexed) == (left[1].revision, left[1].indexed) == (12, 12)


@LEFT
async def test_a_folder_an_archive_and_a_web_server_are_one_knowledge_base(tmp_path: Path) -> None:
    docs, where = written(tmp_path / "docs", 12), place(tmp_path / "data")
    archive = shutil.make_archive(str(tmp_path / "docs"), "zip", docs)
    code, told = ingested(where, *DISTRIBUTED, f"file://{docs}")
    assert code == 0 and "共 12 个文件：新增 12，更新 0，未变 0，失败 0" in told, told
    code, told = ingested(where, *DISTRIBUTED, f"zip://::file://{archive}")
    assert code == 0 and "共 12 个文件：新增 0，更新 0，未变 12，失败 0" in told, told
    (docs / "部门0" / "说明0.md").write_text("# 说明 0\n\n改为包邮。\n", "utf-8")
    with serving(tmp_path) as address:
        code, told = ingested(where, *DISTRIBUTED, f"{address}/docs/")
    assert code == 0 and "共 12 个文件：新增 0，更新 1，未变 11，失败 0" in told, told


@LEFT
async def test_an_object_store_and_a_folder_are_one_knowledge_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs, where = written(tmp_path / "帮助 中心", 12), place(tmp_path / "data")
    with object_store(monkeypatch) as store:
        store.mkdir("docs")
        store.put(str(docs), f"docs/2026/{docs.name}", recursive=True)
        code, told = ingested(where, *DISTRIBUTED, f"s3://docs/2026/{docs.name}")
        assert code == 0 and "共 12 个文件：新增 12，更新 0，未变 0，失败 0" in told, told
        code, told = ingested(where, str(docs))
        assert code == 0 and "共 12 个文件：新增 0，更新 0，未变 12，失败 0" in told, told
        store.pipe(f"docs/2026/{docs.name}/部门0/说明0.md", "# 说明 0\n\n改为包邮。\n".encode())
        code, told = ingested(where, *DISTRIBUTED, f"s3://docs/2026/{docs.name}")
        assert code == 0 and "共 12 个文件：新增 0，更新 1，未变 11，失败 0" in told, told
    code, told = ingested(where, *DISTRIBUTED, f"s3://docs/2026/{docs.name}")
    assert code == 1 and "Traceback" not in told and "读不到 s3://docs/2026" in told, told


@LEFT
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_a_driver_that_is_killed_loses_and_doubles_nothing(tmp_path: Path, kind: str) -> None:
    docs = written(tmp_path / "docs", MANY)
    async with database(kind, tmp_path / "apart") as where, database(kind, tmp_path / "here") as other:
        before = await killed(where, docs, MANY // 10)
        assert MANY // 10 <= before < MANY
        code, told = ingested(where, *DISTRIBUTED, str(docs))
        assert code == 0 and f"新增 {MANY - before}，更新 0，未变 {before}，失败 0" in told, told
        assert ingested(other, str(docs))[0] == 0
        apart, here = await kept(where), await kept(other)
        assert await documents(where) == MANY and apart.documents == here.documents and apart.chunks == here.chunks
        assert apart.revisions == here.revisions == list(range(1, MANY + 1))
        assert (apart.revision, apart.indexed) == (here.revision, here.indexed) == (MANY, MANY)
        assert await in_the_index(where) == apart.ids and await in_the_index(other) == here.ids
