"""One answer out of several agents: all run at once, the first one speaks first, the others add what they found."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from agents.base import Agent
from agents.types import Answer, AnswerEvent, Done, Evidence, Outcome, Question, Token, Usage

BETWEEN = "\n\n"
_ADDS = frozenset({Outcome.ANSWERED, Outcome.PARTIALLY_ANSWERED, Outcome.LOW_CONFIDENCE})
"""A part without an answer adds nothing: the first agent has said what happens next."""


async def run_together(agents: Sequence[Agent], question: Question) -> AsyncGenerator[AnswerEvent]:
    """The events of a merged answer; the outcome is the first agent's. Raises what an agent raises."""
    others = [asyncio.create_task(_collected(agent, question), name=agent.name) for agent in agents[1:]]
    try:
        first = None
        async with aclosing(agents[0].run(question)) as events:
            async for event in events:
                if isinstance(event, Done):
                    first = event.answer
                else:
                    yield event
        if first is None:
            raise RuntimeError("an agent ended without its final event")
        answer = first
        for events_of_another in await asyncio.gather(*others):
            for event in events_of_another:
                if isinstance(event, Evidence):
                    yield event
            added = _answer_of(events_of_another)
            if added.outcome in _ADDS:
                yield Token(BETWEEN + added.reply)
            answer = _merged(answer, added)
        yield Done(answer)
    finally:
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


async def _collected(agent: Agent, question: Question) -> list[AnswerEvent]:
    """What it cost before the agents ran is the first one's."""
    return [event async for event in agent.run(replace(question, usage=Usage()))]


def _answer_of(events: Sequence[AnswerEvent]) -> Answer:
    return next(event.answer for event in reversed(events) if isinstance(event, Done))


def _merged(first: Answer, other: Answer) -> Answer:
    speaks = other.outcome in _ADDS
    return replace(
        first,
        reply=first.reply + BETWEEN + other.reply if speaks else first.reply,
        confidence=max(first.confidence, other.confidence) if speaks else first.confidence,
        sources=first.sources + other.sources if speaks else first.sources,
        suggestions=first.suggestions or (other.suggestions if speaks else ()),
        handoff=first.handoff or other.handoff,
        proposal=first.proposal or (other.proposal if speaks else None),
        escalate_to_human=first.escalate_to_human or other.escalate_to_human,
        degraded=tuple(dict.fromkeys(first.degraded + other.degraded)),
        timings_ms=other.timings_ms | first.timings_ms,
        usage=first.usage + other.usage,
    )
