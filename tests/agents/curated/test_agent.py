from __future__ import annotations

from dataclasses import replace

import pytest

from agents.curated.agent import CURATED, MIN_SIMILAR_PROBABILITY, CuratedAgent
from agents.knowledge import KnowledgePolicy
from agents.llm.extractive import ExtractiveGenerator
from agents.profile import TenantProfile
from agents.registry import AgentParts, Roster
from agents.routing.types import Band, Intent, Route, Tier, Trace
from agents.types import Button, CuratedEntry, CuratedMatch, Evidence, Findings, MatchStage, Outcome, SubQuestion
from tests.agents.support import ANALYZER, FixedSearcher, ask, candidate, collect_events, finish, retrieval

ENTRY = CuratedEntry("f1", "运费由我们出。", ("退货的运费谁出",), (Button("查运费", message="运费多少"),))
EXACT = CuratedMatch(ENTRY, ENTRY.question, MatchStage.EXACT, 0.99, revision=3)
LIKE = replace(EXACT, stage=MatchStage.SIMILAR, probability=MIN_SIMILAR_PROBABILITY)
KNOWLEDGE = Route((Intent.KNOWLEDGE_QA,), Trace(Tier.RULES, Band.HIGH, "knowledge_qa"))


def team(profile: TenantProfile | None = None) -> Roster:
    policy = KnowledgePolicy(0.75, profile or TenantProfile())
    return Roster.from_parts(AgentParts(FixedSearcher(), ExtractiveGenerator(ANALYZER, 3), policy))


def served(match: CuratedMatch | None, text: str = "退货运费谁出", where: Route = KNOWLEDGE) -> tuple[str, ...]:
    roster = team()
    found = retrieval(text, candidate("运费由我们出。", 0.9))
    findings = Findings(curated=match, retrieval=found)
    return roster.decide(roster.build_evidence(ask(text), findings, where)).intents


def test_it_answers_alone_where_it_is_sure_and_leaves_the_rest_to_the_search() -> None:
    assert served(EXACT) == served(LIKE) == (CURATED,)
    assert served(None) == served(replace(LIKE, probability=MIN_SIMILAR_PROBABILITY - 0.01)) == (Intent.KNOWLEDGE_QA,)


def test_what_a_document_tells_and_the_entry_does_not_is_left_to_the_document() -> None:
    price = CuratedEntry("f2", "云雀 K3 的售价是 2999 元。", ("云雀 K3 咖啡机多少钱",))
    match = CuratedMatch(price, price.question, MatchStage.SIMILAR, 0.87, revision=3)
    roster, terms, idf = team(), ("云雀", "k3", "水箱", "容量"), (3.0, 3.0, 2.0, 2.0)

    def decide(text: str, probability: float) -> tuple[str, ...]:
        found = replace(retrieval("云雀 K3 水箱容量多大", candidate(text, probability)), terms=terms, idf=idf)
        findings = Findings(curated=match, retrieval=found)
        return roster.decide(roster.build_evidence(ask("云雀 K3 水箱容量多大"), findings, KNOWLEDGE)).intents

    assert decide("云雀 K3 的水箱容量为 1.8 升。", 0.95) == (Intent.KNOWLEDGE_QA,)
    assert decide("云雀 K3 的水箱容量为 1.8 升。", 0.86) == (CURATED,), "less likely than the entry"
    assert decide("云雀 K3 整机保修两年。", 0.95) == (CURATED,), "holds nothing that the entry does not"


@pytest.mark.parametrize("text", ["充电宝鼓包冒烟了，退货运费谁出", "我不想活了，退货运费谁出"])
def test_danger_comes_first(text: str) -> None:
    assert served(EXACT, text)[0] == Intent.HIGH_STAKES


def test_a_person_who_is_asked_for_comes_first() -> None:
    human = Route((Intent.HUMAN_REQUEST,), Trace(Tier.RULES, Band.HIGH, "human_request"))
    assert served(EXACT, "转人工", human)[0] == Intent.HUMAN_REQUEST


def test_several_questions_are_looked_up_one_by_one() -> None:
    parts = tuple(SubQuestion(text, by_model=True) for text in ("退货运费谁出", "几天到账"))
    question = replace(ask("退货运费谁出，几天到账"), sub_questions=parts)
    roster = team()
    assert roster.decide(roster.build_evidence(question, Findings(curated=EXACT), KNOWLEDGE)).intents == (
        Intent.KNOWLEDGE_QA,
    )


def test_topics_that_nobody_speaks_of_stay_unspoken() -> None:
    profile = TenantProfile(avoid_topics=("运费",))
    roster = team(profile)
    turn = roster.build_evidence(ask("退货运费谁出"), Findings(curated=EXACT), KNOWLEDGE)
    assert CuratedAgent(profile).bid(turn) is None


async def test_the_answer_is_given_word_for_word_with_its_source_and_buttons() -> None:
    found = replace(retrieval("退货运费谁出"), revision=5)
    findings = Findings(curated=EXACT, retrieval=found)
    events = await collect_events(CuratedAgent(), ask("退货运费谁出"), findings)
    answer = await finish(events)
    assert (answer.reply, answer.outcome, answer.confidence) == ("运费由我们出。[1]", Outcome.ANSWERED, 0.99)
    assert [(one.document_id, one.heading, one.snippet) for one in answer.fragments] == [
        ("f1", "退货的运费谁出", "运费由我们出。")
    ]
    assert answer.buttons == ENTRY.buttons
    seen = [event.retrieval.revision for event in events if isinstance(event, Evidence)]
    assert seen == [3]  # entries of then must not be kept under what was searched later
