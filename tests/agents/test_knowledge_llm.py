"""The knowledge agent with a model that writes."""

from __future__ import annotations

import pytest

from agents.knowledge import KnowledgeAgent, KnowledgePolicy
from agents.llm.extractive import ExtractiveGenerator
from agents.llm.fallback import FallbackGenerator
from agents.llm.writer import ModelGenerator
from agents.profile import TenantProfile
from agents.types import NOTHING_FOUND, Answer, AnswerEvent, Outcome, Page, Question, Replace, Settled, Token, Usage
from agents.understanding.utterance import RewriteKind, Utterance
from agents.verification.marks import find_cited_numbers
from agents.verifier import Verifier
from agents.wording.catalogue import say
from knowledge.types import Candidate
from scripts.scripted_llm import Behaviour, Say, ScriptedLLM, Step
from tests.agents.models import RETURNS, WARRANTY, scripted
from tests.agents.support import (
    ANALYZER,
    FixedSearcher,
    candidate,
    collect_events,
    finish,
    fragments_of,
    page_candidate,
)

ARRIVES = "退款在验货后 1～5 个工作日内到账。"
RETURN = candidate(RETURNS, 0.9)


async def events_of(
    question: Question, *candidates: Candidate, script: tuple[Step, ...] = (Behaviour.ANSWER,), boost: float = 0.0
) -> tuple[list[AnswerEvent], ScriptedLLM]:
    async with scripted(*script) as llm:
        profile = TenantProfile(avoid_topics=("竞品",))
        quotes = ExtractiveGenerator(ANALYZER, 3)
        generator = FallbackGenerator([ModelGenerator(llm.model, profile, 3, 800)], quotes)
        agent = KnowledgeAgent(FixedSearcher(*candidates), generator, KnowledgePolicy(0.75, profile, boost))
        return await collect_events(agent, question, NOTHING_FOUND), llm.server


async def answered(*candidates: Candidate, text: str = "退款多久到账", script: Step = Behaviour.ANSWER) -> Answer:
    events, _ = await events_of(Question(Utterance(text)), *candidates, script=(script,))
    return await finish(events)


async def test_an_answer_of_the_model_is_cited_and_counted() -> None:
    answer = await answered(RETURN)
    assert (answer.reply, answer.outcome, answer.confidence) == (f"{ARRIVES}[1]", Outcome.ANSWERED, 0.9)
    assert [(source.index, source.snippet) for source in fragments_of(answer)] == [(1, ARRIVES)]
    assert answer.usage.calls == 1
    assert answer.usage.completion_tokens > 0
    assert {"generate", "verify"} <= answer.timings_ms.keys()


async def test_citations_are_numbered_in_the_order_of_use() -> None:
    says = Say(f"路由器整机保修三年[2]。{ARRIVES}[1]")
    answer = await answered(RETURN, candidate(WARRANTY, 0.8, number=1), script=says)
    assert answer.reply == f"路由器整机保修三年[1]。{ARRIVES}[2]"
    assert [(source.index, source.document_id) for source in fragments_of(answer)] == [(1, "d1"), (2, "d0")]


@pytest.mark.parametrize("probability", [0.5, 0.1])
async def test_below_the_gate_no_model_is_asked(probability: float) -> None:
    events, server = await events_of(Question(Utterance("退款多久到账")), candidate(RETURNS, probability))
    assert (await finish(events)).usage == Usage()
    assert server.requests == 0


async def test_for_a_curated_answer_no_model_is_asked() -> None:
    events, server = await events_of(Question(Utterance("能退货吗")), candidate("可以。", 0.9, question="能退货吗"))
    assert (await finish(events)).reply == "可以。[1]"
    assert server.requests == 0


async def test_what_does_not_hold_is_never_sent() -> None:
    events, _ = await events_of(
        Question(Utterance("退款多久到账")), RETURN, script=(Say(f"{ARRIVES}[1]另送 QX-77421 配件[1]。"),)
    )
    assert not any(isinstance(event, Replace) for event in events)
    assert "QX-77421" not in "".join(event.text for event in events if isinstance(event, Token))
    assert (await finish(events)).reply == f"{ARRIVES}[1]"


async def test_an_outage_midway_ends_in_quotes_and_is_marked() -> None:
    answer = await answered(RETURN, script=Behaviour.DROP_MIDWAY)
    assert (answer.outcome, answer.degraded) == (Outcome.ANSWERED, ("llm",))
    assert answer.reply == f"{RETURNS}[1]"


async def test_an_order_that_was_obeyed_is_not_in_the_answer() -> None:
    answer = await answered(RETURN, script=Say("退款 ZX12AB34[1]。"))
    assert answer.reply == f"{RETURNS}[1]"
    assert answer.degraded == ("ungrounded",)


async def test_what_the_model_cannot_answer_is_typed() -> None:
    answer = await answered(RETURN, script=Behaviour.CANNOT)
    assert (answer.outcome, answer.sources, answer.confidence) == (Outcome.CANNOT_ANSWER, (), 0.0)
    assert answer.escalate_to_human


async def test_that_part_of_the_answer_is_missing_is_typed_and_said() -> None:
    answer = await answered(RETURN, script=Say(f"{ARRIVES}[1]\n[无依据]"))
    assert (answer.outcome, answer.reply) == (
        Outcome.PARTIALLY_ANSWERED,
        f"{ARRIVES}[1]\n\n相关文章：《退货规则》\n其余部分资料中没有写明，可以[联系人工客服](#human)确认。",
    )
    assert len(answer.sources) == 1


async def test_under_the_disclaimer_the_model_shows_what_it_rests_on() -> None:
    answer = await answered(candidate(RETURNS, 0.7))
    assert answer.outcome is Outcome.LOW_CONFIDENCE
    assert answer.reply == f"{say('disclaimer', False)}\n{ARRIVES}[1]"
    assert [source.snippet for source in fragments_of(answer)] == [ARRIVES]


async def test_a_withdrawn_answer_keeps_its_disclaimer() -> None:
    answer = await answered(candidate(RETURNS, 0.7), script=Behaviour.DROP_MIDWAY)
    assert answer.reply == f"{say('disclaimer', False)}\n{RETURNS}[1]"


async def test_what_was_checked_is_said_to_stay_and_does() -> None:
    events, _ = await events_of(Question(Utterance("退款多久到账")), RETURN)
    settled = max(place for place, event in enumerate(events) if isinstance(event, Settled))
    kept = "".join(event.text for event in events[:settled] if isinstance(event, Token))
    assert (await finish(events)).reply == kept


async def test_every_mark_has_its_source_also_where_the_check_took_a_sentence_out() -> None:
    texts = (RETURNS, WARRANTY, "发票在订单完成后 3 天内开具。", "包邮门槛是满 99 元。")
    found = [candidate(text, number=number) for number, text in enumerate(texts)]
    words = f"{ARRIVES}[1]路由器整机保修三年。[2]发票在订单完成后 88 天内开具。[3]包邮门槛是满 99 元。"
    async with scripted(Say(words)) as llm:
        profile = TenantProfile()
        generator = ModelGenerator(llm.model, profile, 3, 800)
        agent = KnowledgeAgent(FixedSearcher(*found), generator, KnowledgePolicy(0.75, profile), Verifier())
        question = Question(Utterance("发票 88 天开吗").add_rewrite("发票什么时候开", RewriteKind.MODEL))
        answer = await finish(await collect_events(agent, question, NOTHING_FOUND))
    assert answer.verified is not None and answer.verified.factuality == 75
    assert "包邮门槛" in answer.reply and "88" not in answer.reply
    assert find_cited_numbers(answer.reply) == {source.index for source in fragments_of(answer)} == {1, 2, 3}


async def test_an_avoided_topic_is_out_of_scope_before_any_search() -> None:
    events, server = await events_of(Question(Utterance("竞品的退款多久到账")), RETURN)
    assert (await finish(events)).outcome is Outcome.OUT_OF_SCOPE
    assert server.requests == 0


async def test_the_page_is_source_nought_with_the_probability_that_it_passed_with() -> None:
    page = page_candidate("活动价 899 元。", 0.8, title="YS-W5 智能手表")
    says = Say(f"现在的活动价是 899 元[0]。{ARRIVES}[1]")
    events, _ = await events_of(Question(Utterance("价格和退款到账时间")), RETURN, page, script=(says,))
    answer = await finish(events)
    assert answer.reply == f"现在的活动价是 899 元[0]。{ARRIVES}[1]"
    assert [(source.index, source.title, source.score) for source in fragments_of(answer)] == [
        (0, "YS-W5 智能手表", 0.8),
        (1, "退货规则", 0.9),
    ]
    assert answer.confidence == 0.9


async def test_a_page_that_passed_the_gate_alone_is_answered_from() -> None:
    page = page_candidate("活动价 899 元。", 0.8)
    events, server = await events_of(Question(Utterance("价格")), page, script=(Say("活动价是 899 元[0]。"),))
    answer = await finish(events)
    assert (answer.reply, answer.outcome, answer.confidence) == ("活动价是 899 元[0]。", Outcome.ANSWERED, 0.8)
    assert "[1]" not in server.prompt


async def test_the_fragments_are_in_the_prompt_best_first_the_page_among_them() -> None:
    found = candidate(RETURNS, 0.95), page_candidate("退款 5 天到账。", 0.9), candidate(WARRANTY, 0.8, number=1)
    _, server = await events_of(Question(Utterance("退款多久到账")), *found)
    places = [server.prompt.index(mark) for mark in ("[1] ", "[0]（", "[2] ")]
    assert places == sorted(places)


async def test_nobody_is_asked_whether_they_mean_the_page_that_they_look_at() -> None:
    events, server = await events_of(
        Question(Utterance("退款多久到账")), page_candidate("退款 5 天到账。", 0.5, title="退货规则")
    )
    answer = await finish(events)
    assert answer.outcome is Outcome.NO_EVIDENCE
    assert "退货规则" not in f"{answer.reply}{answer.suggestions}"
    assert server.requests == 0


async def test_a_page_that_was_not_used_is_no_suggestion() -> None:
    events, _ = await events_of(
        Question(Utterance("退款多久到账")), RETURN, page_candidate("网页上的退款说明。", title="退款怎么算")
    )
    assert (await finish(events)).suggestions == ()


@pytest.mark.parametrize("boost", [0.15, 1.0])
async def test_a_page_lifts_nothing_over_the_gate(boost: float) -> None:
    page = Page(title="退货规则", text="退款 5 天到账。")
    events, server = await events_of(
        Question(Utterance("退款多久到账"), page=page), candidate(RETURNS, 0.5), boost=boost
    )
    assert (await finish(events)).outcome is Outcome.CLARIFY
    assert server.requests == 0


async def test_fragments_of_the_page_come_first_and_change_nothing_else() -> None:
    near, far = candidate(RETURNS, 0.9), candidate("YS-W5 的退款 5 天到账。", 0.8, number=1, title="YS-W5 手册")
    page = Page(title="YS-W5 智能手表 - 云笙商城")
    events, server = await events_of(Question(Utterance("退款多久到账"), page=page), near, far, boost=0.15)
    assert server.prompt.index("YS-W5 手册") < server.prompt.index("退货规则")
    assert (await finish(events)).outcome is Outcome.ANSWERED
    _, plain = await events_of(Question(Utterance("退款多久到账"), page=page), near, far)
    assert plain.prompt.index("退货规则") < plain.prompt.index("YS-W5 手册")
