from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from app.db.lock import DataDirLock
from app.settings import Settings
from app.wiring import reindexing
from knowledge.embeddings.base import Kind
from knowledge.embeddings.hash import HashEmbedder
from knowledge.types import Matrix
from scripts import ingest, reindex
from scripts.reindex import main
from tests.chroma_server import forget_clients


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Two tenants with documents in Chroma, indexed by the hash embedder."""
    monkeypatch.chdir(tmp_path)
    values = {"DATA_DIR": str(tmp_path / "data"), "EMBEDDER": "hash", "VECTOR_STORE": "chroma"}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    for name in ("退货说明", "保修说明", "总则"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\n{name}的正文，在这里写着。", "utf-8")
    assert ingest.main(["退货说明.md", "保修说明.md"]) == 0
    assert ingest.main(["总则.md", "--tenant", "other"]) == 0
    forget_clients()
    yield Settings()
    forget_clients()


def change_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HashEmbedder, "name", "hash/another")


def test_after_a_change_of_model_the_command_is_named_and_makes_it_work(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    change_model(monkeypatch)
    assert ingest.main(["退货说明.md"]) == 1
    assert "python scripts/reindex.py" in capsys.readouterr().err
    forget_clients()
    monkeypatch.setattr("app.progress.LINE_SECONDS", 0.0)
    assert main([]) == 0
    output = capsys.readouterr()
    assert "租户 default：2 个片段，版本 2" in output.out
    assert "租户 other：1 个片段，版本 1" in output.out
    assert "3/3" in output.err
    forget_clients()
    assert ingest.main(["退货说明.md"]) == 0
    assert "未变 1" in capsys.readouterr().out


def test_of_the_database_only_which_index_answers_changes(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def dump() -> set[str]:
        with closing(sqlite3.connect(settings.data_dir / "yingda.sqlite3")) as connection:
            return set(connection.iterdump())

    before = dump()
    change_model(monkeypatch)
    assert main([]) == 0
    changed = dump() ^ before
    assert len(changed) == 2 and all('INTO "index_generations"' in line for line in changed)


def test_a_failing_model_leaves_the_old_index_and_the_next_run_goes_on(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    encoded: list[str] = []
    encode = HashEmbedder._encode

    def flaky(self: HashEmbedder, texts: Sequence[str], kind: Kind) -> Matrix:
        encoded.extend(texts)
        if len(encoded) == 3:
            raise ConnectionError("model server is gone")
        return encode(self, texts, kind)

    with monkeypatch.context() as patch:
        change_model(patch)
        patch.setattr(HashEmbedder, "_encode", flaky)
        assert main([]) == 1
        assert "model server is gone" in capsys.readouterr().err
    forget_clients()
    assert ingest.main(["退货说明.md"]) == 0
    change_model(monkeypatch)
    monkeypatch.setattr(HashEmbedder, "_encode", flaky)
    forget_clients()
    assert main([]) == 0
    assert len(encoded) == 4


def test_one_tenant_is_built_anew_alone(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--tenant", "other"]) == 0
    output = capsys.readouterr().out
    assert "租户 other" in output
    assert "租户 default" not in output


def test_a_tenant_that_has_no_base_is_named(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--tenant", "nobody"]) == 1
    assert "租户 nobody 没有知识库" in capsys.readouterr().err


def test_a_damaged_index_is_built_anew(settings: Settings) -> None:
    for path in (settings.data_dir / "index").rglob("*"):
        if path.is_file():
            path.write_bytes(b"damaged")
    assert main([]) == 0


def test_where_no_server_takes_it_up_it_explains(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reindexing, "START_SECONDS", 0.0)
    lock = DataDirLock(settings.data_dir)
    assert lock.try_acquire()
    assert main([]) == 1
    assert "没有服务接手" in capsys.readouterr().err
    lock.release()


@pytest.mark.acceptance(only=True)
def test_it_runs_as_a_file(tmp_path: Path) -> None:
    command = [sys.executable, reindex.__file__, "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0
    assert "--tenant" in done.stdout
