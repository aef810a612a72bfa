from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.db.lock import DataDirLock
from app.distributed.files import find_stored
from app.documents.files import find_files
from app.settings import Settings
from app.wiring.knowledge import open_knowledge
from scripts.ingest import main
from scripts.other_server import warn_of_other_database
from tests.app.serving import served


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(tmp_path)
    values = {"DATA_DIR": str(tmp_path / "data"), "EMBEDDER": "hash", "VECTOR_STORE": "memory"}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return Settings()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "文档"
    for name, content in {
        "退货/说明.md": "# 退货说明\n\n签收后七天内可以退货。",
        "保修/说明.md": "# 保修说明\n\n整机保修三年。",
        "总则.txt": "本店承诺正品。",
        ".隐藏/草稿.txt": "不应导入。",
        "图片.png": "不支持的类型",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, "utf-8")
    return folder


@contextmanager
def server(settings: Settings) -> Iterator[None]:
    """A server's knowledge base in a thread of its own: it holds the lock and follows SQL."""
    ready, stop = threading.Event(), threading.Event()

    async def run() -> None:
        async with open_knowledge(settings, owns_index=True):
            ready.set()
            await asyncio.to_thread(stop.wait)

    lock = DataDirLock(settings.data_dir)
    assert lock.try_acquire()
    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    assert ready.wait(20)
    try:
        yield
    finally:
        stop.set()
        thread.join()
        lock.release()


def test_a_folder_gives_every_file_that_has_a_parser_once(folder: Path) -> None:
    assert [(file.place, file.category) for file in find_files([folder])] == [
        ("文档/保修/说明.md", "保修"),
        ("文档/总则.txt", ""),
        ("文档/退货/说明.md", "退货"),
    ]


def test_a_file_that_is_named_lies_in_its_own_folder(folder: Path) -> None:
    assert [file.place for file in find_files([folder / "总则.txt"])] == ["文档/总则.txt"]
    assert [file.place for file in find_files([folder / "总则.txt"], folder="北区")] == ["北区/总则.txt"]
    assert [file.place for file in find_files([folder / "总则.txt"], folder="")] == ["总则.txt"]


def test_two_files_that_would_be_one_document_are_refused_together(
    settings: Settings, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = folder.parent / "南区" / "文档"
    other.mkdir(parents=True)
    (other / "总则.txt").write_text("别的内容。", "utf-8")
    assert main([str(folder), str(other)]) == 1
    assert "--folder" in capsys.readouterr().err
    assert main([str(folder)]) == 0
    assert main([str(other), "--folder", "南区"]) == 0
    assert "新增  南区/总则.txt" in capsys.readouterr().out


def test_a_file_that_is_named_is_taken_whatever_its_type(folder: Path) -> None:
    assert [file.name for file in find_files([folder / "图片.png", folder / "总则.txt"])] == ["图片.png", "总则.txt"]
    with pytest.raises(FileNotFoundError):
        find_files([folder / "没有.md"])


def test_a_second_run_changes_nothing(settings: Settings, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder)]) == 0
    assert "共 3 个文件：新增 3，更新 0，未变 0，失败 0" in capsys.readouterr().out
    assert main([str(folder)]) == 0
    assert "新增 0，更新 0，未变 3，失败 0" in capsys.readouterr().out


def test_folders_below_the_given_one_become_categories_unless_one_is_given(settings: Settings, folder: Path) -> None:
    async def categories() -> dict[str, str]:
        async with open_knowledge(settings, owns_index=True) as base:
            rows, _ = await base.documents.load_page("default")
            return {row.path: row.category for row in rows}

    assert main([str(folder)]) == 0
    assert asyncio.run(categories()) == {"文档/保修/说明.md": "保修", "文档/退货/说明.md": "退货", "文档/总则.txt": ""}
    assert main([str(folder / "总则.txt"), "--category", "条款", "--tag", "官方"]) == 0
    assert asyncio.run(categories())["文档/总则.txt"] == "条款"


def test_files_that_nobody_reads_are_named_and_counted(
    settings: Settings, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "退货" / "数据.mdb").write_bytes(b"\x00\x01")
    (folder / "链接.md").symlink_to(folder / "总则.txt")
    assert main([str(folder)]) == 0
    output = capsys.readouterr().out
    assert "数据.mdb：类型不支持" in output
    assert "图片.png：是图片，不随目录导入" in output
    assert "草稿" not in output
    assert "跳过 3 个文件：符号链接 1，类型不支持 1，图片 1" in output


def test_a_draft_says_who_made_it_and_why(settings: Settings, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def kept() -> tuple[bool, str, str, str]:
        async with open_knowledge(settings, owns_index=True) as base:
            (row,), _ = await base.documents.load_page("default")
            (version,) = await base.versions.rows.list_all("default", row.id)
            return row.published, version.state, version.author, version.reason

    assert main([str(folder / "总则.txt"), "--draft", "--author", "王敏", "--reason", "新的一季"]) == 0
    assert "未变 0，草稿 1，失败 0" in capsys.readouterr().out
    assert asyncio.run(kept()) == (False, "draft", "王敏", "新的一季")


def test_columns_of_questions_and_answers_are_reported_and_can_be_named(
    settings: Settings, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "问答.csv").write_text("场景,口径,客户问题,客服答复\n退货,七天,多久能退？,七天内可以退。", "utf-8")
    assert main([str(folder)]) == 0
    assert "问题取「客户问题」列，答案取「客服答复」列；没有读取的列：场景、口径" in capsys.readouterr().out
    assert main([str(folder / "问答.csv"), "--question-column", "场景", "--answer-column", "B"]) == 0
    output = capsys.readouterr().out
    assert "更新 1" in output
    assert "问题取「场景」列，答案取「口径」列" in output
    with pytest.raises(SystemExit):
        main([str(folder), "--question-column", "场景"])


def test_one_bad_file_fails_the_run_and_stops_no_other(
    settings: Settings, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "空.md").touch()
    assert main([str(folder)]) == 1
    output = capsys.readouterr().out
    assert "失败  文档/空.md" in output
    assert "新增 3" in output


def test_a_path_that_is_not_there_is_named(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["没有这个目录"]) == 1
    assert "没有这个目录" in capsys.readouterr().err


def test_a_running_server_takes_over_the_indexing(
    settings: Settings, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with server(settings):
        assert main([str(folder), "--wait", "20"]) == 0
        assert "服务正在运行" in capsys.readouterr().out


def test_waiting_for_a_server_that_does_not_follow_ends_with_a_clear_message(
    settings: Settings, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = DataDirLock(settings.data_dir)
    assert lock.try_acquire()
    assert main([str(folder), "--wait", "0.3"]) == 1
    assert "0.3 秒内没有跟上" in capsys.readouterr().err
    lock.release()
    assert main([str(folder)]) == 0
    assert "未变 3" in capsys.readouterr().out


def test_a_lock_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    first, second = DataDirLock(tmp_path), DataDirLock(tmp_path)
    assert first.try_acquire()
    assert not second.try_acquire()
    first.release()
    assert second.try_acquire()
    second.release()


def test_folders_that_are_given_together_keep_their_names_below_the_one_they_go_into(folder: Path) -> None:
    (folder / "退货" / "运费").mkdir()
    (folder / "退货" / "运费" / "说明.md").write_text("# 运费\n\n运费自理。", "utf-8")
    parts = [folder / "保修", folder / "退货", folder / "总则.txt"]
    together = ["北区/保修/说明.md", "北区/退货/说明.md", "北区/退货/运费/说明.md", "北区/总则.txt"]
    assert [file.place for file in find_files(parts, folder="北区")] == together
    assert [file.place for file in find_stored([str(part) for part in parts], folder="北区")] == together
    assert next(file.place for file in find_files(parts[:2], folder="")) == "保修/说明.md"
    alone = ["北区/保修/说明.md", "北区/总则.txt", "北区/退货/说明.md", "北区/退货/运费/说明.md"]
    assert [file.place for file in find_files([folder], folder="北区")] == alone
    assert [file.place for file in find_stored([str(folder)], folder="北区")] == alone


async def test_a_server_with_another_database_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    async with served(theirs) as product:
        port = product.address.rpartition(":")[2]
        monkeypatch.setenv("PORT", port)

        async def told(**values: str) -> str:
            for name, value in values.items():
                monkeypatch.setenv(name, value)
            return await asyncio.to_thread(warn_of_other_database, Settings())

        assert f"127.0.0.1:{port}" in await told(DATA_DIR=str(tmp_path / "ours"))
        assert "DATA_DIR" in await told(DATA_DIR=str(tmp_path / "ours"), HOST="0.0.0.0")
        assert await told(DATA_DIR=str(theirs)) == ""
        (tmp_path / "linked").symlink_to(theirs)
        assert await told(DATA_DIR=str(tmp_path / "linked")) == ""
        other = tmp_path / "other.sqlite3"
        other.touch()
        assert await told(DATA_DIR=str(theirs), DATABASE_URL=f"sqlite+aiosqlite:///{other}") != ""
    monkeypatch.delenv("DATABASE_URL")
    assert await told(DATA_DIR=str(tmp_path / "ours")) == "", "nobody is there"


def test_an_import_beside_such_a_server_says_so_and_goes_on(
    settings: Settings, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "scripts.ingest.warn_of_other_database", lambda settings: f"注意：{settings.port} 上是另一个数据库"
    )
    assert main([str(folder)]) == 0
    shown = capsys.readouterr()
    assert "另一个数据库" in shown.err and "新增 3" in shown.out
