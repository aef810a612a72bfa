"""What is known before anybody acts, with a model that reads messages and without."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from agents.knowledge import KnowledgePolicy
from agents.llm.chat import ChatMessage
from agents.llm.extractive import ExtractiveGenerator
from agents.llm.replies import Completer
from agents.model_reading import ModelReader
from agents.profile import TenantProfile
from agents.registry import AgentParts, Roster
from agents.routing.types import Intent, Tier
from agents.turn_evidence import TurnEvidence
from agents.types import Findings, Question, Usage
from agents.understanding.state import Turn
from agents.understanding.utterance import RewriteKind, Utterance
from app.chat.account import Account
from app.chat.evidence import Team, collect_evidence
from knowledge.spelling import BaseSpeller
from knowledge.stores.memory import MemoryIndex
from knowledge.types import Candidate, GateVerdict, QuestionVectors, Retrieval
from tests.agents.routers import EMBEDDER, router
from tests.agents.support import ANALYZER, FixedSearcher, candidate, retrieval

BEFORE = Turn(Utterance("退货怎么申请"), "在 App 里提交。")
FEES, DAYS = candidate("退货运费由您承担。", number=1), candidate("退款 5 天到账。", 0.8, number=2)
WEAK = candidate("发票三天开出。", 0.45, number=3)


class Model:
    """Replies as told, or never; counts what it is asked."""

    def __init__(self, *questions: str, intents: Sequence[str] = (), after: asyncio.Event | None = None) -> None:
        fields = {"questions": questions, "intents": intents, "slots": {}, "language": "zh"}
        self._reply = json.dumps(fields)
        self._after = after
        self.asked: list[Sequence[ChatMessage]] = []

    async def complete(self, messages: Sequence[ChatMessage], seconds: float) -> tuple[str, Usage]:
        self.asked.append(messages)
        if self._after is not None:
            await self._after.wait()
        return self._reply, Usage(1, 20, 3)


class ByRewrite(FixedSearcher):
    """Finds what belongs to a rewrite, and something weak without one. searched: is set by the first search."""

    def __init__(self, **found: Candidate) -> None:
        super().__init__()
        self._found = found
        self.searched = asyncio.Event()

    async def search(self, question: str, *, rewrite: str | None = None, **more: Any) -> Retrieval:
        self.asked.append((question, rewrite))
        self.searched.set()
        return retrieval(question, self._found.get(rewrite or "", WEAK))


async def told(
    text: str,
    searcher: FixedSearcher,
    model: Completer | None,
    *history: Turn,
    picked: str | None = None,
    unread: FixedSearcher | None = None,
    trusted: bool = True,
) -> tuple[TurnEvidence, Account]:
    policy = KnowledgePolicy(0.75, TenantProfile())
    team = Team(
        EMBEDDER,
        lambda: None,
        BaseSpeller(MemoryIndex(), ANALYZER),
        await router(),
        Roster.from_parts(AgentParts(searcher, ExtractiveGenerator(ANALYZER, 3), policy)),
        searcher,
        unread or searcher,
        ModelReader(model, 20, ANALYZER, trusted=lambda: trusted) if model else None,
    )
    utterance = Utterance(text).add_rewrite(picked, RewriteKind.CHOICE)
    question = Question(utterance, history=history)
    findings = Findings(QuestionVectors(await EMBEDDER.embed_question(text)))
    account = Account()
    async with asyncio.timeout(60):
        return await collect_evidence(team, question, findings, account), account


async def test_a_message_behind_others_is_searched_while_the_model_reads_it() -> None:
    searcher = ByRewrite(退货运费谁出=FEES)
    model = Model("退货运费谁出", after=searcher.searched)
    turn, account = await told("运费呢", searcher, model, BEFORE)
    assert searcher.asked == [("运费呢", None), ("运费呢", "退货运费谁出")]
    assert (turn.question.utterance.rewrite, turn.retrieval and turn.retrieval.verdict) == (
        "退货运费谁出",
        GateVerdict.PASS,
    )
    assert (account.usage, account.degraded, len(model.asked)) == (Usage(1, 20, 3), (), 1)


@pytest.mark.parametrize("meant", ["退货运费谁出", "运费呢"])
async def test_what_is_found_is_judged_once_as_soon_as_the_message_is_understood(meant: str) -> None:
    judging, unread = ByRewrite(退货运费谁出=FEES), ByRewrite()
    await told("运费呢", judging, Model(meant, after=unread.searched), BEFORE, unread=unread)
    assert (len(unread.asked), len(judging.asked)) == (1, 1)


async def test_every_question_of_a_message_is_searched_and_none_crowds_out_another() -> None:
    searcher = ByRewrite(退货运费谁出=FEES, 退款多久到账=DAYS)
    turn, _ = await told("运费谁出，退款多久到账", searcher, Model("退货运费谁出", "退款多久到账"), BEFORE)
    assert turn.retrieval is not None
    assert [found.chunk.id for found in turn.retrieval.passing_candidates] == [FEES.chunk.id, DAYS.chunk.id]
    assert turn.question.utterance.complete_text == "退货运费谁出 退款多久到账"


@pytest.mark.parametrize(("found", "asked"), [(FEES, 0), (WEAK, 1)])
async def test_a_first_message_is_read_by_a_model_only_where_nothing_answers_it(found: Candidate, asked: int) -> None:
    model = Model("怎么退货")
    turn, account = await told("怎么退货", FixedSearcher(found), model)
    assert len(model.asked) == account.usage.calls == asked
    assert turn.route.intents == (Intent.KNOWLEDGE_QA,)


async def test_intents_that_a_model_names_count_where_the_evidence_is_undecided() -> None:
    turn, _ = await told("播放退货", FixedSearcher(FEES), Model("播放退货", intents=["ticket"]))
    assert (turn.route.intents, turn.route.trace.tier, turn.is_named_by_model) == ((Intent.TICKET,), Tier.LLM, True)
    turn, _ = await told("怎么退货", FixedSearcher(FEES), Model("怎么退货", intents=["ticket"]), BEFORE)
    assert (turn.route.intents, turn.is_named_by_model) == ((Intent.KNOWLEDGE_QA,), False)


@pytest.mark.parametrize(("found", "named"), [(FEES, False), (WEAK, True)])
async def test_a_model_that_calls_a_message_irrelevant_does_not_stand_against_what_is_found(
    found: Candidate, named: bool
) -> None:
    turn, _ = await told("播放退货", FixedSearcher(found), Model("播放退货", intents=["irrelevant"]), BEFORE)
    assert turn.is_named_by_model == named


async def test_a_model_whose_word_is_worth_nothing_is_not_asked_what_a_message_means() -> None:
    model = Model("退货运费谁出")
    turn, account = await told("运费呢", ByRewrite(退货运费谁出=FEES), model, BEFORE, trusted=False)
    assert (model.asked, account.usage, turn.question.utterance.rewrite) == ([], Usage(), None)


async def test_whoever_is_in_danger_waits_for_no_model() -> None:
    model = Model("家里怎么办", after=asyncio.Event())
    turn, account = await told("充电器着火了怎么办", FixedSearcher(WEAK), model, BEFORE)
    assert turn.is_urgent and account.usage.calls == len(model.asked) == 1


@pytest.mark.parametrize("text", ["谢谢", "转人工"])
async def test_what_says_one_thing_in_so_many_words_costs_no_request(text: str) -> None:
    model = Model(text)
    await told(text, FixedSearcher(WEAK), model, BEFORE)
    assert model.asked == []


async def test_what_picks_of_what_was_offered_is_clear_already() -> None:
    model = Model("第二个")
    await told("第二个", FixedSearcher(WEAK), model, BEFORE, picked="退货运费谁出")
    assert model.asked == []


async def test_without_a_model_evidence_is_what_search_and_router_find() -> None:
    searcher = FixedSearcher(WEAK)
    turn, account = await told("运费呢", searcher, None, BEFORE)
    assert searcher.asked == [("运费呢", None)] and turn.question.utterance.rewrite is None
    assert (account.usage, account.degraded, "understand" in account.ms) == (Usage(), (), False)


def test_an_account_adds_up_what_a_turn_took() -> None:
    from agents.types import Answer, Outcome

    account = Account()
    account.ms = {"embed": 2.0, "route": 1.0}
    account.add_usage(Usage(1, 10, 2), ("understanding",))
    account.add_usage(Usage(), ("embedding",))
    answer = Answer("五天。", Outcome.ANSWERED, "knowledge", "knowledge", degraded=("embedding", "llm"))
    closed = account.complete_answer(replace(answer, usage=Usage(1, 5, 5), timings_ms={"embed": 0.5, "gate": 0.1}))
    assert closed.usage == Usage(2, 15, 7)
    assert closed.degraded == ("understanding", "embedding", "llm")
    assert closed.timings_ms == {"embed": 2.5, "gate": 0.1, "route": 1.0}
