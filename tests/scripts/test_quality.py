from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from app.settings import Settings
from app.wiring.knowledge import open_knowledge
from scripts.quality import main


async def ingested(settings: Settings) -> None:
    files = [
        ("说明书.md", "# X10 说明书\n\nX10 的整机保修期为 1 年。\n".encode()),
        ("政策.md", "# 售后政策\n\n购买 X10 的顾客，整机保修 2 年。\n".encode()),
    ]
    async with open_knowledge(settings, owns_index=True) as base:
        await base.ingestion.add("default", files)


def test_what_is_wrong_is_listed_and_listed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (("DATA_DIR", str(tmp_path)), ("EMBEDDER", "hash"), ("VECTOR_STORE", "memory")):
        monkeypatch.setenv(name, value)
    asyncio.run(ingested(Settings()))
    assert main([]) == 1
    told = capsys.readouterr().out
    assert "[高] contradiction" in told and "待处理 1 个" in told
    assert main(["--show", "--kind", "expired"]) == 0
    assert "待处理 0 个" in capsys.readouterr().out
