"""A question that the offline layer understands as a whole goes to the business agent, with or without a head."""

from __future__ import annotations

import pytest

from agents.router import Router, RouterParts
from agents.routing.types import Intent
from agents.types import Question
from agents.understanding.utterance import Utterance
from tests.agents.business.shop import CALLER, shop_queries

QUERIES = shop_queries()


async def intents(text: str, caller: str = "") -> tuple[Intent, ...]:
    router = Router(RouterParts(None, sure=QUERIES.find_sure_intents))
    return (await router.route(Question(Utterance(text), caller=caller), None)).intents


@pytest.mark.parametrize(
    "text",
    [
        *("我的订单到哪了", "帮我查一下我的退款", "我上个月花了多少钱", "我还有多少积分"),
        *("双十一买了啥", "上周下了几单", "国庆期间下的单到了没", "去年国庆买了什么"),
        *("上个月花了多少钱", "最近那张发票开好了吗", "耳机到哪了", "买过几次耳机", "超过一千块的订单有哪些"),
    ],
)
async def test_a_question_about_ones_own_data_goes_to_the_business_agent(text: str) -> None:
    assert await intents(text) == (Intent.BUSINESS_QUERY,)


async def test_rows_and_rules_go_to_both() -> None:
    assert await intents("我的订单能退吗，运费谁出") == (Intent.BUSINESS_QUERY, Intent.KNOWLEDGE_QA)


@pytest.mark.parametrize(
    "text",
    [
        *("退货运费谁出", "快递什么时候可以发货", "我想退货怎么操作", "积分怎么用"),
        *("周末送货吗", "国庆期间发货吗", "春节期间能退货吗", "双十一能开发票吗", "国庆期间几天能到"),
    ],
)
async def test_a_question_about_rules_does_not(text: str) -> None:
    assert Intent.BUSINESS_QUERY not in await intents(text)


@pytest.mark.parametrize("text", ["退款什么时候到账", "快递什么时候可以发货"])
async def test_what_may_mean_rows_or_rules_goes_to_both_for_a_member_who_is_signed_in(text: str) -> None:
    assert await intents(text) == (Intent.KNOWLEDGE_QA,)
    assert await intents(text, CALLER) == (Intent.BUSINESS_QUERY, Intent.KNOWLEDGE_QA)
