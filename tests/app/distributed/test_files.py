"""Files of stores have the names that the same files of a folder have."""

from __future__ import annotations

import shutil
from importlib import import_module
from pathlib import Path

import pytest

from app.distributed.files import find_stored
from app.documents.files import SamePath, Skipped, find_files
from knowledge.errors import InvalidConfiguration, Unavailable

pytest.importorskip("fsspec", reason="fsspec is not installed: pip install -r requirements-ray.txt")

FILES = {
    "退货.md": "# 退货",
    "保修/路由器.md": "# 保修",
    "保修/深/交换机.txt": "交换机",
    "图.png": "",
    ".隐藏.md": "#",
    "a.exe": "",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "帮助中心" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path / "帮助中心"


def test_an_archive_a_url_and_a_folder_give_the_same_documents(folder: Path) -> None:
    archive = shutil.make_archive(str(folder), "zip", folder)
    expected = [(file.place, file.category, file.read(9)) for file in find_files([folder])]
    for location in (str(folder), f"file://{folder}", f"zip://::file://{archive}"):
        skipped: dict[Path, Skipped] = {}
        found = find_stored([location], skipped.__setitem__)
        assert [(file.place, file.category, file.read(9)) for file in found] == expected
        assert sorted(skipped.values()) == [Skipped.PICTURE, Skipped.UNSUPPORTED]


def test_links_in_a_folder_are_not_followed_by_its_url_either(folder: Path) -> None:
    (folder / "链接.md").symlink_to(folder / "退货.md")
    assert "帮助中心/链接.md" not in [file.place for file in find_stored([f"file://{folder}"])]


def test_two_files_of_one_document_are_refused(folder: Path) -> None:
    archive = shutil.make_archive(str(folder), "zip", folder)
    with pytest.raises(SamePath, match="--folder"):
        find_stored([str(folder), f"zip://::file://{archive}"])


def test_a_percent_sign_in_an_object_stores_name_is_the_names_own() -> None:
    store = import_module("fsspec").filesystem("memory")
    try:
        for name in ("50%20off.md", "50 off.md", "a#b?c.md"):
            store.pipe(f"/rates 100%25#1/{name}", b"# x")
        found = find_stored(["memory://rates 100%25#1"])
    finally:
        store.rm("/rates 100%25#1", recursive=True)
    assert [file.place for file in found] == [
        f"rates 100%25#1/{name}" for name in ("50 off.md", "50%20off.md", "a#b?c.md")
    ]


def test_a_store_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(*_: object, **__: object) -> None:
        raise RuntimeError("no credentials")

    monkeypatch.setattr(type(import_module("fsspec").filesystem("memory")), "find", find)
    with pytest.raises(Unavailable, match="memory://docs：RuntimeError: no credentials"):
        find_stored(["memory://docs"])


def test_what_is_not_there_and_what_nobody_reads_is_named(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        find_stored(["memory://nowhere"])
    with pytest.raises(InvalidConfiguration, match="magic"):
        find_stored(["magic://bucket"])
