"""The day that a document gives as its own."""

from __future__ import annotations

import pytest

from knowledge.parsing.registry import parse


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("---\ntitle: 退货\ndate: 2025-01-02\nlastmod: 2026-03-01T08:00:00\n---\n\n七天内可退。\n", "2026-03-01"),
        ("# 退货\n\n更新日期：2026 年 3 月 1 日\n\n七天内可退。\n", "2026-03-01"),
        ("# 退货\n\n七天内可退。\n\n发布时间：2025/12/31\n\n修订于 2026-03-01\n", "2026-03-01"),
        ("# 退货\n\n本规定自2026年3月1日起施行。\n\n七天内可退。\n", "2026-03-01"),
        ("# Returns\n\nLast updated: 2026-03-01\n\nWithin seven days.\n", "2026-03-01"),
        ("# 退货\n\n更新日期：2026-13-41\n\n七天内可退。\n", ""),
        ("# 退货\n\n2026-03-01 起降价。活动于 2026 年 3 月 1 日开始。\n", ""),
    ],
)
def test_front_matter_or_a_line_that_says_so(text: str, day: str) -> None:
    assert parse("退货.md", text.encode()).dated == day
