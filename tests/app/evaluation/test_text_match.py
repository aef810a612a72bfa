from __future__ import annotations

import pytest

from app.evaluation.text_match import contains_text, fold_text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("运费 8 元。", "8元"),
        ("运费 **8** 元", "8元"),
        ("共 1,299 元", "1299元"),
        ("共 1299 元", "1,299 元"),
        ("金额 8.00", "8"),
        ("3～7 天", "3-7天"),
        ("３—７天到账", "3~7天"),
        ("三天内", "三天"),
        ("请点「ＡＰＰ」", "app"),
        ("退回来[1]，再寄", "退回来，再寄"),
        ("查到了 [SQL]。", "查到了。"),
        ("1. 打开\n2. 关闭", "打开关闭"),
        ("18 元，或 8 元", "8元"),
    ],
)
def test_layout_and_ways_to_write_a_number_make_no_difference(text: str, wanted: str) -> None:
    assert contains_text(fold_text(text), wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("运费 18 元", "8元"),
        ("3～7 天", "7天"),
        ("3 至 7 天", "7天"),
        ("0.8 元", "8元"),
        ("80 元", "8"),
        ("8.5 元", "8"),
        ("2.80 元", "2.8"),
        ("十三天", "三天"),
        ("1,299 元", "299元"),
        ("运费", ""),
    ],
)
def test_a_number_counts_only_as_a_whole(text: str, wanted: str) -> None:
    assert not contains_text(fold_text(text), wanted)
