from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.private import keep_private

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes are of POSIX")


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_folder_and_what_is_created_from_now_on_is_the_users_alone(tmp_path: Path) -> None:
    keep_private(tmp_path / "a" / "data")
    (tmp_path / "a" / "data" / "file").write_text("x")
    assert (mode(tmp_path / "a" / "data"), mode(tmp_path / "a" / "data" / "file")) == (0o700, 0o600)


def test_what_was_open_is_closed_and_what_links_lead_to_is_left_alone(tmp_path: Path) -> None:
    outside, data = tmp_path / "outside", tmp_path / "data"
    outside.write_text("x")
    (data / "index").mkdir(parents=True)
    (data / "index" / "file").write_text("x")
    (data / "run").write_text("x")
    (data / "run").chmod(0o755)
    (data / "link").symlink_to(outside)
    keep_private(data)
    modes = [mode(data / name) for name in (".", "index", "index/file", "run")]
    assert modes == [0o700, 0o700, 0o600, 0o700]
    assert mode(outside) == 0o644


def test_a_folder_of_somebody_else_is_used_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, mode: int) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "chmod", refuse)
    tmp_path.joinpath("file").write_text("x")
    keep_private(tmp_path)
