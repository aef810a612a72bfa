from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from agents.llm import idle_cores
from agents.llm.idle_cores import count_idle, measure_idle_cores


@pytest.mark.parametrize(
    ("cores", "busy", "idle"), [(8, 0.1, 8), (8, 3.0, 5), (2, 0.7, 1), (2, 6.0, 1), (1, 0.0, 1), (4, -0.4, 4)]
)
def test_what_others_keep_busy_is_left_out(cores: int, busy: float, idle: int) -> None:
    assert count_idle(cores, busy) == idle


def test_the_systems_counts_tell_what_is_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = os.sysconf("SC_CLK_TCK")
    counts = tmp_path / "stat"
    counts.write_text("cpu  100 0 100 5000 40 0 0 0 0 0\ncpu0 100 0 100 5000 40 0 0 0 0 0\n")

    def three_busy(seconds: float) -> None:
        counts.write_text(f"cpu  {100 + int(3 * seconds * ticks)} 0 100 9000 999 0 0 0 0 0\n")

    monkeypatch.setattr(idle_cores, "_STATISTICS", counts)
    monkeypatch.setattr(idle_cores, "_count_usable_cores", lambda: 8)
    monkeypatch.setattr(time, "sleep", three_busy)
    assert measure_idle_cores(1.0) == 5


def test_where_no_counts_are_the_load_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_cores, "_STATISTICS", tmp_path / "nowhere")
    monkeypatch.setattr(idle_cores, "_count_usable_cores", lambda: 8)
    monkeypatch.setattr(os, "getloadavg", lambda: (6.2, 0.0, 0.0))
    assert measure_idle_cores() == 2
