from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from app.errors import FetchUnavailable, Forbidden
from app.sources.types import FolderConfig
from tests.app.sources.syncing import Syncing, syncing


def write(path: Path, text: str, age: float = 60.0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    os.utime(path, (time.time() - age,) * 2)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "files"
    write(root / "差旅.md", "# 差旅\n\n出差住宿每晚不超过四百元。")
    write(root / "人事" / "年假.txt", "入职满一年有五天年假。")
    return root


async def test_files_come_change_move_and_go(tmp_path: Path, root: Path) -> None:
    async with syncing(tmp_path, (root,)) as here:
        source = await here.folder(root)
        assert await here.sync(source) == {"created": 2, "complete": True}
        assert (await here.documents()).keys() == {"制度/差旅.md", "制度/人事/年假.txt"}
        assert await here.sync(source) == {"unchanged": 2, "complete": True}
        write(root / "差旅.md", "# 差旅\n\n出差住宿每晚不超过五百元。")
        leave = (await here.documents())["制度/人事/年假.txt"]
        shutil.move(root / "人事" / "年假.txt", root / "假期.txt")
        result = await here.sync(source)
        assert (result["updated"], result["complete"]) == (2, True)
        assert (await here.documents())["制度/假期.txt"].id == leave.id
        assert await here.answers("五百元") and await here.answers("五天年假")
        (root / "假期.txt").unlink()
        assert await here.sync(source) == {"expired": 1, "unchanged": 1, "complete": True}
        assert not await here.answers("五天年假")


async def test_a_folder_that_is_not_there_is_an_outage(tmp_path: Path, root: Path) -> None:
    async with syncing(tmp_path, (tmp_path,)) as here:
        source = await here.folder(root)
        await here.sync(source)
        for path in (root / "差旅.md", root / "人事" / "年假.txt"):
            path.unlink()
        with pytest.raises(FetchUnavailable, match="没有挂载"):
            await here.sync(source)
        shutil.rmtree(root)
        with pytest.raises(FetchUnavailable):
            await here.sync(source)
        assert await here.answers("四百元") and await here.answers("五天年假")


async def test_what_is_being_written_waits(tmp_path: Path, root: Path) -> None:
    async with syncing(tmp_path, (root,), settle=0.3) as here:
        source = await here.folder(root)
        write(root / "新.md", "刚写好的，等一小会儿就收。", age=0)
        assert await here.sync(source) == {"created": 3, "complete": True}

    async with syncing(tmp_path, (root,), settle=0.05) as here:
        [source] = await here.service.rows.list_all("t")
        write(root / "还在写.md", "写了一半", age=0)
        held = here.service._folder._is_being_written  # what is written without end is simulated: no test waits for it
        here.service._folder._is_being_written = lambda file: file.path == "还在写.md" or held(file)  # type: ignore[method-assign]
        assert await here.sync(source) == {"waiting": 1, "unchanged": 3, "complete": True}
        assert (await here.states(source))["还在写.md"] == "waiting"


async def test_nothing_outside_the_roots_is_read(tmp_path: Path, root: Path) -> None:
    secret = tmp_path / "secret"
    write(secret / "密码.md", "机密内容不可外传")
    (root / "链接.md").symlink_to(secret / "密码.md")
    (root / "目录").symlink_to(secret)
    os.mkfifo(root / "管道.md")
    write(root / ".隐藏.md", "看不见")
    write(root / "~$差旅.md", "锁文件")
    async with syncing(tmp_path, (root,)) as here:
        assert await here.sync(await here.folder(root)) == {"created": 2, "complete": True}
        assert not await here.answers("机密内容")
        (root / "外面").symlink_to(secret)
        for path in (secret, root / "..", root / "外面", root.parent, Path("/etc"), Path("relative")):
            with pytest.raises(Forbidden) as caught:
                await here.folder(path)
            assert caught.value.code == "folder_outside_roots", path
    async with syncing(tmp_path) as here:
        with pytest.raises(Forbidden) as caught:
            await here.folder(root)
        assert caught.value.code == "folders_not_allowed"


async def test_a_link_put_in_the_place_of_a_file_is_not_followed(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    write(secret / "年假.txt", "机密内容不可外传")
    async with syncing(tmp_path, (root,)) as here:
        source = await here.folder(root)
        folder, listed = here.service._folder, here.service._folder._list_files

        async def swapped(root: Path) -> list[object]:
            seen = await listed(root)
            shutil.rmtree(root / "人事")
            (root / "人事").symlink_to(secret)
            return list(seen)

        monkeypatch.setattr(folder, "_list_files", swapped)
        assert await here.sync(source) == {"created": 1, "failed": 1, "complete": True}
        assert await _errors(here) == {"source_unreadable"}
        assert not await here.answers("机密内容")


async def test_a_file_that_cannot_be_read_stops_no_other(tmp_path: Path, root: Path) -> None:
    write(root / "坏.pdf", "这不是 PDF")
    write(root / "大.txt", "大" * 400_000)
    async with syncing(tmp_path, (root,)) as here:
        assert await here.sync(await here.folder(root)) == {"created": 2, "failed": 2, "complete": True}
        assert await _errors(here) == {"broken_document", "document_too_large"}


async def test_files_of_one_name_in_two_folders_are_two_documents(tmp_path: Path, root: Path) -> None:
    write(tmp_path / "other" / "差旅.md", "乙部门的班车七点发车。")
    async with syncing(tmp_path, (tmp_path,)) as here:
        one, other = await here.folder(root), await here.folder(tmp_path / "other")
        assert (await here.sync(one), await here.sync(other)) == (
            {"created": 2, "complete": True},
            {"created": 1, "complete": True},
        )
        assert await here.answers("四百元") and await here.answers("七点发车")
        await here.service.delete_source("t", other.id, expire=True)
        assert await here.answers("四百元") and not await here.answers("七点发车")


async def test_a_folder_that_is_somewhere_else_has_the_same_documents(tmp_path: Path, root: Path) -> None:
    async with syncing(tmp_path, (tmp_path,)) as here:
        source = await here.folder(root)
        await here.sync(source)
        before = {row.id for row in (await here.documents()).values()}
        shutil.move(root, tmp_path / "moved")
        write(tmp_path / "moved" / "差旅.md", "# 差旅\n\n出差住宿每晚不超过五百元。")
        await here.service.change_source("t", source.id, {"config": FolderConfig(str(tmp_path / "moved"))})
        assert await here.sync(source) == {"updated": 1, "unchanged": 1, "complete": True}
        assert {row.id for row in (await here.documents()).values()} == before
        assert await here.answers("五百元") and not await here.answers("四百元")


async def test_what_another_document_held_that_expired_is_taken_in(tmp_path: Path, root: Path) -> None:
    write(tmp_path / "other" / "休假.txt", "入职满一年有五天年假。")
    async with syncing(tmp_path, (tmp_path,)) as here:
        one, other = await here.folder(root), await here.folder(tmp_path / "other")
        await here.sync(one)
        assert await here.sync(other) == {"unchanged": 1, "complete": True}
        assert await here.states(other) == {"休假.txt": "duplicate"}
        (root / "人事" / "年假.txt").unlink()
        await here.sync(one)
        assert not await here.answers("五天年假")
        assert await here.sync(other) == {"created": 1, "complete": True}
        assert await here.answers("五天年假")


async def _errors(here: Syncing) -> set[str]:
    [source] = await here.service.rows.list_all("t")
    return await here.errors(source)
