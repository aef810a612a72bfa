from __future__ import annotations

import pytest

from agents.understanding.followups import rewrite_by_rules
from agents.understanding.state import Turn
from agents.understanding.utterance import Utterance
from app.conversations.questions import is_same_question, normalize_question
from app.privacy import find_personal_data, mask_personal_data

BEFORE = [
    Turn(Utterance("YS-V8 保修多久"), "两年[1]"),
    Turn(Utterance("E03 是什么意思"), "请问是哪一项？\n1. 耳机\n2. 扫地机", ("耳机", "扫地机")),
]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("怎么退货", " 怎么退货？ "),
        ("怎么退货！！", "怎么退货。"),
        ("ＹＳ－Ｖ８ 怎么清洁", "ys-v8   怎么清洁?"),
        ("Wi-Fi 连不上", "wi-fi 连不上"),
    ],
)
def test_what_means_the_same_is_one_question(one: str, other: str) -> None:
    assert is_same_question(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10² 是多少", "102 是多少"),
        ("①② 怎么选", "12 怎么选"),
        ("能退货", "不能退货"),
        ("C# 接口", "C 接口"),
        ("1 0", "10"),
        ("？？？", "！！！"),
    ],
)
def test_what_means_something_else_is_another_question(one: str, other: str) -> None:
    assert not is_same_question(one, other)


def test_a_message_of_signs_alone_is_not_empty() -> None:
    assert normalize_question("？？？")


@pytest.mark.parametrize(
    "text", ["退款多久到账", "YS-V8 怎么清洁", "退款在验货后几个工作日内原路退回", "我的路由器红灯亮了怎么办"]
)
def test_a_question_that_names_its_topic_follows_nothing_up(text: str) -> None:
    assert not any(rewrite_by_rules(text, [turn]) for turn in BEFORE)


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("我的手机是 138 1234 5678", "phone"),
        ("座机 010-62345678", "phone"),
        ("身份证 11010519491231002X", "id_card"),
        ("邮箱 a.b@example.com", "email"),
        ("卡号 6222 0212 3456 7890 123", "bank_card"),
        ("订单号 2024123456 到哪了", "order"),
        ("订单 A2024-001 呢", "order"),
        ("SF1234567890 到哪了", "order"),
        ("我叫张三，怎么退货", "name"),
        ("送到上海市南京路 100 号", "address"),
    ],
)
def test_personal_data_is_tagged_and_masked(text: str, tag: str) -> None:
    assert tag in find_personal_data(text)
    assert find_personal_data(mask_personal_data(text)) == frozenset()
    assert not any(
        piece in mask_personal_data(text) for piece in ("1234", "6234", "1949", "a.b", "A2024", "张三", "100")
    )


@pytest.mark.parametrize("text", ["怎么退货", "YS-R7200 怎么设置", "订单怎么取消", "满 2000 元包邮吗", "7 天退货"])
def test_ordinary_questions_hold_none(text: str) -> None:
    assert find_personal_data(text) == frozenset()
    assert mask_personal_data(text) == text
