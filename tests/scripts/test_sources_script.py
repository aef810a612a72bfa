from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from app.db.engine import Database
from app.jobs.repository_queue import ClaimedRun, RunQueue
from app.settings import Settings
from app.sources.repository import SourceRepository
from app.sources.types import ItemState, SourceItem
from scripts.sources import main

FAILING = SourceItem("http://93.184.216.34/a", ItemState.FAILED, error_code="fetch_status", error="对方返回 HTTP 403")


def test_sources_are_added_listed_shown_and_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.setenv("SOURCE_ROOTS", f'{{"default": "{tmp_path}"}}')
    monkeypatch.setenv("SOURCES_PER_TENANT", "2")
    url = Settings(_env_file=None, data_dir=tmp_path).sql_url

    async def fail(source_id: str) -> None:
        database = Database(url)
        assert await SourceRepository(database).save("default", source_id, FAILING)
        await database.close()

    async def claimed() -> ClaimedRun | None:
        database = Database(url)
        run = await RunQueue(database).claim(["source_sync"], "w")
        await database.close()
        return run

    assert main(["add", "帮助中心", "http://93.184.216.34/", "--depth", "1"]) == 0
    source_id = capsys.readouterr().out.split()[0]
    assert main(["add", "制度", str(tmp_path)]) == 0
    refused = (
        ["add", "第三个", "http://93.184.216.34/"],
        ["add", "内网", "http://10.0.0.1/"],
        ["add", "别处", "/etc"],
        ["add", "太深", "http://93.184.216.34/", "--depth", "99"],
    )
    assert [main(arguments) for arguments in refused] == [2] * 4
    capsys.readouterr()
    assert main(["list"]) == 0
    assert "帮助中心  http://93.184.216.34/  0 篇  还没有同步过" in capsys.readouterr().out
    asyncio.run(fail(source_id))
    assert (main(["show", source_id]), main(["show", "none"])) == (0, 1)
    assert "http://93.184.216.34/a  fetch_status  对方返回 HTTP 403\n出错 1 个" in capsys.readouterr().out
    assert main(["sync", source_id]) == 0
    run = asyncio.run(claimed())
    assert run is not None and run.parameters == {"source_id": source_id}
    assert (main(["--tenant", "other", "sync", source_id]), main(["--tenant", "other", "list"])) == (1, 0)
