"""Joins the answers of several agents: all run at once, the first one speaks first, the others add what they found.

An outage of the business database costs a joint answer no more than its own part. The model requests of a turn are
shared out beforehand: agents that run at once cannot wait for what another one leaves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from loguru import logger

from agents.base import Emit, Speaker
from agents.errors import BusinessUnavailable
from agents.types import CITING, GIVEN, Answer, AnswerEvent, Evidence, Findings, Meta, Outcome, Question, Replace, Token
from agents.wording.catalogue import say

BETWEEN = "\n\n"
# What is marked as degraded.
PART = "business"
# Agents that ask models.
ASKING = frozenset({"business", "knowledge"})
# What the first agent may end with while the rest of the question is answered.
_UNANSWERED = frozenset({Outcome.CANNOT_ANSWER, Outcome.CLARIFY})


async def run_together(
    agents: Sequence[Speaker], question: Question, findings: Findings, emit: Emit, english: bool = False
) -> Answer:
    """Returns a joint answer, and emits its events; its outcome is the first agent's if that one had an answer.

    Raises what the agents raise. english: the language of the reply.
    """
    shared = _share_calls(agents, question)
    events: list[AnswerEvent] = []
    others = [
        asyncio.create_task(_run_agent(agent, part, findings, events.append, english), name=agent.name)
        for agent, part in zip(agents[1:], shared[1:], strict=True)
    ]
    try:
        answer = await _run_agent(agents[0], shared[0], findings, emit, english)
        more = await asyncio.gather(*others)
        for event in events:
            if isinstance(event, Evidence):
                emit(event)
        for added in more:
            # A refusal is replaced, not continued: 未找到 before an answer would contradict it.
            if _is_worth_adding(added) and answer.outcome is Outcome.NO_EVIDENCE:
                emit(Replace(added.reply))
            elif _is_worth_adding(added):
                emit(Token(BETWEEN + added.reply))
            answer = _merge_answers(answer, added)
        return answer
    finally:
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


class FallbackSpeaker:
    """Answers as the first agent, or as the second where the first one ends with NO_EVIDENCE.

    Emits nothing before the first agent has ended: for agents that answer as a whole.
    """

    def __init__(self, first: Speaker, second: Speaker) -> None:
        self.name = first.name
        self._first = first
        self._second = second

    async def run(self, question: Question, findings: Findings, emit: Emit) -> Answer:
        """See `Agent.run`."""
        events: list[AnswerEvent] = []
        answer = await self._first.run(question, findings, events.append)
        if answer.outcome is not Outcome.NO_EVIDENCE:
            for event in events:
                emit(event)
            return answer
        question = replace(question, max_calls=max(question.max_calls - answer.usage.calls, 0))
        return (await self._second.run(question, findings, emit)).add_costs(answer.usage, answer.degraded)


async def _run_agent(agent: Speaker, question: Question, findings: Findings, emit: Emit, english: bool) -> Answer:
    """See `Agent.run`; an outage of the business database becomes a marked sentence."""
    silent = True

    def emit_event(event: AnswerEvent) -> None:
        nonlocal silent
        silent = False
        emit(event)

    try:
        return await agent.run(question, findings, emit_event)
    except BusinessUnavailable as error:
        logger.opt(exception=error).warning("the business part of an answer is missing")
        reply = say("rows_out_of_reach", english)
        answer = Answer(reply, Outcome.CANNOT_ANSWER, "business_query", agent.name, degraded=(PART,))
        if silent:
            emit(Meta(answer.agent, answer.intent))
        emit(Token(answer.reply))
        return answer


def _share_calls(agents: Sequence[Speaker], question: Question) -> list[Question]:
    """Returns the question of each agent with its share of the remaining model requests; the rest goes to the last one
    that asks.
    """
    asking = [agent for agent in agents if agent.name in ASKING]
    each, over = divmod(question.max_calls, max(len(asking), 1))
    shares = [each + over * (agent is asking[-1]) if agent in asking else 0 for agent in agents]
    return [replace(question, max_calls=share) for share in shares]


def _is_worth_adding(answer: Answer) -> bool:
    """Whether an answer adds something: one that found nothing does not, an outage is told."""
    return answer.outcome in GIVEN or (answer.outcome is Outcome.CANNOT_ANSWER and PART in answer.degraded)


def _merge_answers(first: Answer, other: Answer) -> Answer:
    speaks = _is_worth_adding(other)
    outcome, reply = first.outcome, first.reply
    if speaks and outcome is Outcome.NO_EVIDENCE:
        outcome, reply = other.outcome, other.reply
    elif speaks:
        reply += BETWEEN + other.reply
        if outcome in _UNANSWERED:
            outcome = Outcome.PARTIALLY_ANSWERED if other.outcome in CITING else other.outcome
    return replace(
        first,
        reply=reply,
        outcome=outcome,
        confidence=max(first.confidence, other.confidence) if speaks else first.confidence,
        sources=first.sources + other.sources if speaks else first.sources,
        suggestions=first.suggestions or (other.suggestions if speaks else ()),
        related=() if speaks else first.related,
        verified=first.verified or (other.verified if speaks else None),
        computed=first.computed or (other.computed if speaks else ""),
        handoff=first.handoff or other.handoff,
        proposal=first.proposal or (other.proposal if speaks else None),
        escalate_to_human=first.escalate_to_human or other.escalate_to_human,
        degraded=tuple(dict.fromkeys(first.degraded + other.degraded)),
        timings_ms=other.timings_ms | first.timings_ms,
        usage=first.usage + other.usage,
        model=first.model or other.model,
    )
