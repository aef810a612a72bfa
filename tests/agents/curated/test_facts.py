from __future__ import annotations

import pytest

from agents.curated.facts import Facts, facts_of, same_polarity, same_subject
from agents.understanding.reading import read


def facts(text: str) -> Facts:
    return facts_of(read(text).normal)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("拆封了能退吗", "拆封了不能退吗"),
        ("怎么打开自动续费", "怎么关闭自动续费"),
        ("为什么收不到验证码", "怎么收到验证码"),
    ],
)
def test_opposites_are_apart(one: str, other: str) -> None:
    assert not same_polarity(facts(one), facts(other))
    assert not same_polarity(facts(other), facts(one))


@pytest.mark.parametrize(
    ("one", "other"), [("能不能退", "可以退吗"), ("有没有发票", "开发票吗"), ("连不上网", "没法联网")]
)
def test_the_same_in_other_words_is_not(one: str, other: str) -> None:
    assert same_polarity(facts(one), facts(other))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("V8 怎么充电", "YS-V8 怎么充电", True),
        ("YS-V8 Max 怎么充电", "YS-V8 怎么充电", False),
        ("怎么充电", "YS-V8 怎么充电", False),
        ("7天内能退吗", "七天内能退吗", True),
        ("15天内能退吗", "7天内能退吗", False),
        ("能退吗", "7天内能退吗", False),
    ],
)
def test_numbers_and_models_have_to_be_the_same(one: str, other: str, same: bool) -> None:
    assert same_subject(facts(one), facts(other)) is same
    assert same_subject(facts(other), facts(one)) is same
