"""All that is known of a message before anybody acts: search, router and feeling, and a model's reading of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from loguru import logger

from agents.model_reading import ModelReader, ModelReading, can_be_read
from agents.question_search import Searcher, search_question
from agents.registry import Roster
from agents.router import Router, apply_named_intents
from agents.routing.types import OFF_TOPIC, Band, Intent, Route
from agents.screening.classifier import Screening
from agents.turn_evidence import TurnEvidence
from agents.types import CuratedMatch, Findings, Question, Usage
from agents.understanding.spelling import correct_text
from agents.understanding.utterance import RewriteKind
from app.chat.account import Account
from knowledge.embeddings.base import Embedder
from knowledge.errors import KnowledgeError
from knowledge.spelling import BaseSpeller
from knowledge.tracing import start_span
from knowledge.types import DocumentMeta, Retrieval

if TYPE_CHECKING:
    from app.faqs.books import TenantBook


@dataclass(frozen=True, slots=True)
class Team:
    """What answers the questions of one tenant; without `understanding` no model reads messages.


    embedder: of the vectors that all of it goes by. unread: the search before a model judges what it found. screening:
    gives the one that learns from that embedder; until it is there, the guard's rules screen alone. `basis`: see
    `Routed`. curated: the answers that staff wrote word for word, None where nobody can.
    """

    embedder: Embedder
    screening: Callable[[], Screening | None]
    speller: BaseSpeller
    router: Router
    roster: Roster
    searcher: Searcher
    unread: Searcher
    understanding: ModelReader | None = None
    basis: Mapping[str, Any] = field(default_factory=dict)
    curated: TenantBook | None = None


async def collect_evidence(team: Team, question: Question, findings: Findings, account: Account) -> TurnEvidence:
    """Collects the evidence that the agents bid on: the search, the route, and what a model reads in the message.

    A model reads a message that follows others while it is searched and routed, and any message that search and router
    leave in doubt. A choice among what the last reply offered is clear without it. A customer who is in danger or
    beside themselves waits for no model. What was found is judged by a model once: as soon as the question is
    understood.

    findings: the vectors alone.
    """
    picked = question.utterance.get_rewrite(RewriteKind.CHOICE) is not None
    model = team.understanding if not picked and can_be_read(question) else None
    model = model if model and model.trusted() else None
    reading = asyncio.create_task(model.read(question), name="understanding") if model and question.history else None
    try:
        searcher = team.searcher if reading is None else team.unread
        turn = team.roster.build_evidence(question, *await _search_and_route(team, question, findings, searcher))
        account.record_step("route")
        if model is None or turn.is_urgent or (reading is None and not is_in_doubt(turn)):
            account.add_usage(_get_usage_so_far(reading) if reading else Usage())
            return turn
        understood = await _correct_questions(team.speller, await (reading or model.read(question)))
    finally:
        if reading is not None:
            reading.cancel()
    account.add_usage(understood.usage, understood.degraded)
    judged = reading is None or team.unread is team.searcher
    turn = await _apply_reading(team, turn, understood, judged=judged)
    account.record_step("understand")
    return turn


async def _correct_questions(speller: BaseSpeller, understood: ModelReading) -> ModelReading:
    """Returns the reading without the typos that a model took over from the message."""
    questions = [await correct_text(speller, question) for question in understood.questions]
    return replace(understood, questions=tuple(questions))


def _get_usage_so_far(reading: asyncio.Task[ModelReading]) -> Usage:
    return reading.result().usage if reading.done() else Usage(calls=1)


def is_in_doubt(turn: TurnEvidence) -> bool:
    """Whether the search and the router together tell too little: nothing found answers the question, or no intent is
    ahead.
    """
    trace, found = turn.route.trace, turn.retrieval
    looked_up = turn.route.intents == (Intent.KNOWLEDGE_QA,) and found is not None
    return (looked_up and not turn.is_answerable) or (trace.band is Band.LOW and bool(trace.scores))


async def _apply_reading(team: Team, turn: TurnEvidence, understood: ModelReading, *, judged: bool) -> TurnEvidence:
    """Updates the evidence with what a model read in the message. Searches and routes again where the reading changed
    the question, or where what was found was not judged yet. A model that calls a message off-topic does not overrule
    passages that answer it.
    """
    question = understood.apply_to(turn.question)
    before, after = turn.question.utterance, question.utterance
    turn = replace(turn, question=question)
    if not judged or (after.rewrite, after.slots) != (before.rewrite, before.slots):
        findings, route = await _search_and_route(team, question, turn.findings, team.searcher)
        turn = replace(turn, findings=findings, route=route)
    intents = understood.intents.difference(OFF_TOPIC) if turn.is_answerable else understood.intents
    return replace(turn, route=apply_named_intents(turn.route, intents))


async def _search_and_route(
    team: Team, question: Question, findings: Findings, searcher: Searcher
) -> tuple[Findings, Route]:
    """Routes the question and searches for it at the same time. Returns what was found, and the route."""
    route, found, curated = await asyncio.gather(
        _route_question(team, question, findings),
        _search_passages(searcher, question, findings),
        _match_curated(team, question, findings),
    )
    return replace(findings, retrieval=found, curated=curated), route


async def _route_question(team: Team, question: Question, findings: Findings) -> Route:
    with start_span("route"):
        return await team.router.route(question, findings.vectors.alone)


async def _match_curated(team: Team, question: Question, findings: Findings) -> CuratedMatch | None:
    if team.curated is None:
        return None
    with start_span("curated"):
        match = await team.curated.match(question, findings.vectors.alone)
    # An entry is in no folder and of no category: where these count it answers only if it is named itself.
    return match if match and question.where.matches(DocumentMeta(match.entry.id, "", "")) else None


async def _search_passages(searcher: Searcher, question: Question, findings: Findings) -> Retrieval | None:
    """Searches the knowledge base, whatever kind of message it is. None while it is out of order; the agent that needs
    it then meets the error itself.
    """
    try:
        with start_span("search"):
            return await search_question(searcher, question, findings)
    except KnowledgeError as error:
        logger.opt(exception=error).warning("turn without a search")
        return None
