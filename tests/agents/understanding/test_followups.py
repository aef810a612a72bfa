from __future__ import annotations

import pytest

from agents.understanding.facts import has_all_facts
from agents.understanding.followups import rewrite_by_rules
from agents.understanding.state import Turn
from agents.understanding.utterance import Utterance


def rewrite(text: str, previous: str, *, reply: str = "", suggestions: tuple[str, ...] = ()) -> str | None:
    return rewrite_by_rules(text, [Turn(Utterance(previous), reply, suggestions)])


@pytest.mark.parametrize(
    ("previous", "text", "expected"),
    [
        ("退货怎么申请？", "那运费呢？", "退货 运费"),
        ("怎么开发票", "保修呢", "开发票 保修"),
        ("YS-H30 Pro 多重？", "它多少钱", "YS-H30 Pro多少钱"),
        ("YS-V8 保修多久", "那YS-W5呢", "YS-W5 保修多久"),
        ("YS-V8 怎么清洁", "那不能用水洗吗", "YS-V8 不能用水洗吗"),
        ("云笙手表防水吗", "这个能游泳戴吗", "云笙手表防水能游泳戴吗"),
        ("退货怎么申请", "那超过7天呢", "退货 超过7天"),
    ],
)
def test_a_follow_up_gets_its_topic(previous: str, text: str, expected: str) -> None:
    assert rewrite(text, previous) == expected


@pytest.mark.parametrize("text", ["退款多久到账", "YS-W5 怎么充电", "怎么联系客服", "呢", "？", ""])
def test_a_question_that_stands_alone_is_left_alone(text: str) -> None:
    assert rewrite(text, "退货怎么申请") is None


def test_without_history_there_is_nothing_to_resolve() -> None:
    assert rewrite_by_rules("那运费呢", []) is None


def test_an_ordinal_means_what_was_offered_there() -> None:
    assert rewrite("第二个呢", "保修", suggestions=("保修期限", "不保修的情形")) == "第二个 不保修的情形"
    assert rewrite("第2个呢？", "有哪些", reply="有：\n1. 上门\n2. 寄修[1]") == "第2个 寄修"
    assert rewrite("第五个呢", "保修", suggestions=("保修期限",)) is None


@pytest.mark.parametrize(
    ("text", "expected"), [("第二个", "E03 第二个 扫地机手册"), ("扫地机的", "E03 扫地机的"), ("怎么退货", None)]
)
def test_what_completes_a_question_that_was_asked_back_is_put_together(text: str, expected: str | None) -> None:
    reply = "请问您想了解的是下面哪一项？\n1. 耳机手册\n2. 扫地机手册"
    assert rewrite(text, "E03 是什么意思", reply=reply, suggestions=("耳机手册", "扫地机手册")) == expected


@pytest.mark.parametrize(
    ("original", "rewritten"),
    [
        ("7 天内可以吗", "退货可以吗"),
        ("那 YS-W5 呢", "YS-W6 保修多久"),
        ("不能洗吗", "YS-V8 能洗吗"),
        ("订单 A2024-001 呢", "订单 A2024-002 到哪了"),
    ],
)
def test_a_rewrite_that_loses_a_fact_is_recognised(original: str, rewritten: str) -> None:
    assert not has_all_facts(original, rewritten)
