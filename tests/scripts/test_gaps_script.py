from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.db.engine import Database
from app.jobs.repository_queue import ClaimedRun, RunQueue
from app.settings import Settings
from scripts.gaps import main
from tests.app.gaps.test_misses import WRAP, asked, collected, gap_of, keep


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Database]:
    database = Database(url)
    try:
        yield database
    finally:
        await database.close()


def test_gaps_are_listed_shown_and_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    assert main(["--tenant", "t", "list"]) == 0
    assert capsys.readouterr().out == "共 0 个\n"
    url = Settings(_env_file=None, data_dir=tmp_path).sql_url

    async def fill() -> str:
        async with opened(url) as database:
            await keep(database, asked(1, WRAP))
            await collected(database)
            return await gap_of(database, "turn:m1")

    async def claimed() -> ClaimedRun | None:
        async with opened(url) as database:
            return await RunQueue(database).claim(["gap_mining"], "w")

    gap_id = asyncio.run(fill())
    assert main(["--tenant", "t", "list"]) == 0
    assert WRAP in capsys.readouterr().out
    assert (main(["--tenant", "t", "show", gap_id]), main(["--tenant", "t", "show", "none"])) == (0, 1)
    assert f"no_evidence     {WRAP}" in capsys.readouterr().out
    assert main(["--tenant", "t", "mine", "--days", "7"]) == 0
    run = asyncio.run(claimed())
    assert run is not None and run.parameters == {"days": 7}
