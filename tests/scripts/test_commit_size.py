from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scripts.commit_size import MAX_BYTES, SHIPPED, find_too_large, main

ROOT = Path(__file__).resolve().parents[2]


def test_a_file_above_the_limit_is_named_with_its_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    large, small = tmp_path / "weights.bin", tmp_path / "small.txt"
    large.write_bytes(b"\0" * (MAX_BYTES + 1))
    small.write_bytes(b"\0" * MAX_BYTES)
    assert main([str(large), str(small)]) == 1
    assert "weights.bin" in capsys.readouterr().err
    assert main([str(small), str(tmp_path / "deleted")]) == 0


def test_what_the_project_holds_is_within_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    tracked = subprocess.run(["git", "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    assert find_too_large([name for name in tracked.split("\0") if name]) == []
    assert all(Path(name).is_file() for name in SHIPPED)
