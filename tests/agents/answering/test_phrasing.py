from __future__ import annotations

import pytest

from agents.answering.question_phrases import write_question
from agents.suggestions import suggest_neighbours
from tests.agents.support import candidate


@pytest.mark.parametrize(
    ("title", "heading", "text", "expected"),
    [
        ("退货运费说明", "", "略", "退货运费怎么算？"),
        ("退货申请流程", "", "略", "退货申请流程是怎样的？"),
        ("固件升级指南", "二、没收到推送怎么办", "略", "没收到推送怎么办？"),
        ("会所游泳馆", "开放时间", "略", "会所游泳馆的开放时间是什么时候？"),
        ("价格保护（价保）", "期限", "略", "价格保护的期限是多久？"),
        ("YS-R7200 组网指南", "旧路由替换", "略", "YS-R7200的旧路由怎么替换？"),
        ("退款规则", "各支付方式到账时间", "略", "各支付方式到账时间是多久？"),
        ("户内维修价目表", "水路", "项目：龙头；价格：20 元\n项目：软管；价格：15 元", "户内维修水路怎么收费？"),
        ("冬季供暖", "概述", "略", None),
        ("冬季供暖", "其他", "略", None),
        ("配件与耗材选购表", "配件", "略", None),
    ],
)
def test_a_heading_becomes_a_question_that_a_customer_asks(
    title: str, heading: str, text: str, expected: str | None
) -> None:
    assert write_question(title, heading, text) == expected


def test_questions_of_the_faq_come_first_and_as_they_are() -> None:
    used = candidate("略", number=0, title="退货规则")
    beside = candidate("略", number=1, title="退货申请流程")
    faq = candidate("略", number=2, question="退货要带什么")
    assert suggest_neighbours([used, beside, faq], [used]) == ("退货要带什么", "退货申请流程是怎样的？")
