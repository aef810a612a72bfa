"""Real worker processes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from time import monotonic

import pytest

from knowledge.chunking import ChunkOptions
from knowledge.errors import CostlyDocument, DocumentTooLarge, InvalidDocument, ParsingUnavailable, ReaderDied
from knowledge.extraction import read_document
from knowledge.parsing.limits import ParsingLimits
from knowledge.sandbox import process
from knowledge.sandbox.pool import Sandbox, SandboxOptions
from knowledge.sheets import SheetOptions, read_sheet
from tests.contracts.test_parser_contract import SAMPLES
from tests.hostile_files import build_nested_forms, build_xlsx
from tests.sheets import build_workbook

OPTIONS = ChunkOptions()
PLAIN = ("a.md", "# 退货\n\n签收后七天内可以退货。".encode())
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="told by /proc")


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    sandbox = Sandbox(ParsingLimits(), SandboxOptions(workers=2, memory_mb=256, seconds=1))
    yield sandbox
    await sandbox.close()


def workers(sandbox: Sandbox) -> list[int]:
    return [worker.pid for worker in (*sandbox._idle, *sandbox._busy)]


def gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def open_files(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def of(pid: int, file: str) -> str:
    return Path(f"/proc/{pid}/{file}").read_text()


async def test_a_worker_reads_what_this_process_reads(sandbox: Sandbox) -> None:
    for suffix, content in SAMPLES.items():
        expected = read_document(f"说明{suffix}", content, ParsingLimits(), OPTIONS)
        assert await sandbox.read("t", f"说明{suffix}", content, OPTIONS) == expected
    assert len(workers(sandbox)) == 1  # one after the other, in one process
    with pytest.raises(InvalidDocument, match=r"《空\.md》是空文件"):
        await sandbox.read("t", "空.md", b" ", OPTIONS)


async def test_a_worker_reads_the_tables_that_this_process_reads(sandbox: Sandbox) -> None:
    csv, options = "说明\n问题,答案\n能退吗,可以, 七天\n".encode(), SheetOptions(faq_header=True)
    for content in (csv, build_workbook({"说明": [["请填写"]], "问答": [["问", "答"], ["能退吗", "可以"]]})):
        assert await sandbox.read_sheet("t", "问答", content, options) == read_sheet("问答", content, options)
    with pytest.raises(DocumentTooLarge, match="《问答》超过 1 列的上限"):
        await sandbox.read_sheet("t", "问答", csv, SheetOptions(columns=1, faq_header=True))


@LINUX
async def test_a_worker_has_given_up_what_it_does_not_need(sandbox: Sandbox) -> None:
    await sandbox.read("t", *PLAIN, OPTIONS)
    (pid,) = workers(sandbox)
    limits = of(pid, "limits")
    for line in ("Max file size             0 ", "Max core file size        0 ", "Max open files            32 "):
        assert line in limits
    assert "Max address space         unlimited" not in limits
    names = {entry.partition("=")[0] for entry in of(pid, "environ").rstrip("\0").split("\0")}
    assert names <= {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MALLOC_ARENA_MAX"}
    assert open_files(pid) == 4
    assert of(pid, "stat").rpartition(")")[2].split()[17] == "1"  # one thread


@pytest.mark.acceptance(only=True)
@LINUX
async def test_too_much_time_and_too_much_memory_are_named_and_leave_no_process(sandbox: Sandbox) -> None:
    styles = build_xlsx("", f"<cellXfs>{'<xf/>' * 10**6}</cellXfs>")
    for name, content in (("表单.pdf", build_nested_forms()), ("样式.xlsx", styles)):
        with pytest.raises(InvalidDocument, match=f"《{name}》"):
            await sandbox.read("t", name, content, OPTIONS)
    assert workers(sandbox) == []
    assert (await sandbox.read("t", *PLAIN, OPTIONS)).title == "退货"


async def test_where_there_is_no_cpu_limit_the_clock_ends_it(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowledge.sandbox.pool.WALL_FACTOR", 0.2)
    await sandbox.read("t", *PLAIN, OPTIONS)
    with pytest.raises(CostlyDocument, match=r"《表单\.pdf》解析用时超过"):
        await sandbox.read("t", "表单.pdf", build_nested_forms(), OPTIONS)


@LINUX
async def test_a_cancelled_call_kills_its_worker(sandbox: Sandbox) -> None:
    await sandbox.read("t", *PLAIN, OPTIONS)
    (pid,) = workers(sandbox)
    reading = asyncio.create_task(sandbox.read("t", "表单.pdf", build_nested_forms(), OPTIONS))
    await asyncio.sleep(0.1)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    deadline = monotonic() + 60
    while not gone(pid):
        assert monotonic() < deadline
        await asyncio.sleep(0.02)


@LINUX
async def test_close_ends_idle_and_busy_workers() -> None:
    sandbox = Sandbox(ParsingLimits(), SandboxOptions(workers=2, memory_mb=256, seconds=60))
    await sandbox.read("t", *PLAIN, OPTIONS)
    reading = asyncio.create_task(sandbox.read("t", "表单.pdf", build_nested_forms(), OPTIONS))
    await asyncio.sleep(0.1)
    before = workers(sandbox)
    await sandbox.close()
    assert before
    assert all(gone(pid) for pid in before)
    with pytest.raises(ParsingUnavailable):  # the file may be as good as any
        await reading


@LINUX
@pytest.mark.parametrize(("ended_by", "error"), [(signal.SIGKILL, ReaderDied), (signal.SIGTERM, ParsingUnavailable)])
async def test_a_worker_that_is_told_to_stop_says_nothing_of_its_file(
    sandbox: Sandbox, ended_by: signal.Signals, error: type[Exception]
) -> None:
    await sandbox.read("t", *PLAIN, OPTIONS)
    reading = asyncio.create_task(sandbox.read("t", "表单.pdf", build_nested_forms(), OPTIONS))
    await asyncio.sleep(0.1)
    for pid in workers(sandbox):
        os.kill(pid, ended_by)
    with pytest.raises(error):
        await reading


async def test_a_worker_that_does_not_start_is_an_outage_and_no_fault_of_the_file(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_BOOT", "raise SystemExit(3)")
    with pytest.raises(ParsingUnavailable):
        await sandbox.read("t", *PLAIN, OPTIONS)


async def test_an_idle_worker_that_was_killed_is_replaced(sandbox: Sandbox) -> None:
    await sandbox.read("t", *PLAIN, OPTIONS)
    (worker,) = sandbox._idle
    worker.kill()
    await worker.wait_closed()
    assert (await sandbox.read("t", *PLAIN, OPTIONS)).title == "退货"
