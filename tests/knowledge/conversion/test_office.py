"""What becomes of a file, and of the program, in each way that a conversion can end."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from knowledge.conversion.office import OfficeConverter
from knowledge.errors import BrokenDocument, CostlyDocument, DocumentTooLarge, ParsingUnavailable
from tests.knowledge.conversion.programs import program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")


@asynccontextmanager
async def converter(folder: Path, does: str, seconds: float = 120, most: int = 2**20) -> AsyncIterator[OfficeConverter]:
    made = OfficeConverter(program(folder, does), seconds, most)
    yield made
    await made.close()


async def converted(office: OfficeConverter, tenant: str = "t") -> bytes:
    return await office.convert(tenant, "合同.doc", b"old", ".doc", ".docx")


async def seen(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.01)


def ended(pid: int) -> bool:
    """Gone, or dead and not yet buried by whoever inherits orphans."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


async def test_the_new_file_comes_back_and_nothing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "work"))
    killed, working = (tmp_path / "work" / f"yingda-convert-{name}" for name in ("killed", "working"))
    for left in (killed, working):
        left.mkdir(parents=True)
        (left / "document.doc").write_bytes(b"left behind")
    os.utime(killed, (0, 0))
    async with converter(tmp_path, 'sed s/old/new/ "$given" > "$out"') as office:
        assert await converted(office) == b"new"
    assert list((tmp_path / "work").iterdir()) == [working]


async def test_the_program_sees_nothing_of_the_servers_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-secret")
    async with converter(tmp_path, 'env > "$out"') as office:
        found = await converted(office)
    assert b"HOME=" in found
    assert b"a-secret" not in found


@pytest.mark.parametrize("does", ["exit 1", "exit 0", 'ln -s "$given" "$out"'], ids=["fails", "nothing", "link"])
async def test_a_file_that_does_not_convert_is_broken(tmp_path: Path, does: str) -> None:
    async with converter(tmp_path, does) as office:
        with pytest.raises(BrokenDocument, match=r"《合同\.doc》无法转换"):
            await converted(office)


async def test_what_unfolds_too_far_is_too_large(tmp_path: Path) -> None:
    async with converter(tmp_path, 'head -c 2000 /dev/zero > "$out"', most=1000) as office:
        with pytest.raises(DocumentTooLarge, match="转换后超过"):
            await converted(office)


async def test_too_long_is_named_and_the_next_file_is_converted(tmp_path: Path) -> None:
    async with converter(tmp_path, "sleep 600", seconds=0.2) as office:
        with pytest.raises(CostlyDocument, match=r"转换用时超过 0\.2 秒"):
            await converted(office)
        with pytest.raises(CostlyDocument):
            await converted(office)


@pytest.mark.skipif(sys.platform != "linux", reason="told by /proc")
@pytest.mark.parametrize("how", ["closed", "cancelled"])
async def test_the_end_of_the_server_or_of_the_call_ends_the_children_too(tmp_path: Path, how: str) -> None:
    told = tmp_path / "pids"
    async with converter(tmp_path, f"sleep 600 & echo $$ $! > {told}.new; mv {told}.new {told}; wait") as office:
        task = asyncio.create_task(converted(office))
        await seen(told.exists)
        if how == "closed":
            await office.close()
            with pytest.raises(ParsingUnavailable):
                await task
            with pytest.raises(ParsingUnavailable):
                await converted(office)
        else:
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        for pid in told.read_text().split():
            await seen(lambda pid=int(pid): ended(pid))  # type: ignore[misc]


async def test_one_file_at_a_time(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    does = f'mkdir {lock} || exit 1\ncp "$given" "$out"\nrmdir {lock}'
    async with converter(tmp_path, does) as office:
        assert await asyncio.gather(*(converted(office, tenant) for tenant in "aab")) == [b"old"] * 3
