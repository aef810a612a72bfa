"""Several agents, the business agent among them: what they spend together, and what is looked up besides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.business.agent import BusinessParts
from agents.business.database import BusinessDatabase
from agents.business.replies import load_replies
from agents.business.sql_writer import SqlWriter
from agents.generator import Generator
from agents.knowledge import KnowledgePolicy
from agents.llm.chat import ChatModel
from agents.llm.critique import Critic
from agents.llm.extractive import ExtractiveGenerator
from agents.llm.writer import ModelGenerator
from agents.profile import TenantProfile
from agents.registry import AgentParts, Roster
from agents.routing.types import Intent
from agents.types import MAX_CALLS, NOTHING_FOUND, Answer, Outcome, Question
from agents.understanding.utterance import Utterance
from agents.verifier import Verifier
from knowledge.types import Candidate
from scripts.scripted_llm import Behaviour, Say
from tests.agents.business.asking import SHOP, TODAY
from tests.agents.business.shop import CALLER, NoQueries
from tests.agents.models import QUESTION, RETURNS, scripted
from tests.agents.support import ANALYZER, FixedSearcher, candidate, collect_events, finish, fragments_of

UNSAFE = Say('{"sql": "SELECT secret FROM orders"}')
NOT_IN_TABLES = Say('{"sql": null}')
FURIOUS = f"气死我了！！！你们这群骗子，{QUESTION}"
KNOWN = candidate(RETURNS)


def team(
    database: BusinessDatabase,
    *found: Candidate,
    writes: ChatModel | None = None,
    answers: ChatModel | None = None,
) -> Roster:
    """writes: the model that writes SQL; answers: the one that writes replies and reads them once more."""
    writer = SqlWriter(writes, database.schema, database.dialect, 20.0) if writes else None
    replies = load_replies(SHOP, database.schema)
    business = BusinessParts(database, NoQueries(), replies, writer, lambda: TODAY)
    profile = TenantProfile()
    generator: Generator = ExtractiveGenerator(ANALYZER, 3)
    if answers:
        generator = ModelGenerator(answers, profile, 3, 800)
    verifier = Verifier(Critic(answers, 20.0, 800)) if answers else None
    policy = KnowledgePolicy(0.75, profile)
    return Roster.from_parts(AgentParts(FixedSearcher(*found), generator, policy, business, verifier=verifier))


async def said(roster: Roster, question: Question, *intents: Intent) -> Answer:
    return await finish(await collect_events(roster, question, NOTHING_FOUND, intents))


@pytest.mark.parametrize(("before", "statements"), [(0, 1), (1, 1), (2, 0)])
async def test_agents_at_once_keep_to_the_requests_of_one_turn(
    database: BusinessDatabase, before: int, statements: int
) -> None:
    question = Question(Utterance(QUESTION), caller=CALLER, max_calls=MAX_CALLS - before)
    async with scripted(UNSAFE) as sql, scripted(Behaviour.ANSWER) as words:
        roster = team(database, KNOWN, writes=sql.model, answers=words.model)
        answer = await said(roster, question, Intent.BUSINESS_QUERY, Intent.KNOWLEDGE_QA)
        asked = sql.server.requests + words.server.requests
        assert sql.server.requests == statements
    assert asked == answer.usage.calls == MAX_CALLS - before
    assert answer.sources and "5 个工作日" in answer.reply


async def test_who_asks_no_model_leaves_all_requests_to_the_others(database: BusinessDatabase) -> None:
    question = Question(Utterance("我要投诉，哪些单子在路上"), caller=CALLER)
    async with scripted(UNSAFE, Say('{"sql": "SELECT o.id, o.status FROM orders AS o"}')) as sql:
        answer = await said(team(database, writes=sql.model), question, Intent.HIGH_STAKES, Intent.BUSINESS_QUERY)
        assert sql.server.requests == answer.usage.calls == 2
    assert answer.outcome is Outcome.HIGH_STAKES and "[SQL]" in answer.reply


async def test_alone_a_statement_is_mended_as_far_as_the_turn_may_ask(database: BusinessDatabase) -> None:
    for before, statements in ((0, 2), (1, 2), (2, 1)):
        question = Question(Utterance("哪些单子在路上"), caller=CALLER, max_calls=MAX_CALLS - before)
        async with scripted(UNSAFE) as sql:
            answer = await said(team(database, writes=sql.model), question, Intent.BUSINESS_QUERY)
            assert (sql.server.requests, answer.usage.calls) == (statements, statements)


@pytest.mark.parametrize("text", [FURIOUS, f"我要投诉你们，{QUESTION}"])
async def test_whoever_complains_gets_what_is_known_where_no_row_answers(database: BusinessDatabase, text: str) -> None:
    question = Question(Utterance(text), caller=CALLER)
    async with scripted(NOT_IN_TABLES) as sql:
        roster = team(database, KNOWN, writes=sql.model)
        answer = await said(roster, question, Intent.HIGH_STAKES, Intent.BUSINESS_QUERY)
    assert (answer.agent, answer.outcome, answer.escalate_to_human) == ("care", Outcome.HIGH_STAKES, True)
    assert "5 个工作日内到账" in answer.reply and [source.title for source in fragments_of(answer)] == ["退货规则"]
    assert answer.usage.calls == 1


@pytest.mark.parametrize("found", [(), (replace(KNOWN, probability=0.1, verdict=candidate("", 0.1).verdict),)])
async def test_what_neither_rows_nor_documents_hold_adds_nothing_to_care(
    database: BusinessDatabase, found: tuple[Candidate, ...]
) -> None:
    alone = await said(team(database, *found), Question(Utterance(FURIOUS)), Intent.HIGH_STAKES)
    question = Question(Utterance(FURIOUS), caller=CALLER)
    answer = await said(team(database, *found), question, Intent.HIGH_STAKES, Intent.BUSINESS_QUERY)
    assert (answer.reply, answer.sources) == (alone.reply, ())


async def test_a_request_for_a_person_goes_with_what_is_known(database: BusinessDatabase) -> None:
    question = Question(Utterance(f"转人工，{QUESTION}"), caller=CALLER)
    answer = await said(team(database, KNOWN), question, Intent.HUMAN_REQUEST, Intent.BUSINESS_QUERY)
    assert (answer.outcome, len(answer.sources)) == (Outcome.HANDOFF, 1)
