"""Requests for a person."""

from __future__ import annotations

from agents.base import Emit, emit_answer
from agents.bids import SURE, Bid, Rank
from agents.care import CarePolicy, build_handoff_request, detect_danger, measure_emotion
from agents.language import is_reply_english
from agents.profile import TenantProfile
from agents.routing.types import Intent
from agents.turn_evidence import TurnEvidence
from agents.types import Answer, Findings, HandoffReason, Outcome, Question
from agents.wording.catalogue import say

# Score from which a message that names a person asks for one: 人工几点下班 only names one.
MENTIONED = 0.0


class EscalationAgent:
    """Asks for a person. Whether one is there, and when, is said by the queue.

    `profile`: only its language is used.
    """

    name = "escalation"

    def __init__(self, policy: CarePolicy, profile: TenantProfile | None = None) -> None:
        self._policy = policy
        self._profile = profile or TenantProfile()

    def bid(self, turn: TurnEvidence) -> Bid | None:
        """See `Agent.bid`; who only speaks of staff asks about them."""
        if turn.is_decided_by_rules or turn.is_named_by_model:
            routed = turn.is_routed_to(Intent.HUMAN_REQUEST)
            return Bid(Intent.HUMAN_REQUEST, SURE, "asks for a person", Rank.URGENT) if routed else None
        if turn.is_forced(Intent.HUMAN_REQUEST) and turn.get_score(Intent.HUMAN_REQUEST) >= MENTIONED:
            return Bid(Intent.HUMAN_REQUEST, SURE, "names one, and is like a request", Rank.URGENT)
        return Bid(Intent.HUMAN_REQUEST, turn.compute_claim(Intent.HUMAN_REQUEST), "is like a request", Rank.URGENT)

    async def run(self, question: Question, findings: Findings, emit: Emit) -> Answer:
        """See `Agent.run`."""
        danger = detect_danger(question, findings, self._policy)
        feeling = measure_emotion(question, findings, self._policy.head, danger)
        return emit_answer(
            Answer(
                reply=say("person_called", is_reply_english(question, self._profile)),
                outcome=Outcome.HANDOFF,
                intent="human_handoff",
                agent=self.name,
                handoff=build_handoff_request(feeling, self._policy.threshold, HandoffReason.ASKED),
                escalate_to_human=True,
            ),
            emit,
        )
