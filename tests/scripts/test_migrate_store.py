from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest

from app.settings import Settings
from app.wiring.knowledge import index_path
from knowledge.embeddings.hash import HashEmbedder
from knowledge.errors import IndexUnavailable
from knowledge.stores.chroma import ChromaStore, SharedChromaStore
from knowledge.stores.milvus import MilvusTable, get_address
from knowledge.stores.remote import RemoteSnapshot
from knowledge.types import Hit
from scripts import ingest
from scripts.migrate_store import main
from tests.chroma_server import chroma_server, forget_clients

pytestmark = pytest.mark.xdist_group("milvus")
BUILT_BY = HashEmbedder.name, HashEmbedder.dimension
ROOT = Path(__file__).resolve().parents[2]
SLOWLY = """
import sys, time
from knowledge.stores import chroma, local
from scripts.migrate_store import main
local._PART = 2
write = chroma.SharedChromaStore.upsert
def upsert(*given):
    write(*given)
    time.sleep(0.1)
chroma.SharedChromaStore.upsert = upsert
raise SystemExit(main(sys.argv[1:]))
"""


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """A document of 40 chunks and another tenant's of one in Chroma, which is asked whatever their number."""
    monkeypatch.chdir(tmp_path)
    values = {"DATA_DIR": str(tmp_path / "data"), "EMBEDDER": "hash", "VECTOR_STORE": "chroma"}
    for name, value in (values | {"EXACT_SEARCH_MAX_CHUNKS": "0"}).items():
        monkeypatch.setenv(name, value)
    parts = [f"## 第 {number} 节\n\n{'型号 X-' + str(number) + ' 的保修与退货说明。' * 12}" for number in range(40)]
    (tmp_path / "总则.md").write_text("# 总则\n\n" + "\n\n".join(parts), "utf-8")
    (tmp_path / "说明.md").write_text("# 说明\n\n另一家的退货说明。", "utf-8")
    assert ingest.main(["总则.md"]) == 0
    assert ingest.main(["说明.md", "--tenant", "other"]) == 0
    forget_clients()
    yield Settings()
    forget_clients()


def in_chroma(settings: Settings, tenant: str = "default") -> set[str]:
    forget_clients()
    return ChromaStore(index_path(settings), tenant, *BUILT_BY).list_ids()


def in_milvus(settings: Settings, tenant: str = "default") -> int:
    table = MilvusTable(get_address(index_path(settings), ""), tenant, *BUILT_BY, 0)
    rows = len(list(table.list_live(-1)))
    table.close()
    return rows


def test_a_base_goes_from_store_to_store_and_back(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    held = in_chroma(settings)
    assert len(held) >= 40
    assert main(["--to", "milvus", "--drop"]) == 0
    output = capsys.readouterr().out
    assert f"租户 default：{len(held)} 个片段，版本 1，已核对" in output
    assert "租户 other：1 个片段" in output
    assert "VECTOR_STORE=milvus" in output
    assert in_milvus(settings) == len(held)
    assert in_milvus(settings, "other") == 1
    assert in_chroma(settings) == set()
    forget_clients()
    monkeypatch.setenv("VECTOR_STORE", "milvus")
    assert main(["--to", "chroma", "--tenant", "default"]) == 0
    assert in_chroma(settings) == held
    assert in_milvus(settings) == len(held)
    forget_clients()
    assert main(["--to", "memory"]) == 0


def test_a_store_that_answers_otherwise_is_told_and_nothing_is_dropped(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def nothing(*given: object) -> list[Hit]:
        return []

    monkeypatch.setattr(RemoteSnapshot, "search_dense", nothing)
    assert main(["--to", "milvus", "--tenant", "other", "--drop"]) == 1
    assert "0% of the nearest" in capsys.readouterr().err
    assert len(in_chroma(settings, "other")) == 1


@pytest.mark.parametrize("arguments", [["--to", "chroma"], ["--to", "milvus", "--tenant", "无此"]], ids=str)
def test_what_cannot_be_moved_is_told(
    settings: Settings, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 1
    assert capsys.readouterr().err


@pytest.mark.acceptance(only=True)
def test_a_run_that_is_killed_half_way_is_finished_by_the_next(settings: Settings, tmp_path: Path) -> None:
    held = in_chroma(settings)
    with chroma_server(tmp_path / "server") as server:
        command = ["--to", "chroma", "--url", server, "--tenant", "default"]
        process = subprocess.Popen([sys.executable, "-c", SLOWLY, *command], cwd=ROOT, env=os.environ.copy())
        try:
            half = wait_for_rows(server, process)
        finally:
            process.kill()
            process.wait()
        assert 0 < len(half) < len(held)
        forget_clients()
        assert main(command) == 0
        assert SharedChromaStore(server, "default", *BUILT_BY).list_ids() == held


def wait_for_rows(server: str, process: subprocess.Popen[bytes]) -> set[str]:
    until = monotonic() + 300
    while process.poll() is None and monotonic() < until:
        sleep(0.05)
        try:
            found = SharedChromaStore(server, "default", *BUILT_BY).list_ids()
        except IndexUnavailable:  # it is being made
            continue
        if len(found) >= 4:
            return found
    raise AssertionError("nothing was written")
