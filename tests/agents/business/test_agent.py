from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import date

import pytest
from loguru import logger

from agents.base import Agent, Speaker
from agents.business.agent import BusinessAgent
from agents.business.types import Plan
from agents.errors import BusinessUnavailable
from agents.joint_answer import FallbackSpeaker, run_together
from agents.knowledge import KnowledgeAgent, KnowledgePolicy
from agents.llm.extractive import ExtractiveGenerator
from agents.profile import TenantProfile
from agents.types import NOTHING_FOUND, Answer, AnswerEvent, Done, Outcome, Question, Replace, RowSource, Source, Token
from agents.understanding.utterance import Utterance
from agents.wording import catalogue
from scripts.scripted_llm import Behaviour, Say
from tests.agents.business.shop import CALLER, NoQueries, Twins, business_parts, shop_queries, twins
from tests.agents.models import scripted
from tests.agents.support import ANALYZER, FixedSearcher, candidate, collect_events

BOTH = "我的订单能退吗，退货运费谁出"
ORDERS = "SELECT o.id, o.status, o.total FROM orders AS o WHERE o.status = 'shipped'"
SIGN_IN, SIGN_IN_ENGLISH = catalogue.say("sign_in", False), catalogue.say("sign_in", True)
PRIVATE, TOO_SLOW = catalogue.say("rows_private", False), catalogue.say("rows_too_slow", False)
OUT_OF_REACH = catalogue.say("rows_out_of_reach", False)


@pytest.fixture
async def twin() -> AsyncIterator[Twins]:
    async with twins("sqlite") as made:
        yield made


def asking(text: str, caller: str = CALLER) -> Question:
    return Question(Utterance(text), caller=caller)


def say(sql: str | None) -> Say:
    return Say(json.dumps({"sql": sql}))


def answered(events: list[AnswerEvent]) -> Answer:
    done = events[-1]
    assert isinstance(done, Done)
    return done.answer


async def answer_of(agent: Speaker, question: Question) -> Answer:
    return answered(await collect_events(agent, question, NOTHING_FOUND))


async def together(question: Question, *agents: Agent) -> tuple[Answer, str]:
    """The merged answer, and its text as it was told."""
    events: list[AnswerEvent] = []
    return await run_together(agents, question, NOTHING_FOUND, events.append), told(events)


def knowledge(*texts: str) -> KnowledgeAgent:
    found = [candidate(text, number=number) for number, text in enumerate(texts)]
    policy = KnowledgePolicy(0.75, TenantProfile())
    return KnowledgeAgent(FixedSearcher(*found), ExtractiveGenerator(ANALYZER, 3), policy)


def told(events: list[AnswerEvent]) -> str:
    """The text that stands at the end."""
    text = ""
    for event in events:
        if isinstance(event, Replace):
            text = event.text
        elif isinstance(event, Token):
            text += event.text
    return text


async def test_whoever_is_not_signed_in_is_asked_to_and_nothing_is_spent() -> None:
    answer = await answer_of(BusinessAgent(business_parts()), asking("我的订单到哪了", caller=""))
    assert (answer.reply, answer.outcome, answer.usage.calls) == (SIGN_IN, Outcome.CLARIFY, 0)
    english = await answer_of(BusinessAgent(business_parts()), asking("where is my order", caller=""))
    assert (english.reply, english.outcome) == (SIGN_IN_ENGLISH, Outcome.CLARIFY)
    told = BusinessAgent(business_parts(), TenantProfile(reply_language="en"))
    assert (await answer_of(told, asking("我的订单到哪了", caller=""))).reply == SIGN_IN_ENGLISH


async def test_a_common_question_needs_no_model(twin: Twins) -> None:
    async with scripted() as llm:
        answer = await answer_of(twin.agent(llm.model), asking("我的订单到哪了"))
        assert llm.server.requests == 0
    assert answer.outcome is Outcome.ANSWERED
    assert "[SQL]" in answer.reply
    assert answer.sources
    assert all(isinstance(source, RowSource) and source.fields for source in answer.sources)


async def test_a_model_writes_sql_and_rows_write_the_reply(twin: Twins) -> None:
    async with scripted(say(ORDERS)) as llm:
        answer = await answer_of(twin.agent(llm.model, NoQueries()), asking("哪些单子在路上"))
        prompt = json.dumps(list(llm.server.bodies), ensure_ascii=False)
    rows = await twin.unguarded(ORDERS)
    assert rows and answer.outcome is Outcome.ANSWERED and answer.usage.calls == 1
    assert {source.key for source in answer.sources if isinstance(source, RowSource)} == {row[0] for row in rows}
    assert all(row[0] in answer.reply for row in rows) and "[SQL]" in answer.reply
    assert "2026-11-22" in prompt and "orders" in prompt
    assert "password" not in prompt


async def test_the_model_never_learns_who_asks(twin: Twins) -> None:
    async with scripted(say(ORDERS)) as llm:
        await answer_of(twin.agent(llm.model, NoQueries()), asking(f"会员{CALLER}的订单"))
        assert llm.server.requests == 1
        assert CALLER not in json.dumps(list(llm.server.bodies), ensure_ascii=False)


async def test_a_refused_statement_may_be_mended_once(twin: Twins) -> None:
    async with scripted(say("SELECT secret FROM orders"), say(ORDERS)) as llm:
        answer = await answer_of(twin.agent(llm.model, NoQueries()), asking("哪些单子在路上"))
        assert "there is no column secret" in llm.server.prompt
    assert (answer.outcome, answer.usage.calls) == (Outcome.ANSWERED, 2)


async def test_a_statement_that_the_database_refuses_may_be_mended_too(twin: Twins) -> None:
    async with scripted(say("SELECT o.id FROM orders AS o GROUP BY 99"), say(ORDERS)) as llm:
        answer = await answer_of(twin.agent(llm.model, NoQueries()), asking("哪些单子在路上"))
    assert (answer.outcome, answer.usage.calls) == (Outcome.ANSWERED, 2)


async def test_the_log_keeps_to_itself_what_the_customer_said(twin: Twins) -> None:
    lines: list[str] = []
    sink = logger.add(lines.append, level=0, format="{message} {extra} {exception}")
    async with scripted(say('SELECT "张三丰" FROM orders'), say('SELECT id FROM "13800138000"')) as llm:
        await answer_of(twin.agent(llm.model, NoQueries()), asking("哪些单子在路上"))
    logger.remove(sink)
    assert len(lines) >= 2
    assert not [line for line in lines if "张三丰" in line or "13800138000" in line]


async def test_no_rows_are_told_as_none_and_the_table_is_cited(twin: Twins) -> None:
    async with scripted(say("SELECT o.id FROM orders AS o WHERE o.total > 999999")) as llm:
        answer = await answer_of(twin.agent(llm.model, NoQueries()), asking("有没有一百万以上的单子"))
    assert "没有" in answer.reply and "[SQL]" in answer.reply
    assert answer.sources == (RowSource("orders", "", {}),)


@pytest.mark.parametrize("step", [say(None), Say("抱歉"), Say('{"sql": 5}')])
async def test_what_the_tables_do_not_hold_is_not_invented(twin: Twins, step: Say) -> None:
    async with scripted(step) as llm:
        answer = await answer_of(twin.agent(llm.model, NoQueries()), asking("我适合买什么"))
    assert (answer.outcome, answer.sources, answer.degraded) == (Outcome.NO_EVIDENCE, (), ())


@pytest.mark.parametrize("step", [Behaviour.BROKEN, Behaviour.GARBAGE_BODY, Behaviour.DROP_FIRST])
async def test_without_the_model_the_plan_answers_and_the_outage_is_marked(twin: Twins, step: Behaviour) -> None:
    class Unsure:
        """The shop's plans, none of them certain."""

        def plan(self, text: str, today: date) -> Plan | None:
            plan = queries.plan(text, today)
            return plan and replace(plan, certain=False)

    queries = shop_queries()
    async with scripted(step) as llm:
        answer = await answer_of(twin.agent(llm.model, Unsure()), asking("我的订单到哪了"))
    assert (answer.outcome, answer.degraded) == (Outcome.ANSWERED, ("llm",))
    assert answer.sources


async def test_masked_values_are_masked_in_reply_and_sources(twin: Twins) -> None:
    async with scripted(say("SELECT m.name, m.phone, m.email, m.address FROM members AS m")) as llm:
        answer = await answer_of(twin.agent(llm.model, NoQueries()), asking("我留的资料"))
    (row,) = await twin.everybodys(f"SELECT name, phone, email, address FROM members WHERE id = '{CALLER}'")
    shown = answer.reply + repr(answer.sources)
    assert not [value for value in row if value in shown]
    assert f"{row[1][:3]}****{row[1][-4:]}" in shown and f"{row[0][0]}*" in shown


@pytest.mark.parametrize("text", ["我的其他订单呢", "我给老婆买的耳机到哪了", "查一下全部订单", "我的金笙会员积分"])
async def test_a_question_about_oneself_is_not_refused(twin: Twins, text: str) -> None:
    assert (await answer_of(twin.agent(), asking(text))).reply != PRIVATE


async def test_own_name_number_and_order_are_fine_and_others_alike_whether_they_exist_or_not(twin: Twins) -> None:
    people = await twin.everybodys("SELECT id, name, phone FROM members ORDER BY id")
    orders = {row[0]: row[1] for row in await twin.everybodys("SELECT member_id, min(id) FROM orders GROUP BY 1")}
    own = next(row for row in people if row[0] == CALLER)
    agent = twin.agent()
    for text in (
        f"我是{own[1]}，我的订单到哪了",
        f"手机号{own[2]}的订单",
        f"{orders[CALLER]} 到哪了",
        f"会员{own[0]}的积分",
    ):
        assert (await answer_of(agent, asking(text))).outcome is not Outcome.CANNOT_ANSWER, text
    for member, name, phone in [row for row in people if row[1] != own[1] and row[0] != CALLER][:10]:
        for known, unknown in (
            (f"查一下{name}的订单", "查一下诸葛云澈的订单"),
            (f"{phone} 这个号的订单", "19912345678 这个号的订单"),
            (f"会员 {member} 的积分", "会员 M9999 的积分"),
        ):
            one, other = [await answer_of(agent, asking(text)) for text in (known, unknown)]
            assert one.reply == other.reply and one.outcome is Outcome.CANNOT_ANSWER, known
        if member in orders:
            one = await answer_of(agent, asking(f"{orders[member]} 到哪了"))
            other = await answer_of(agent, asking("YD2026999900001 到哪了"))
            assert one.reply.replace(orders[member], "") == other.reply.replace("YD2026999900001", "")


async def test_policy_and_rows_become_one_cited_answer(twin: Twins) -> None:
    answer, text = await together(asking(BOTH), twin.agent(), knowledge("退货运费由您承担，首重 12 元。"))
    assert answer.outcome is Outcome.ANSWERED
    assert text == answer.reply and "[SQL]" in text and "[1]" in text
    assert {type(source) for source in answer.sources} == {RowSource, Source}


@pytest.mark.parametrize(("first", "outcome"), [(True, Outcome.PARTIALLY_ANSWERED), (False, Outcome.ANSWERED)])
async def test_an_outage_costs_a_merged_answer_its_own_part_and_nothing_is_invented(
    first: bool, outcome: Outcome
) -> None:
    agents: list[Agent] = [BusinessAgent(business_parts()), knowledge("退货运费由您承担。")]
    answer, text = await together(asking(BOTH), *(agents if first else reversed(agents)))
    assert (answer.outcome, answer.degraded) == (outcome, ("business",))
    assert text == answer.reply and OUT_OF_REACH in text and "退货运费由您承担。[1]" in text
    assert "[SQL]" not in text
    assert [type(source) for source in answer.sources] == [Source]


async def test_an_outage_alone_is_an_error() -> None:
    with pytest.raises(BusinessUnavailable):
        await answer_of(BusinessAgent(business_parts()), asking("我的订单到哪了"))


async def test_signing_in_is_asked_for_beside_what_everybody_may_know() -> None:
    parts = BusinessAgent(business_parts()), knowledge("退货运费由您承担。")
    answer, text = await together(asking(BOTH, caller=""), *parts)
    assert answer.outcome is Outcome.PARTIALLY_ANSWERED
    assert text.startswith(SIGN_IN) and "[1]" in text


async def test_what_no_row_answers_is_looked_up(twin: Twins) -> None:
    agents = twin.agent(queries=NoQueries()), knowledge("退货运费由您承担。")
    answer = await answer_of(FallbackSpeaker(*agents), asking("退货运费谁出"))
    assert (answer.agent, answer.outcome) == ("knowledge", Outcome.ANSWERED)
    answer, text = await together(asking("退货运费谁出"), *agents)
    assert text == answer.reply == "退货运费由您承担。[1]"


SLOW = "SELECT count(*) AS n FROM orders a, orders b, orders c, orders d, points e, points f, points g, points h"


class Planned:
    """Knows one plan for every question."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def plan(self, text: str, today: date) -> Plan | None:
        return self._plan


@pytest.fixture
async def hurried() -> AsyncIterator[Twins]:
    async with twins("sqlite", timeout=1.5) as made:
        yield made


async def test_a_generated_statement_that_takes_too_long_leaves_the_question_to_the_plan(hurried: Twins) -> None:
    plan = shop_queries().plan("我的订单到哪了", date(2026, 11, 22))
    assert plan is not None
    queries = Planned(replace(plan, certain=False))
    async with scripted(say(SLOW)) as llm:
        answer = await answer_of(hurried.agent(llm.model, queries), asking("我的订单到哪了"))
        assert llm.server.requests == 1
    assert (answer.outcome, answer.degraded) == (Outcome.ANSWERED, ())
    assert answer.sources


async def test_without_a_plan_the_customer_is_told_that_it_took_too_long(hurried: Twins) -> None:
    async with scripted(say(SLOW)) as llm:
        answer = await answer_of(hurried.agent(llm.model, NoQueries()), asking("我的订单到哪了"))
        assert llm.server.requests == 1
    assert (answer.reply, answer.outcome, answer.sources) == (TOO_SLOW, Outcome.CANNOT_ANSWER, ())


@pytest.mark.parametrize("sql", [SLOW, "SELECT id FROM orders GROUP BY 99"])
async def test_a_planned_statement_that_fails_is_an_outage(hurried: Twins, sql: str) -> None:
    with pytest.raises(BusinessUnavailable):
        await answer_of(hurried.agent(queries=Planned(Plan(sql, "orders", True))), asking("我的订单到哪了"))
