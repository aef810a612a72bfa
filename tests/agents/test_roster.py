from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from agents.care import CRISIS_PRIORITY, EMOTION_PRIORITY, HIGH_STAKES_PRIORITY
from agents.escalation import MENTIONED
from agents.knowledge import KnowledgePolicy
from agents.llm.extractive import ExtractiveGenerator
from agents.llm.registry import GeneratorOptions, get_generator
from agents.profile import TenantProfile
from agents.registry import AgentParts, Roster
from agents.routing.types import Band, Intent, Route, Tier, Trace
from agents.types import (
    NOTHING_FOUND,
    Answer,
    AnswerEvent,
    Findings,
    HandoffReason,
    HandoffRequest,
    Outcome,
    Question,
    Token,
)
from knowledge.errors import InvalidConfiguration
from knowledge.types import QuestionVectors
from tests.agents.business.shop import business_parts
from tests.agents.support import ANALYZER, FixedSearcher, ask, candidate, collect_events, finish, retrieval
from tests.agents.tickets import MemoryTickets


def roster(profile: TenantProfile | None = None) -> Roster:
    generator = ExtractiveGenerator(ANALYZER, 3)
    return Roster.from_parts(AgentParts(FixedSearcher(), generator, KnowledgePolicy(0.75, profile or TenantProfile())))


def route(*intents: Intent) -> Route:
    """Decided by words."""
    return Route(intents, Trace(Tier.RULES, Band.HIGH, "+".join(intents)))


def like(scores: Mapping[Intent, float], *intents: Intent) -> Route:
    """Decided by what the message is like."""
    every: dict[str, float] = {intent: scores.get(intent, -1.0) for intent in Intent}
    return Route(intents, Trace(Tier.HEAD, Band.MEDIUM, "+".join(intents), scores=every))


def chosen(team: Roster, where: Route, text: str = "说说看") -> list[str]:
    """The agents that serve a message, the one to be heard first at the front."""
    decision = team.decide(team.build_evidence(ask(text), NOTHING_FOUND, where))
    return [agent.name for agent in team.list_agents(decision.intents)]


async def turn(team: Roster, question: Question, where: Route, findings: Findings = NOTHING_FOUND) -> list[AnswerEvent]:
    decision = team.decide(team.build_evidence(question, findings, where))
    return await collect_events(team, question, findings, decision.intents)


async def said(text: str, profile: TenantProfile, *intents: Intent) -> Answer:
    return await finish(await turn(roster(profile), ask(text), route(*intents)))


@pytest.mark.parametrize(
    ("intents", "agents"),
    [
        ((Intent.CHITCHAT,), ["chitchat"]),
        ((Intent.HUMAN_REQUEST,), ["escalation"]),
        ((Intent.KNOWLEDGE_QA,), ["knowledge"]),
        ((Intent.BUSINESS_QUERY, Intent.KNOWLEDGE_QA), ["knowledge"]),
        ((Intent.HIGH_STAKES,), ["care"]),
        ((Intent.TICKET,), ["knowledge"]),
        ((Intent.NONSENSE,), ["deflection"]),
        ((Intent.OUT_OF_SCOPE,), ["deflection"]),
    ],
)
def test_every_intent_goes_to_its_agent_once(intents: tuple[Intent, ...], agents: list[str]) -> None:
    assert chosen(roster(), route(*intents)) == agents


async def test_small_talk_is_answered_without_sources() -> None:
    answer = await said("你好", TenantProfile(), Intent.CHITCHAT)
    assert (answer.outcome, answer.sources, answer.confidence) == (Outcome.ANSWERED, (), 0.0)


async def test_what_was_just_asked_is_no_suggestion() -> None:
    profile = TenantProfile(suggested_questions=("你好？", "保修多久"))
    assert (await said("你好", profile, Intent.CHITCHAT)).suggestions == ("保修多久",)


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


def test_where_a_person_takes_over_no_ticket_is_proposed() -> None:
    parts = AgentParts(FixedSearcher(), ExtractiveGenerator(ANALYZER, 3), KnowledgePolicy(0.75, TenantProfile()))
    team = Roster.from_parts(replace(parts, tickets=MemoryTickets()))
    report = like({Intent.TICKET: 0.8, Intent.HIGH_STAKES: 0.2}, Intent.TICKET)
    assert chosen(team, report, "空调不制冷") == ["ticket"]
    assert chosen(team, report, "空调冒烟烫伤了人") == ["care"]


async def test_a_complaint_is_heard_first_and_what_is_known_follows_with_its_source() -> None:
    searcher = FixedSearcher(candidate("退款 5 天到账。"))
    generator = ExtractiveGenerator(ANALYZER, 3)
    team = Roster.from_parts(AgentParts(searcher, generator, KnowledgePolicy(0.75, TenantProfile())))
    complaint = (Intent.HIGH_STAKES, Intent.KNOWLEDGE_QA)
    events = await collect_events(team, ask("再不退款我就投诉，退款多久到账"), NOTHING_FOUND, complaint)
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


@pytest.fixture
def everybody() -> Roster:
    policy = KnowledgePolicy(0.75, TenantProfile())
    parts = AgentParts(
        FixedSearcher(), ExtractiveGenerator(ANALYZER, 3), policy, business_parts(), tickets=MemoryTickets()
    )
    return Roster.from_parts(parts)


def in_turn(team: Roster, text: str, where: Route, probability: float = 0.0, caller: str = "") -> list[str]:
    """Who serves a message for which the knowledge base has found something as probable as that, 0 for nothing."""
    found = retrieval(text, *([candidate("五天到账。", probability)] if probability else []))
    findings = Findings(QuestionVectors(np.zeros(3, np.float32)), retrieval=found)
    decision = team.decide(team.build_evidence(replace(ask(text), caller=caller), findings, where))
    return [agent.name for agent in team.list_agents(decision.intents)]


@pytest.mark.parametrize(
    ("intent", "agent"),
    [
        (Intent.CHITCHAT, "chitchat"),
        (Intent.IRRELEVANT, "deflection"),
        (Intent.OUT_OF_SCOPE, "deflection"),
        (Intent.NONSENSE, "deflection"),
    ],
)
def test_what_is_only_like_small_talk_is_looked_up_where_it_asks_and_something_is_found(
    everybody: Roster, intent: Intent, agent: str
) -> None:
    assert in_turn(everybody, "今天天气真好", like({intent: -0.3}, intent)) == [agent]
    assert in_turn(everybody, "两年呢", like({intent: -0.3}, intent), 0.95) == ["knowledge"]
    assert in_turn(everybody, "两年", like({intent: -0.9, Intent.KNOWLEDGE_QA: -0.4}, intent)) == ["knowledge"]


def test_what_is_surely_not_ours_is_told_so_where_nothing_passes_the_gate(everybody: Roster) -> None:
    """To ask back about what comes near would promise an answer; small talk may be a follow-up that found nothing."""
    for intent, agent in ((Intent.OUT_OF_SCOPE, "deflection"), (Intent.CHITCHAT, "knowledge")):
        unsure = like({intent: 0.3, Intent.KNOWLEDGE_QA: 0.0}, intent)
        sure = replace(unsure, trace=replace(unsure.trace, band=Band.HIGH))
        assert in_turn(everybody, "明天股票能涨吗", sure, 0.5) == [agent]
        assert in_turn(everybody, "明天股票能涨吗", unsure, 0.5) == ["knowledge"]
        assert in_turn(everybody, "明天股票能涨吗", sure, 0.9) == ["knowledge"]


def test_what_a_model_names_small_talk_is_so_whatever_is_found(everybody: Roster) -> None:
    named = like({}, Intent.IRRELEVANT)
    named = replace(named, trace=replace(named.trace, tier=Tier.LLM))
    assert in_turn(everybody, "你会唱歌吗", named, 0.95) == ["deflection"]


def test_what_is_like_a_complaint_is_answered_where_the_documents_know_it(everybody: Roster) -> None:
    where = like({Intent.HIGH_STAKES: 0.5}, Intent.HIGH_STAKES)
    assert in_turn(everybody, "快递一直不上门", where, 0.9) == ["knowledge"]
    assert in_turn(everybody, "快递一直不上门", where) == ["care"]


def test_nobody_is_asked_to_sign_in_for_what_the_documents_answer(everybody: Roster) -> None:
    where = like({Intent.BUSINESS_QUERY: 0.4, Intent.KNOWLEDGE_QA: 0.4}, Intent.BUSINESS_QUERY, Intent.KNOWLEDGE_QA)
    assert in_turn(everybody, "退款多久到账", where, 0.9) == ["knowledge"]
    assert in_turn(everybody, "退款多久到账", where, 0.9, caller="M1") == ["business", "knowledge"]
    assert in_turn(everybody, "退款多久到账", where)[0] == "business"
    own = like({Intent.BUSINESS_QUERY: 0.9}, Intent.BUSINESS_QUERY)
    assert in_turn(everybody, "我的退款到账了吗", own, 0.9) == ["business"]


def test_who_names_rows_is_asked_to_sign_in_whatever_is_found(everybody: Roster) -> None:
    named = like({Intent.BUSINESS_QUERY: -0.5}, Intent.BUSINESS_QUERY)
    named = replace(named, trace=replace(named.trace, forced=(Intent.BUSINESS_QUERY,)))
    assert in_turn(everybody, "YD2026112200001 到哪了", named, 0.9) == ["business"]


def test_rows_that_are_only_mentioned_send_nobody_to_sign_in_where_documents_answer(everybody: Roster) -> None:
    unlike = like({Intent.BUSINESS_QUERY: -1.0, Intent.KNOWLEDGE_QA: 0.5}, Intent.BUSINESS_QUERY)
    unlike = replace(unlike, trace=replace(unlike.trace, forced=(Intent.BUSINESS_QUERY,)))
    assert in_turn(everybody, "我是分期付的", unlike, 0.9) == ["knowledge"]
    assert in_turn(everybody, "我是分期付的", unlike)[0] == "business"
    assert in_turn(everybody, "我是分期付的", unlike, 0.9, caller="m1")[0] == "business"


def test_what_is_like_a_report_is_looked_up_and_a_request_for_a_ticket_is_none_that_waits(everybody: Roster) -> None:
    report = like({Intent.TICKET: 0.5, Intent.KNOWLEDGE_QA: 0.3}, Intent.TICKET, Intent.KNOWLEDGE_QA)
    assert in_turn(everybody, "报 E05", report, 0.9) == ["knowledge"]
    assert in_turn(everybody, "报 E05", report)[0] == "ticket"
    assert in_turn(everybody, "空调不制冷怎么办，帮我报个修", report, 0.9) == ["ticket", "knowledge"]


def test_a_question_beside_what_words_ask_for_is_looked_up_too(everybody: Roster) -> None:
    """Without a head, for which a message is like nothing."""
    both = route(Intent.BUSINESS_QUERY, Intent.KNOWLEDGE_QA)
    assert in_turn(everybody, "我的订单能退吗，运费谁出", both, 0.9) == ["business", "knowledge"]
    assert in_turn(everybody, "我的订单到哪了", route(Intent.BUSINESS_QUERY), 0.9) == ["business"]
    assert in_turn(everybody, "转人工", route(Intent.HUMAN_REQUEST), 0.9) == ["escalation"]


@pytest.mark.parametrize("text", ["充电宝冒烟了，烫伤了手", "充电宝冒烟了，检测费多少，帮我转人工"])
def test_who_is_in_danger_is_served_by_care_alone(everybody: Roster, text: str) -> None:
    asks = like({Intent.KNOWLEDGE_QA: 0.5}, Intent.KNOWLEDGE_QA)
    wanted = asks, route(Intent.HUMAN_REQUEST), route(Intent.TICKET), like({Intent.CHITCHAT: 0.9}, Intent.CHITCHAT)
    assert [in_turn(everybody, text, where, 0.9) for where in wanted] == [["care"]] * 4


def test_angry_words_beside_what_is_answered_call_nobody(everybody: Roster) -> None:
    """Unless the message is like a complaint too."""
    asks = like({Intent.KNOWLEDGE_QA: 0.5, Intent.HIGH_STAKES: 0.3}, Intent.KNOWLEDGE_QA)
    assert in_turn(everybody, "wifi好慢啊 什么鬼", asks, 0.9) == ["knowledge"]
    complains = like({Intent.KNOWLEDGE_QA: 0.3, Intent.HIGH_STAKES: 0.5}, Intent.HIGH_STAKES, Intent.KNOWLEDGE_QA)
    assert in_turn(everybody, "wifi好慢啊 什么鬼", complains, 0.9)[0] == "care"


def test_who_only_speaks_of_staff_asks_about_them(everybody: Roster) -> None:
    def about_staff(score: float) -> Route:
        where = like({Intent.HUMAN_REQUEST: score, Intent.KNOWLEDGE_QA: 0.5}, Intent.HUMAN_REQUEST, Intent.KNOWLEDGE_QA)
        return replace(where, trace=replace(where.trace, forced=(Intent.HUMAN_REQUEST,)))

    assert in_turn(everybody, "人工客服几点下班", about_staff(MENTIONED - 0.1), 0.9) == ["knowledge"]
    assert in_turn(everybody, "我要人工客服", about_staff(MENTIONED), 0.9)[0] == "escalation"


async def test_what_was_found_for_a_turn_is_not_searched_again() -> None:
    searcher = FixedSearcher()
    team = Roster.from_parts(
        AgentParts(searcher, ExtractiveGenerator(ANALYZER, 3), KnowledgePolicy(0.75, TenantProfile()))
    )
    found = retrieval("退款多久到账", candidate("退款 5 天到账。"))
    findings = Findings(retrieval=found)
    answer = await finish(await turn(team, ask("退款多久到账"), like({}, Intent.KNOWLEDGE_QA), findings))
    assert (answer.reply, searcher.asked) == ("退款 5 天到账。[1]", [])
