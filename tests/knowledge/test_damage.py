from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from knowledge.damage import find_sqlite_damage, set_aside


def database(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT zeroblob(100000) AS room")
        connection.commit()
    return path


def test_a_whole_file_and_none_are_not_damaged(tmp_path: Path) -> None:
    assert find_sqlite_damage(database(tmp_path / "a.sqlite3")) == ""
    assert find_sqlite_damage(tmp_path / "none.sqlite3") == ""
    assert not (tmp_path / "none.sqlite3").exists()


@pytest.mark.parametrize(
    ("start", "content"), [(0, bytes(100)), (30_000, b""), (50_000, b"\xff" * 8192)], ids=["header", "cut", "middle"]
)
def test_a_file_that_is_not_whole_is_found_out(tmp_path: Path, start: int, content: bytes) -> None:
    path = database(tmp_path / "a.sqlite3")
    with path.open("r+b") as file:
        file.seek(start)
        file.write(content) if content else file.truncate()
    assert find_sqlite_damage(path)


def test_a_locked_file_is_not_a_damaged_one(tmp_path: Path) -> None:
    path = database(tmp_path / "a.sqlite3")
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        assert find_sqlite_damage(path) == ""


def test_what_belongs_to_a_file_goes_aside_with_it(tmp_path: Path) -> None:
    for name in ("a.sqlite3", "a.sqlite3-wal", "b.sqlite3"):
        (tmp_path / name).write_text(name)
    aside = set_aside(tmp_path / "a.sqlite3", "cut off")
    assert aside.name.startswith("a.sqlite3.damaged-")
    assert {path.name for path in tmp_path.iterdir()} == {aside.name, f"{aside.name}-wal", "b.sqlite3"}
    assert aside.read_text() == "a.sqlite3"
