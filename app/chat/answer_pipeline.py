"""From a question to its answer, for every kind of caller."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

from loguru import logger

from agents.base import Emit, emit_answer
from agents.decision import Decision
from agents.markup import EventCleaner, clean_answer
from agents.pages import complete_from_page
from agents.screening.types import Reason
from agents.search_context import build_part_context, build_search_context
from agents.turn_evidence import TurnEvidence
from agents.types import Answer, AnswerEvent, Findings, Meta, Outcome, Question, Routed, SubQuestion, Usage
from agents.understanding.spelling import correct_spelling
from agents.understanding.utterance import RewriteKind
from app.chat.account import Account
from app.chat.evidence import Team, collect_evidence
from app.chat.guard import Guard, Rejected
from app.metrics import Metrics
from knowledge import continuity
from knowledge.embeddings.base import Embedder
from knowledge.errors import EmbeddingUnavailable
from knowledge.tracing import start_span
from knowledge.types import QuestionVectors, Vector


@dataclass(frozen=True, slots=True)
class PreparedMessage:
    """A message as its tenant's team gets it. findings: its vectors; rejected: why nobody is to answer it."""

    team: Team
    question: Question
    findings: Findings
    rejected: Reason | None


class AnswerPipeline:
    """teams: gives the team of a tenant with its knowledge base open: one from the start of a turn to its end, for the
    vectors of one embedder mean nothing to the index of another.
    """

    def __init__(
        self, guard: Guard, teams: Callable[[str], AbstractAsyncContextManager[Team]], metrics: Metrics
    ) -> None:
        self._guard = guard
        self._teams = teams
        self._metrics = metrics

    async def run(self, tenant: str, question: Question, emit: Emit) -> Answer:
        """See `Agent.run`. The embedding of the message and, in a conversation, of it behind what was talked about,
        serve all that follows them; what can do without is done meanwhile.
        """
        async with self._teams(tenant) as team:
            return await self._answer_with_team(tenant, team, question, emit)

    async def _answer_with_team(self, tenant: str, team: Team, question: Question, emit: Emit) -> Answer:
        account = Account()
        with start_span("read"):
            heard = await self.read(team, question, account)
        if heard.rejected is not None:
            reply = await self._guard.build_reply(tenant, question, Rejected(heard.rejected))
            self._metrics.add_rejection(tenant, heard.rejected)
            answer = account.complete_answer(Answer(reply, Outcome.REJECTED, "rejected", "screening"))
            self._metrics.add_answer(tenant, answer)
            return emit_answer(answer, emit)
        turn, decision = await self.decide(heard, account)
        self._metrics.add_route(tenant, turn.route)
        account.add_usage(Usage(), turn.route.degraded)
        question = replace(turn.question, max_calls=max(question.max_calls - account.usage.calls, 0))
        if len(decision.intents) > 1:  # who else speaks answers some of the questions
            question = replace(question, sub_questions=tuple(one for one in question.sub_questions if one.by_model))
        intent = "+".join(decision.intents)
        emit(Routed(question.utterance, turn.route, decision, turn.retrieval, team.basis))
        cleaner = EventCleaner()

        def emit_cleaned(event: AnswerEvent) -> None:
            shown = cleaner.clean_event(Meta(event.agent, intent) if isinstance(event, Meta) else event)
            if shown is not None:
                emit(shown)

        with start_span("agent", {"yingda.intent": intent}):
            answer = await team.roster.run(question, turn.findings, decision.intents, emit_cleaned)
        if (rest := cleaner.finish()) is not None:
            emit(rest)
        answer = account.complete_answer(replace(clean_answer(answer), intent=intent, decision=decision))
        self._metrics.add_answer(tenant, answer)
        return answer

    async def read(self, team: Team, question: Question, account: Account) -> PreparedMessage:
        """Prepares a message for the search: embeds it, corrects its typos, splits it into its questions and screens
        it.
        """
        utterance, embedder = question.utterance, team.embedder
        embedding = asyncio.create_task(_embed_text(embedder, utterance.normalized), name="embedding")
        context = build_search_context(question)
        behind = continuity.build_contextual_message(utterance.normalized, context) if context else None
        told = asyncio.create_task(_embed_text(embedder, behind))
        if utterance.get_rewrite(RewriteKind.CHOICE) is None:
            question = replace(question, sub_questions=tuple(map(SubQuestion, utterance.reading.sub_question_texts)))
        parts = asyncio.create_task(_embed_parts(embedder, question), name="parts")
        screening = team.screening()
        try:
            await asyncio.sleep(0)  # the embedder's thread is at work from here
            seen = screening.extract_features(utterance.original) if screening else None
            corrected = await correct_spelling(team.speller, utterance)
            findings = Findings(QuestionVectors(await embedding, await told), await parts)
        finally:
            for task in (embedding, told, parts):
                task.cancel()
        account.record_step("embed")
        with start_span("screen"):
            reason = screening.check(utterance.original, findings.vectors.alone, seen).reason if screening else None
        account.record_step("screen")
        question = complete_from_page(replace(question, utterance=corrected))
        return PreparedMessage(team, question, findings, reason)

    async def decide(self, heard: PreparedMessage, account: Account) -> tuple[TurnEvidence, Decision]:
        """Collects the evidence for a message and decides which agents answer it."""
        turn = await collect_evidence(heard.team, heard.question, heard.findings, account)
        with start_span("decide"):
            return turn, heard.team.roster.decide(turn)


async def _embed_parts(embedder: Embedder, question: Question) -> dict[SubQuestion, QuestionVectors]:
    """Embeds each question of the message, by itself and together with what was talked about before."""

    async def embed_part(place: int, part: SubQuestion) -> QuestionVectors:
        context = build_part_context(question, place)
        told = continuity.build_contextual_message(part.text, context) if context else None
        return QuestionVectors(*await asyncio.gather(_embed_text(embedder, part.text), _embed_text(embedder, told)))

    parts = question.sub_questions
    vectors = await asyncio.gather(*(embed_part(place, part) for place, part in enumerate(parts)))
    return dict(zip(parts, vectors, strict=True))


async def _embed_text(embedder: Embedder, text: str | None) -> Vector | None:
    """Embeds a text; None without a text or when the embedder is down. The search then tries once more, and else goes
    by keywords alone and says so.
    """
    try:
        if text is None:
            return None
        with start_span("embed"):
            return await embedder.embed_question(text)
    except EmbeddingUnavailable as error:
        logger.opt(exception=error).warning("turn without embedding")
        return None
