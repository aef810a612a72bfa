"""Point 17: what is linked into a folder is not taken in with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.documents.files import FoundFile, find_files

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one file of its own, and links to a file, to a folder, to itself and to nothing."""
    outside, folder = tmp_path / "外面", tmp_path / "文档"
    (folder / "子目录").mkdir(parents=True)
    outside.mkdir()
    (outside / "机密.md").write_text("机密：进价三百元。", "utf-8")
    (folder / "子目录" / "说明.md").write_text("签收后七天内可以退货。", "utf-8")
    (folder / "偷看.md").symlink_to(outside / "机密.md")
    (folder / "整个目录").symlink_to(outside)
    (folder / "子目录" / "循环").symlink_to(folder)
    (folder / "悬空.md").symlink_to(tmp_path / "没有")
    return folder


def test_links_in_a_folder_are_skipped_and_named(folder: Path) -> None:
    skipped: list[Path] = []
    assert [file.name for file in find_files([folder], lambda path, _: skipped.append(path))] == ["说明.md"]
    assert {path.name for path in skipped} == {"偷看.md", "整个目录", "循环", "悬空.md"}


def test_a_link_that_is_given_is_followed(folder: Path) -> None:
    (given,) = find_files([folder / "偷看.md"])
    assert (given.name, given.read(1000).decode()) == ("偷看.md", "机密：进价三百元。")
    assert [file.name for file in find_files([folder / "整个目录"])] == ["机密.md"]


def test_a_file_that_became_a_link_is_not_read(folder: Path) -> None:
    with pytest.raises(OSError):
        FoundFile(folder / "偷看.md", "偷看.md").read(1000)


def test_the_script_names_what_it_skips(folder: Path, tmp_path: Path) -> None:
    settings = {"DATA_DIR": str(tmp_path / "data"), "EMBEDDER": "hash", "VECTOR_STORE": "memory"}
    command = ["env", *(f"{name}={value}" for name, value in settings.items()), sys.executable]
    done = subprocess.run(
        [*command, str(ROOT / "scripts" / "ingest.py"), str(folder)], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "新增 1" in done.stdout
    assert all(f"{name}：是符号链接" in done.stdout for name in ("偷看.md", "整个目录", "循环", "悬空.md"))
    assert "机密.md" not in done.stdout
