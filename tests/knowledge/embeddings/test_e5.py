from __future__ import annotations

from pathlib import Path

import pytest

from knowledge import processors
from knowledge.embeddings.e5 import EncoderThreads

ALL = 4


class Threads:
    """Remembers how many were asked for."""

    def __init__(self) -> None:
        self.set: list[int] = []

    def get_num_threads(self) -> int:
        return ALL

    def set_num_threads(self, count: int) -> None:
        self.set.append(count)


@pytest.mark.parametrize(("idle", "threads"), [(-7, 1), (0, 1), (1, 1), (2, 2), (4, 4), (64, 4)])
def test_a_lone_question_and_a_passage_have_the_processors_that_nobody_else_wants(idle: int, threads: int) -> None:
    library = Threads()
    encoder = EncoderThreads([library], lambda: idle)
    with encoder.question():
        assert library.set == [threads]
    with encoder.question(), encoder.passage():
        assert library.set[2:] == [threads]


def test_of_several_questions_each_has_one_and_the_next_that_is_alone_all_of_them() -> None:
    library = Threads()
    threads = EncoderThreads([library], lambda: 64)
    with threads.question(), threads.question(), threads.question():
        pass
    with threads.question():
        pass
    assert library.set == [ALL, 1, 1, ALL]


@pytest.mark.parametrize(("running", "idle"), [(1, 4), (4, 1), (9, -4)])
def test_who_runs_or_wants_to_leaves_fewer_processors_idle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, running: int, idle: int
) -> None:
    load = tmp_path / "loadavg"
    load.write_text(f"0.52 0.58 0.59 {running}/389 12034\n", "ascii")
    monkeypatch.setattr(processors, "_LOAD", load)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert processors.idle_processors() == idle


def test_where_the_system_does_not_tell_all_processors_are_idle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processors, "_LOAD", tmp_path / "none")
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert processors.idle_processors() == 4
