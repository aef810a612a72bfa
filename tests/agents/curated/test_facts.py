from __future__ import annotations

import pytest

from agents.curated.facts import Facts, has_same_polarity, has_same_subject, is_one_word_apart, read_facts
from agents.understanding.reading import read


def facts(text: str) -> Facts:
    return read_facts(read(text).normalized_text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("拆封了能退吗", "拆封了不能退吗"),
        ("怎么打开自动续费", "怎么关闭自动续费"),
        ("为什么收不到验证码", "怎么收到验证码"),
    ],
)
def test_opposites_are_apart(one: str, other: str) -> None:
    assert not has_same_polarity(facts(one), facts(other))
    assert not has_same_polarity(facts(other), facts(one))


@pytest.mark.parametrize(
    ("one", "other"), [("能不能退", "可以退吗"), ("有没有发票", "开发票吗"), ("连不上网", "没法联网")]
)
def test_the_same_in_other_words_is_not(one: str, other: str) -> None:
    assert has_same_polarity(facts(one), facts(other))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("V8 怎么充电", "YS-V8 怎么充电", True),
        ("YSV8 怎么充电", "YS-V8 怎么充电", True),
        ("YS-V8 Max 怎么充电", "YS-V8 怎么充电", False),
        ("EX5 怎么充电", "X5 怎么充电", False),
        ("怎么充电", "YS-V8 怎么充电", False),
        ("7天内能退吗", "七天内能退吗", True),
        ("15天内能退吗", "7天内能退吗", False),
        ("能退吗", "7天内能退吗", False),
    ],
)
def test_numbers_and_models_have_to_be_the_same(one: str, other: str, same: bool) -> None:
    assert has_same_subject(facts(one), facts(other)) is same
    assert has_same_subject(facts(other), facts(one)) is same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("怎么绑定手机号", "怎么解绑手机号"),
        ("双十一什么时候发货", "双十二什么时候发货"),
        ("二代耳机怎么配对", "三代耳机怎么配对"),
        ("iPhone 怎么投屏", "iPad 怎么投屏"),
        ("微信怎么付款", "支付宝怎么付款"),
        ("积分什么时候到账", "积分多久过期"),
        ("怎么开增值税专用发票", "怎么开普通发票"),
        ("请问定金能退吗", "押金可以退吗"),
    ],
)
def test_one_word_in_the_place_of_another_is_another_question(one: str, other: str) -> None:
    assert is_one_word_apart(facts(one), facts(other)) and is_one_word_apart(facts(other), facts(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("怎么绑定手机号", "手机号如何绑定？"),
        ("退款几天到账", "退款多久能到账"),
        ("东西买回来了不想要了咋退啊", "东西不想要了怎么退"),
        ("花呗合同解除", "如何解除花呗合同"),
        ("使用花呗会有短信通知吗", "用了花呗会有短信提示嘛，在哪看"),
        ("你们几点下班", "退货的运费谁出"),
    ],
)
def test_other_order_more_words_or_all_other_words_are_none(one: str, other: str) -> None:
    assert not is_one_word_apart(facts(one), facts(other)) and not is_one_word_apart(facts(other), facts(one))
