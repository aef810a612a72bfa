from __future__ import annotations

import pytest

from agents.understanding.complexity import is_complex


@pytest.mark.parametrize(
    "question",
    ["怎么申请退货", "保修期多久？", "YS-R7200 支持几台设备", "运费谁出", "how long is the warranty", "发票怎么开"],
)
def test_a_plain_question_is_simple(question: str) -> None:
    assert not is_complex(question)


@pytest.mark.parametrize(
    "question",
    [
        "YS-R3000 和 YS-R7200 有什么区别",
        "怎么退货？运费谁出？",
        "如果拆封了还能退吗",
        "为什么我的退款还没到",
        "买 12 个月分期还是 24 个月分期划算",
        "我上周买的耳机左耳没有声音，重置过三次，也换过手机，还是一样，现在包装盒已经扔了，发票也找不到，请问我应该怎样处理才能换新的",
    ],
)
def test_comparisons_conditions_cases_and_several_questions_are_complex(question: str) -> None:
    assert is_complex(question)
