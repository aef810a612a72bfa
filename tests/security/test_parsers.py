"""Points 7 and 11: hostile files, and files that hide text, over HTTP, against a real process with small bounds."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic, sleep

import httpx
import pytest

from scripts.attacks import invisible_text
from scripts.attacks.hostile_files import build_nested_forms
from scripts.attacks.parsers import run_attack
from scripts.harness.processes import list_descendants
from scripts.harness.servers import DOCUMENTS, Target, run_product
from tests.acceptance import WHOLE

MEMORY_MB = 192
ALL = (
    "嵌套表单.pdf", "双重压缩.pdf", "十六进制压缩.pdf", "文本编码压缩.pdf", "游程压缩.pdf", "字典压缩.pdf",
    "对象流.pdf", "截断.pdf", "空段落.docx", "嵌套表格.docx", "海量样式.docx", "实体.docx", "截断.docx",
    "海量样式.xlsx", "共享字符串.xlsx", "属性.html", "嵌套.html", "样式规则.html", "表格.md", "引用.md", "链接.md",
    "空白.txt", "乱码.txt", "声明错误.html", "巨大字段.csv", "长问题.csv",
)  # fmt: skip
# One of each format: what is slow to draw, to nest and to style, and what is large. Ten questions of 100,000
# characters keep the server at work for eight seconds.
FEW = ("嵌套表单.pdf", "嵌套表格.docx", "嵌套.html", "巨大字段.csv")
NAMES = ALL if WHOLE else FEW


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    data_dir = tmp_path_factory.mktemp("data")
    with run_product(data_dir, PARSE_MAX_SECONDS="1", PARSE_MAX_MEMORY_MB=str(MEMORY_MB)) as target:
        yield target


@pytest.mark.acceptance(only=True)
async def test_what_a_document_hides_is_not_told(target: Target) -> None:
    report = await invisible_text.run_attack(target)
    assert report.broken == []
    assert report.cases > 90


@pytest.mark.acceptance
async def test_hostile_files_are_refused_by_name_and_stop_nobody(target: Target) -> None:
    report = await run_attack(target, scale=16, names=NAMES, most_mb=4 * (MEMORY_MB + 80) + 200)
    assert report.broken == []
    assert report.cases == len(NAMES) + 4


def test_no_worker_outlives_a_killed_server(target: Target) -> None:
    headers = {"Authorization": f"Bearer {target.admin}"}
    many = [("files", (f"{number}.pdf", build_nested_forms())) for number in range(9)]
    with ThreadPoolExecutor(1) as behind:
        sent = behind.submit(
            httpx.post, target.address + DOCUMENTS, headers=headers, files=many, timeout=60, trust_env=False
        )
        deadline = monotonic() + 60
        while not (workers := list_descendants(target.pid)):
            assert monotonic() < deadline
            sleep(0.05)
        os.kill(target.pid, signal.SIGKILL)
        assert isinstance(sent.exception(), httpx.TransportError)
    _assert_gone(workers)


def _assert_gone(workers: list[int]) -> None:
    deadline = monotonic() + 60
    while any(Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes() for pid in workers):
        assert monotonic() < deadline
        sleep(0.1)
