"""The command line of tuning, against a server."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from scripts.tune import main
from tests.app.quick import migrated, quick_start, tmp_path
from tests.app.serving import served

__all__ = ["migrated", "quick_start", "tmp_path"]


async def test_parameters_are_set_and_put_back_and_what_is_refused_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["tune.py", "--server", server.address, *arguments])
        status = await asyncio.to_thread(main)
        told = capsys.readouterr()
        return status, told.out + told.err

    async with served(tmp_path) as server:
        status, told = await run("params", "--set", "rrf_k=30", "--note", "试试")
        assert status == 0 and "rrf_k" in told and "(default 60)" in told
        [version], _ = await server.container.tuner.list_versions("default", 10, 0)
        assert (version.note, dict(version.overrides)) == ("试试", {"rrf_k": 30})
        assert await run("params", "--set", "rrf_k=0") == (1, "融合常数 k（rrf_k）须为 1 到 200 之间的整数，现为 0\n")
        status, told = await run("params", "--reset")
        assert status == 0 and "(default" not in told
        few = tmp_path / "few.jsonl"
        few.write_text('{"question": "运费", "answerable": true}\n', "utf-8")
        status, told = await run("calibrate", "--questions", str(few))
        assert status == 1 and "至少 20 道" in told
