"""What a start does with files that are not whole: the derived ones are built anew, the database is not touched."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app.db.schema_state import require_whole
from app.documents.samples import MARKER
from app.errors import DatabaseDamaged
from app.settings import Settings
from app.wiring.knowledge import open_knowledge
from app.wiring.samples import ingest_samples

ROOT = Path(__file__).resolve().parents[3]
SECTIONS = "\n\n".join(f"## 第 {number} 条\n\n关于事项 {number} 的退货说明。" * 3 for number in range(12))
Damage = Callable[[Path], None]


def zero_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(bytes(100))


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def garble(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\0garbage")


def harm(data_dir: Path, pattern: str, damage: Damage) -> None:
    (path,) = data_dir.glob(pattern)
    damage(path)


def folder_of(data_dir: Path) -> list[Path]:
    return list(data_dir.iterdir())


DERIVED = [
    pytest.param("embeddings.sqlite3", zero_header, "embeddings.sqlite3", id="vectors, header zeroed"),
    pytest.param("embeddings.sqlite3", cut, "embeddings.sqlite3", id="vectors, cut"),
    pytest.param("index/chroma.sqlite3", zero_header, "index", id="index, header zeroed"),
    pytest.param("index/chroma.sqlite3", cut, "index", id="index, cut"),
    pytest.param("index/*/header.bin", garble, "index", id="index, graph garbled"),
    pytest.param("index/kb-*.json", garble, "index", id="index, record garbled"),
    pytest.param("samples.state", garble, "samples.state", id="samples"),
    pytest.param("samples.state", cut, "samples.state", id="samples, cut"),
]


def settings_of(data_dir: Path) -> Settings:
    return Settings(
        _env_file=None, data_dir=data_dir, embedder="hash", vector_store="chroma", exact_search_max_chunks=5
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, migrated: Path) -> Path:
    """A DATA_DIR whose samples were deleted by an administrator."""
    folder = tmp_path_factory.mktemp("whole")
    shutil.copy(migrated, folder / migrated.name)
    asyncio.run(fill(folder))
    (folder / MARKER).write_text("done")
    return folder


async def fill(folder: Path) -> None:
    async with open_knowledge(settings_of(folder), owns_index=True) as base:
        (report,) = await base.ingestion.add("default", [("退货.md", SECTIONS.encode())])
        assert report.ready


@pytest.fixture
def data_dir(whole: Path, tmp_path: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "data")


@pytest.mark.parametrize(("pattern", "damage", "name"), DERIVED)
async def test_a_derived_file_is_set_aside_and_built_anew(
    data_dir: Path, pattern: str, damage: Damage, name: str
) -> None:
    harm(data_dir, pattern, damage)
    settings = settings_of(data_dir)
    async with open_knowledge(settings, owns_index=True) as base:
        await ingest_samples("default", base, settings)
        rows, _ = await base.documents.load_page("default", limit=200)
        assert [row.name for row in rows] == ["退货.md"]  # no sample came back
        await base.wait_until_settled()
        snapshot = (await base.open_index("default")).get_snapshot()
        assert await snapshot.search_dense(await base.embedder.embed_question("事项 7 的退货说明"), 3)
        assert base.indexer is not None
        assert base.indexer.failures == {}
    there = {path.name.partition(".damaged-")[0] + "!" * (".damaged-" in path.name) for path in folder_of(data_dir)}
    assert {name, f"{name}!"} <= there


@pytest.mark.parametrize("damage", [zero_header, cut])
def test_the_database_alone_stops_a_start_and_names_the_command_that_restores_it(
    data_dir: Path, damage: Damage
) -> None:
    path = data_dir / "yingda.sqlite3"
    damage(path)
    before = path.read_bytes()
    environment = os.environ | {"DATA_DIR": str(data_dir), "EMBEDDER": "hash", "PORT": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "app"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    assert str(path) in done.stderr
    assert "scripts/backup.py restore" in done.stderr
    assert "Traceback" not in done.stderr
    assert path.read_bytes() == before


def test_a_database_that_is_not_there_or_whole_starts(tmp_path: Path) -> None:
    require_whole(f"sqlite+aiosqlite:///{tmp_path}/none.sqlite3")
    require_whole(Settings(_env_file=None, data_dir=tmp_path).sql_url)
    (tmp_path / "other.sqlite3").write_bytes(b"not a database, " * 500)
    with pytest.raises(DatabaseDamaged, match=r"other\.sqlite3"):
        require_whole(f"sqlite+aiosqlite:///{tmp_path}/other.sqlite3")
