from __future__ import annotations

from dataclasses import replace

import pytest

from agents.care import CRISIS_PRIORITY, EMOTION_PRIORITY, HIGH_STAKES_PRIORITY
from agents.knowledge import KnowledgePolicy
from agents.llm.extractive import ExtractiveGenerator
from agents.llm.registry import GeneratorOptions, get_generator
from agents.profile import TenantProfile
from agents.registry import AgentParts, Roster
from agents.routing.types import Band, Intent, Route, Tier, Trace
from agents.types import Answer, HandoffReason, HandoffRequest, Outcome, Token
from knowledge.errors import InvalidConfiguration
from tests.agents.support import ANALYZER, FixedSearcher, ask, candidate, finish
from tests.agents.tickets import MemoryTickets


def roster(profile: TenantProfile | None = None) -> Roster:
    generator = ExtractiveGenerator(ANALYZER, 3)
    return Roster.of(AgentParts(FixedSearcher(), generator, KnowledgePolicy(0.75, profile or TenantProfile())))


def route(*intents: Intent, band: Band = Band.HIGH) -> Route:
    return Route(intents, Trace(Tier.HEAD, band, "+".join(intents)))


async def said(text: str, profile: TenantProfile, *intents: Intent) -> Answer:
    return await finish([event async for event in roster(profile).run(ask(text), route(*intents))])


@pytest.mark.parametrize(
    ("intents", "agents"),
    [
        ((Intent.CHITCHAT,), ["chitchat"]),
        ((Intent.HUMAN_REQUEST,), ["escalation"]),
        ((Intent.KNOWLEDGE_QA,), ["knowledge"]),
        ((Intent.BUSINESS_QUERY, Intent.KNOWLEDGE_QA), ["knowledge"]),
        ((Intent.HIGH_STAKES, Intent.KNOWLEDGE_QA), ["care", "knowledge"]),
        ((Intent.NONSENSE,), ["deflection"]),
        ((Intent.OUT_OF_SCOPE,), ["deflection"]),
    ],
)
def test_every_intent_goes_to_its_agent_once(intents: tuple[Intent, ...], agents: list[str]) -> None:
    assert [agent.name for agent in roster().chosen(route(*intents))] == agents


@pytest.mark.parametrize(
    ("intent", "agent"),
    [(Intent.IRRELEVANT, "knowledge"), (Intent.OUT_OF_SCOPE, "knowledge"), (Intent.CHITCHAT, "chitchat")],
)
def test_what_is_off_topic_by_weak_evidence_is_looked_up(intent: Intent, agent: str) -> None:
    assert [agent.name for agent in roster().chosen(route(intent, band=Band.LOW))] == [agent]


async def test_small_talk_is_answered_without_sources() -> None:
    answer = await said("你好", TenantProfile(), Intent.CHITCHAT)
    assert (answer.outcome, answer.sources, answer.confidence) == (Outcome.ANSWERED, (), 0.0)


async def test_a_greeting_is_the_tenants_own() -> None:
    profile = TenantProfile(name="小笙", suggested_questions=("怎么退货", "保修多久"))
    greeting = await said("你好", profile, Intent.CHITCHAT)
    assert "您好" in greeting.reply and "小笙" in greeting.reply and greeting.suggestions == ("怎么退货", "保修多久")
    assert "我是小笙" in (await said("你是谁", profile, Intent.CHITCHAT)).reply
    welcome = TenantProfile(name="小笙", welcome_message="欢迎光临云笙商城！")
    assert (await said("你好", welcome, Intent.CHITCHAT)).reply == "欢迎光临云笙商城！"
    assert (await said("谢谢", welcome, Intent.CHITCHAT)).suggestions == ()


async def test_the_fallback_script_is_the_tenants_own() -> None:
    profile = TenantProfile(fallback_script="没查到。")
    assert (await said("退款多久到账", profile, Intent.KNOWLEDGE_QA)).reply == "没查到。"


async def test_a_request_for_a_person_is_a_typed_one() -> None:
    answer = await said("转人工", TenantProfile(), Intent.HUMAN_REQUEST)
    assert (answer.outcome, answer.escalate_to_human) == (Outcome.HANDOFF, True)
    assert answer.handoff == HandoffRequest(HandoffReason.ASKED)
    angry = await said("气死我了！！！马上给我转人工", TenantProfile(), Intent.HUMAN_REQUEST)
    assert angry.handoff is not None and angry.handoff.reason is HandoffReason.ASKED
    assert angry.handoff.priority >= EMOTION_PRIORITY and angry.handoff.emotion > 0.7


@pytest.mark.parametrize("intent", [Intent.CHITCHAT, Intent.KNOWLEDGE_QA, Intent.IRRELEVANT, Intent.TICKET])
async def test_whoever_is_beside_themselves_is_heard_first_and_gets_a_person_whatever_they_ask(intent: Intent) -> None:
    answer = await said("气死我了！！！你们这群骗子，退款多久到账", TenantProfile(), intent)
    assert (answer.agent, answer.outcome) == ("care", Outcome.HIGH_STAKES)
    assert answer.handoff is not None and answer.handoff.reason is HandoffReason.EMOTION
    assert answer.handoff.priority >= EMOTION_PRIORITY


async def test_a_calm_complaint_gets_a_person_without_haste() -> None:
    answer = await said("我要投诉", TenantProfile(), Intent.HIGH_STAKES)
    assert answer.handoff is not None
    assert (answer.handoff.reason, answer.handoff.priority) == (HandoffReason.HIGH_STAKES, HIGH_STAKES_PRIORITY)


@pytest.mark.parametrize("intents", [(Intent.CHITCHAT,), (Intent.HUMAN_REQUEST,), (Intent.KNOWLEDGE_QA, Intent.TICKET)])
async def test_who_speaks_of_ending_their_life_gets_care_alone_and_a_person_before_all(
    intents: tuple[Intent, ...],
) -> None:
    answer = await said("钱都没了，我不想活了", TenantProfile(), *intents)
    assert answer.handoff == HandoffRequest(HandoffReason.EMOTION, CRISIS_PRIORITY, 1.0)
    assert "12356" in answer.reply and "优惠" not in answer.reply and "未找到" not in answer.reply


async def test_where_a_person_takes_over_no_ticket_is_proposed() -> None:
    parts = AgentParts(FixedSearcher(), ExtractiveGenerator(ANALYZER, 3), KnowledgePolicy(0.75, TenantProfile()))
    team = Roster.of(replace(parts, tickets=MemoryTickets()))
    assert [agent.name for agent in team.chosen(route(Intent.TICKET, Intent.KNOWLEDGE_QA))] == ["ticket", "knowledge"]
    assert [agent.name for agent in team.chosen(route(Intent.HIGH_STAKES, Intent.TICKET))] == ["care"]


async def test_a_complaint_is_heard_first_and_what_is_known_follows_with_its_source() -> None:
    searcher = FixedSearcher(candidate("退款 5 天到账。"))
    generator = ExtractiveGenerator(ANALYZER, 3)
    team = Roster.of(AgentParts(searcher, generator, KnowledgePolicy(0.75, TenantProfile())))
    complaint = route(Intent.HIGH_STAKES, Intent.KNOWLEDGE_QA)
    events = [event async for event in team.run(ask("再不退款我就投诉，退款多久到账"), complaint)]
    answer = await finish(events)
    assert (answer.outcome, answer.escalate_to_human) == (Outcome.HIGH_STAKES, True)
    assert answer.reply.startswith("非常抱歉") and "退款 5 天到账。[1]" in answer.reply
    assert "".join(event.text for event in events if isinstance(event, Token)) == answer.reply
    assert len(answer.sources) == 1


async def test_a_complaint_about_what_is_not_known_is_not_followed_by_a_refusal() -> None:
    answer = await said("我要投诉你们", TenantProfile(), Intent.HIGH_STAKES, Intent.KNOWLEDGE_QA)
    assert "未找到" not in answer.reply and answer.sources == ()


def test_an_unknown_generator_is_refused_by_name() -> None:
    with pytest.raises(InvalidConfiguration, match="nothing"):
        get_generator("nothing", GeneratorOptions(ANALYZER, 3))
