from __future__ import annotations

import io
import sys

import pytest

from app import progress as module
from app.documents.progress import IngestionBar
from app.progress import PlainLines, ProgressBar, show_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def unpaused(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pause between two lines."""
    monkeypatch.setattr(module, "LINE_SECONDS", 0.0)


def test_without_a_terminal_there_are_lines_and_no_carriage_returns(
    unpaused: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert list(show_progress(["a", "b", "c"], 3, "提问", "问")) == ["a", "b", "c"]
    shown = capsys.readouterr().err
    lines = shown.splitlines()
    assert lines[-1].startswith("提问 3/3 问，已用 ") and "\r" not in shown
    assert all(line == line.rstrip() for line in lines)


def test_an_import_tells_files_and_what_is_left(unpaused: None, capsys: pytest.CaptureFixture[str]) -> None:
    with IngestionBar([10, 30], "导入") as bar:
        bar.show_step("甲.md", 1, 2)
        bar.finish_file("甲.md")
        bar.finish_file("乙.md")
    shown = capsys.readouterr().err
    assert shown.splitlines()[-1].startswith("导入 100%，已用 ")
    assert "2/2 个文件，乙.md" in shown and "\r" not in shown


def test_lines_are_some_seconds_apart_and_the_end_is_told_once_anything_was() -> None:
    now, out = [0.0], io.StringIO()
    lines = PlainLines(out, lambda: now[0])
    for second in range(35):
        now[0] = float(second)
        lines.write(f"\r导入 {second}%   ")
    lines.finish("导入 100%")
    assert out.getvalue().splitlines() == ["导入 10%", "导入 20%", "导入 30%", "导入 100%"]
    quick = io.StringIO()
    short = PlainLines(quick, lambda: 0.0)
    short.write("\r导入 50%")
    short.finish("导入 100%")
    assert quick.getvalue() == ""


def test_a_terminal_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with ProgressBar(2, "对话", "轮") as bar:
        bar.update(2)
    assert "\r" in screen.getvalue() and "100%" in screen.getvalue()


def test_a_total_may_become_known_on_the_way(unpaused: None, capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBar(None, "重建索引", "段") as bar:
        bar.move_to(2)
        bar.tell("甲")
        bar.move_to(3, 5)
    first, *_, last = capsys.readouterr().err.splitlines()
    assert first.startswith("重建索引 ") and "/? 段" in first and last.startswith("重建索引 3/5 段")


def test_where_lines_are_not_wanted_there_is_nothing(unpaused: None, capsys: pytest.CaptureFixture[str]) -> None:
    with IngestionBar([10], "示例", lines=False) as bar:
        bar.finish_file("甲.md")
    with IngestionBar([], "没有") as bar:
        pass
    assert capsys.readouterr().err == ""
