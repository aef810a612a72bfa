from __future__ import annotations

import pytest

from agents.understanding.answer_type import AnswerType, detect_answer_types, has_answer_type


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("新滤芯多少钱", {AnswerType.AMOUNT}),
        ("退款多久到账", {AnswerType.DURATION}),
        ("游泳馆几点开门", {AnswerType.DATE}),
        ("維修點在哪裡", {AnswerType.PLACE}),
        ("客服电话是什么", {AnswerType.CONTACT}),
        ("怎么申请退货", {AnswerType.STEPS}),
        ("需要准备什么", {AnswerType.LIST}),
        ("为什么充不满", {AnswerType.REASON}),
        ("能不能洗澡", {AnswerType.YES_NO}),
        ("最多绑几个人", {AnswerType.QUANTITY}),
        ("How much is the filter", {AnswerType.AMOUNT}),
        ("what's the deposit for a flat", {AnswerType.AMOUNT}),
        ("how soon does somebody come", {AnswerType.DURATION}),
        ("what are your opening hours", {AnswerType.DATE}),
        ("what should I do when the lift is stuck", {AnswerType.STEPS}),
        ("what do I need to bring", {AnswerType.LIST}),
        ("how old must a child be", {AnswerType.QUANTITY}),
        ("I rent a flat, may I keep a dog", {AnswerType.YES_NO, AnswerType.AMOUNT}),
        ("10次卡价钱和有效期", {AnswerType.AMOUNT, AnswerType.DURATION}),
        ("运费怎么算", {AnswerType.AMOUNT}),
        ("E05", set()),
    ],
)
def test_tells_what_a_question_asks_for(question: str, expected: set[AnswerType]) -> None:
    assert set(detect_answer_types(question)) == expected


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (AnswerType.AMOUNT, "复合滤芯 199 元", True),
        (AnswerType.AMOUNT, "剩余寿命低于 5% 时红闪", False),
        (AnswerType.AMOUNT, "使用后退卡扣 20% 手续费", True),
        (AnswerType.DURATION, "退款 1～5 个工作日到账", True),
        (AnswerType.DURATION, "退款原路退回", False),
        (AnswerType.DATE, "每天 6:30 开门", True),
        (AnswerType.CONTACT, "拨打 400-000-7268", True),
        (AnswerType.YES_NO, "商务楼不办理分期", True),
    ],
)
def test_tells_whether_a_text_has_it(kind: AnswerType, text: str, expected: bool) -> None:
    assert has_answer_type(kind, text) is expected
