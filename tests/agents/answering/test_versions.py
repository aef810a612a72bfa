from __future__ import annotations

from dataclasses import replace

import pytest

from agents.answering.versions import find_undecided_versions
from knowledge.types import Candidate
from tests.agents.support import candidate


def passage(text: str, version: str, heading: str = "导出", title: str = "用户手册") -> Candidate:
    found = candidate(text, heading=(heading,), title=title)
    document = replace(found.chunk.document, id=f"{title}{version}", product_version=version)
    return replace(found, chunk=replace(found.chunk, document=document))


BEST = passage("一次最多 200 条。", "2.3")


def test_versions_that_nobody_can_put_in_order_are_asked_about() -> None:
    other, third = passage("一次最多 500 条。", "2023"), passage("一次最多 900 条。", "Honeycomb")
    assert find_undecided_versions([BEST, other, third, other]) == ("V2.3", "2023版", "Honeycomb")


@pytest.mark.parametrize(
    "other",
    [
        passage("一次最多 500 条。", "2.2"),
        passage("一次最多 200 条。", "2023"),
        passage("在「导入」里选择文件。", "2023", heading="导入"),
        passage("一次最多 500 条。", "2023", title="安装手册"),
        passage("一次最多 500 条。", ""),
    ],
    ids=["older", "says the same", "another section", "another manual", "of no version"],
)
def test_others_are_no_question(other: Candidate) -> None:
    assert find_undecided_versions([BEST, other]) == ()
    assert find_undecided_versions([BEST]) == ()
