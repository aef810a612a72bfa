"""What follows from turns once they are kept: usage is counted, unanswered questions are noted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from agents.types import Outcome
from app.conversations.questions import hash_question
from app.conversations.types import AskedTurn
from app.db.outbox import PendingEvent
from app.privacy import mask_personal_data
from app.turns.types import NewTurn

KIND = "turns"
KNOWLEDGE = "knowledge"
# Outcomes that say of the knowledge base that it does not hold the answer, or does not hold it well.
GAPS = frozenset({Outcome.NO_EVIDENCE, Outcome.CANNOT_ANSWER, Outcome.CLARIFY, Outcome.LOW_CONFIDENCE})


def build_turn_events(turns: Sequence[NewTurn]) -> list[PendingEvent]:
    """Builds one event for each tenant and day (UTC), however many turns one transaction stores."""
    groups: dict[tuple[str, str], list[NewTurn]] = {}
    for turn in turns:
        groups.setdefault((turn.tenant, turn.created_at.date().isoformat()), []).append(turn)
    return [
        PendingEvent(
            tenant,
            KIND,
            {
                "day": day,
                "counts": _count_turns(group),
                "gaps": _find_gaps(group),
                "cited": _list_cited_documents(group),
            },
        )
        for (tenant, day), group in groups.items()
    ]


def find_asked_gaps(turns: Iterable[AskedTurn]) -> list[tuple[str, datetime]]:
    """Finds the turns that were recorded as gaps. Returns the hash of the question and the time of each."""
    found = []
    for turn in turns:
        data = turn.response.get("data", {})
        degraded = bool(data.get("degraded"))
        if question := _choose_gap_question(turn.standalone, turn.outcome, data.get("agent", ""), degraded=degraded):
            found.append((hash_question(question), turn.created_at))
    return found


def _list_cited_documents(turns: Sequence[NewTurn]) -> list[str]:
    """Lists the documents that the replies cite, once for each reply."""
    return [id for turn in turns for id in dict.fromkeys(turn.cited)]


def _count_turns(turns: Sequence[NewTurn]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for turn in turns:
        counts["turns"] += 1
        counts[f"outcome:{turn.outcome}"] += 1
        counts["cached"] += turn.cached
        counts.update(f"degraded:{part}" for part in turn.degraded)
        counts["llm:calls"] += turn.usage.calls
        counts["llm:prompt_tokens"] += turn.usage.prompt_tokens
        counts["llm:completion_tokens"] += turn.usage.completion_tokens
    return {name: value for name, value in counts.items() if value}


def _find_gaps(turns: Sequence[NewTurn]) -> list[dict[str, str]]:
    gaps = []
    for turn in turns:
        asked, degraded = turn.utterance.expanded_text, bool(turn.degraded)
        if question := _choose_gap_question(asked, turn.outcome, turn.agent, degraded=degraded):
            gap = {
                "hash": hash_question(question),
                "question": question,
                "outcome": turn.outcome,
                "at": turn.created_at.isoformat(),
            }
            gaps.append(gap)
    return gaps


def _choose_gap_question(standalone: str, outcome: str, agent: str, *, degraded: bool) -> str:
    """Chooses the question that is recorded as a gap, without personal data; empty for a turn that is none. Degraded
    turns and questions of other agents are left out: they say nothing about the knowledge base.
    """
    return mask_personal_data(standalone) if outcome in GAPS and agent == KNOWLEDGE and not degraded else ""
