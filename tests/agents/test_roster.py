from __future__ import annotations

import pytest

from agents.knowledge import KnowledgePolicy
from agents.llm.extractive import ExtractiveGenerator
from agents.llm.registry import GeneratorOptions, get_generator
from agents.profile import TenantProfile
from agents.registry import AgentParts, Roster
from agents.types import Answer, Outcome
from knowledge.errors import InvalidConfiguration
from tests.agents.support import ANALYZER, FixedSearcher, ask, finish


def roster(profile: TenantProfile | None = None) -> Roster:
    generator = ExtractiveGenerator(ANALYZER.tokens, 3)
    return Roster.of(AgentParts(FixedSearcher(), generator, KnowledgePolicy(0.75, profile or TenantProfile())))


async def said(text: str, profile: TenantProfile) -> Answer:
    agent = roster(profile).choose(ask(text))
    return await finish([event async for event in agent.run(ask(text))])


@pytest.mark.parametrize(
    ("text", "agent"),
    [
        ("你好", "chitchat"),
        ("您好！", "chitchat"),
        ("谢谢你的帮助", "chitchat"),
        ("好的", "chitchat"),
        ("再见", "chitchat"),
        ("你是机器人吗？", "chitchat"),
        ("？？？", "chitchat"),
        ("😀", "chitchat"),
        ("转人工", "escalation"),
        ("我要人工客服！", "escalation"),
        ("不要机器人，我想和真人说话", "escalation"),
        ("人工客服电话是多少", "knowledge"),
        ("有人工客服吗", "knowledge"),
        ("你好，怎么退货", "knowledge"),
        ("好的，那退款多久到账", "knowledge"),
        ("人工智能音箱怎么用", "knowledge"),
        ("1", "knowledge"),
    ],
)
def test_every_question_goes_to_its_agent(text: str, agent: str) -> None:
    assert roster().choose(ask(text)).name == agent


@pytest.mark.parametrize(("text", "outcome"), [("你好", Outcome.ANSWERED), ("。。。", Outcome.NONSENSE)])
async def test_small_talk_is_answered_without_sources(text: str, outcome: Outcome) -> None:
    answer = await finish([event async for event in roster().choose(ask(text)).run(ask(text))])
    assert (answer.outcome, answer.sources, answer.confidence) == (outcome, (), 0.0)


async def test_a_greeting_is_the_tenants_own() -> None:
    profile = TenantProfile(name="小笙", suggested_questions=("怎么退货", "保修多久"))
    greeting = await said("你好", profile)
    assert (greeting.reply, greeting.suggestions) == ("您好，我是小笙，请问有什么可以帮您？", ("怎么退货", "保修多久"))
    assert "我是小笙" in (await said("你是谁", profile)).reply
    welcome = TenantProfile(name="小笙", welcome_message="欢迎光临云笙商城！")
    assert (await said("你好", welcome)).reply == "欢迎光临云笙商城！"
    assert (await said("谢谢", welcome)).suggestions == ()


async def test_the_fallback_script_is_the_tenants_own() -> None:
    assert (await said("退款多久到账", TenantProfile(fallback_script="没查到。"))).reply == "没查到。"


async def test_a_request_for_a_person_is_a_handoff_that_promises_nothing() -> None:
    answer = await finish([event async for event in roster().choose(ask("转人工")).run(ask("转人工"))])
    assert (answer.outcome, answer.escalate_to_human) == (Outcome.HANDOFF, True)
    assert "还没有接通" in answer.reply


def test_an_unknown_generator_is_refused_by_name() -> None:
    with pytest.raises(InvalidConfiguration, match="nothing"):
        get_generator("nothing", GeneratorOptions(ANALYZER.tokens, 3))
