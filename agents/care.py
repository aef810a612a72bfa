"""Serves customers with high stakes, anger or despair: acknowledges them, makes the company's offer, calls a person.

Nothing is promised but what an offer says. Who is in danger or being deceived is told what to do first, also from the
documents, and nothing about fees or liability. Who speaks of suicide gets help and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from agents.base import Emit, emit_answer
from agents.bids import SURE, Bid, Rank
from agents.errors import BusinessUnavailable
from agents.guidance import Guidance
from agents.heads.emotion import EmotionHead
from agents.heads.safety import Safety, SafetyHead, read_safety
from agents.language import is_reply_english
from agents.offers import MemberFacts, Offers
from agents.profile import TenantProfile
from agents.routing.types import Intent
from agents.turn_evidence import TurnEvidence
from agents.types import Answer, Findings, HandoffReason, HandoffRequest, Outcome, Question
from agents.understanding.causes import Cause
from agents.understanding.emotion import Emotion
from agents.understanding.reading import Reading
from agents.understanding.safety import Danger
from agents.wording.catalogue import say
from knowledge.english import is_chinese

HIGH_STAKES_PRIORITY, EMOTION_PRIORITY, FURY_PRIORITY, CRISIS_PRIORITY = 1, 2, 3, 9
FURY = 0.9
# The chance of a danger from which it comes before an answer of the documents.
CERTAIN = 0.9
# The probability of such an answer.
DOCUMENTED = 0.75
# A crisis has no cause: nothing of it is anybody's business but help.
_CAUSE_BY_DANGER: Mapping[Danger, Cause] = {Danger.HARM: Cause.SAFETY, Danger.FRAUD: Cause.FRAUD}
# What is said first: it names the matter, and what the customer had better do now.
_OPENING_BY_CAUSE: Mapping[Cause, str] = {
    Cause.SAFETY: "care_hazard",
    Cause.FRAUD: "care_fraud",
    Cause.PRIVACY: "care_privacy",
    Cause.BILLING: "care_charge",
    Cause.CANCELLATION: "care_leaving",
    Cause.COMPLAINT: "care_complaint",
}
# Where that cannot wait for the person who is called.
_URGENT_CAUSES = frozenset({Cause.SAFETY, Cause.FRAUD})


@dataclass(frozen=True, slots=True)
class CarePolicy:
    """`threshold`: the emotion from which a person is called with priority.

    Without `offers` or `facts` nothing is offered; without `guidance` nothing is quoted.
    """

    threshold: float = 0.7
    offers: Offers | None = None
    facts: MemberFacts | None = None
    head: EmotionHead | None = None
    safety_head: SafetyHead | None = None
    guidance: Guidance | None = None


class CareAgent:
    """Acknowledges, offers what the rules allow, and asks for a person."""

    name = "care"

    def __init__(
        self,
        policy: CarePolicy | None = None,
        today: Callable[[], date] = date.today,
        profile: TenantProfile | None = None,
    ) -> None:
        """profile: only its language."""
        self._policy = policy or CarePolicy()
        self._today = today
        self._profile = profile or TenantProfile()

    def bid(self, turn: TurnEvidence) -> Bid | None:
        """See `Agent.bid`."""
        if turn.emotion.crisis:
            return Bid(Intent.HIGH_STAKES, 1.0, "speaks of ending their life", Rank.URGENT, alone=True)
        if turn.danger is not None:
            return Bid(Intent.HIGH_STAKES, 1.0, f"in danger: {turn.danger.kind.value}", Rank.URGENT, alone=True)
        if turn.is_urgent:
            return Bid(Intent.HIGH_STAKES, max(turn.emotion.score, 0.5), "beside themselves", Rank.URGENT)
        if (turn.is_decided_by_rules or turn.is_named_by_model) and turn.is_routed_to(Intent.HIGH_STAKES):
            return Bid(Intent.HIGH_STAKES, SURE, "high stakes", Rank.URGENT)
        if turn.is_answerable:
            return None
        return Bid(
            Intent.HIGH_STAKES,
            turn.compute_claim(Intent.HIGH_STAKES),
            "like a complaint, and nothing is found",
            Rank.CLAIMS,
        )

    async def run(self, question: Question, findings: Findings, emit: Emit) -> Answer:
        """See `Agent.run`."""
        danger = detect_danger(question, findings, self._policy)
        feeling = measure_emotion(question, findings, self._policy.head, danger)
        english = is_reply_english(question, self._profile)
        parts, degraded = [say("care_crisis", english)], tuple[str, ...]()
        quote = None
        instructs = feeling.crisis
        if not feeling.crisis:
            meant = question.utterance.expanded
            cause = find_cause(meant, danger)
            instructs = cause in _URGENT_CAUSES
            hurt = cause is Cause.SAFETY and meant.has_injury  # and needs a doctor
            parts = [
                say("care_injury" if hurt else _OPENING_BY_CAUSE[cause], english, seed=question.utterance.original)
            ]
            if not instructs:
                offer, degraded = await self._find_offer(question, cause)
                parts += [offer] if offer else []
            elif self._policy.guidance and (quote := await self._policy.guidance.find_quote(findings)):
                parts += [say("quoted", english), quote.text] if english and is_chinese(quote.text) else [quote.text]
            parts.append(say("care_person", english))
        answer = Answer(
            reply="\n".join(parts),
            outcome=Outcome.HIGH_STAKES,
            intent="high_stakes",
            agent=self.name,
            handoff=build_handoff_request(feeling, self._policy.threshold, HandoffReason.HIGH_STAKES),
            confidence=quote.source.score if quote else 0.0,
            sources=(quote.source,) if quote else (),
            escalate_to_human=True,
            instructs=instructs,
            degraded=degraded,
        )
        return emit_answer(answer, emit)

    async def _find_offer(self, question: Question, cause: Cause) -> tuple[str | None, tuple[str, ...]]:
        """Returns the offer's text, if any, and what was out of order: an outage of the business database must not stop
        the reply.
        """
        offers, facts = self._policy.offers, self._policy.facts
        if offers is None or facts is None or not question.caller:
            return None, ()
        try:
            known = await facts.load_facts(question.caller)
        except BusinessUnavailable:
            return None, ("business",)
        return offers.choose(cause, known, self._today()), ()


def measure_outcry(question: Question) -> Emotion:
    """Returns the emotion of the customer's own words; words that are repeated in the conversation weigh more."""
    reading = question.utterance.reading
    return reading.emotion.add_repetitions(
        sum(turn.utterance.reading.folded == reading.folded for turn in question.history)
    )


def measure_emotion(question: Question, findings: Findings, head: EmotionHead | None, danger: Safety | None) -> Emotion:
    """Returns the emotion of the customer by words and by meaning.

    Args:
        question: of the customer.
        findings: its vector, where there is one.
        head: judges the meaning; None uses words alone.
        danger: what `detect_danger` found.
    """
    feeling = measure_outcry(question)
    if danger is not None and danger.kind is Danger.SELF_HARM:
        return Emotion(1.0, crisis=True)
    vector = findings.vectors.alone
    return feeling if head is None or vector is None else feeling.add_evidence(head.compute_chance(vector))


def build_handoff_request(feeling: Emotion, threshold: float, reason: HandoffReason) -> HandoffRequest:
    """Builds the request for a person. An emotion above the threshold becomes its reason and raises its priority; a
    customer who asked for a person keeps that reason.
    """
    if feeling.crisis:
        return HandoffRequest(HandoffReason.EMOTION, CRISIS_PRIORITY, feeling.score)
    if feeling.score < threshold:
        return HandoffRequest(reason, HIGH_STAKES_PRIORITY * (reason is HandoffReason.HIGH_STAKES), feeling.score)
    priority = FURY_PRIORITY if feeling.score >= FURY else EMOTION_PRIORITY
    kept = reason if reason is HandoffReason.ASKED else HandoffReason.EMOTION
    return HandoffRequest(kept, priority, feeling.score)


def detect_danger(question: Question, findings: Findings, policy: CarePolicy) -> Safety | None:
    """Returns the danger that the customer's words tell of, by their meaning too where there is a vector and a head.

    A danger that is uncertain is taken for a question where the documents answer it: to a lender most messages are
    close to fraud.
    """
    danger = read_safety(question.utterance.reading, findings.vectors.alone, policy.safety_head)
    documented = findings.retrieval is not None and findings.retrieval.confidence >= DOCUMENTED
    doubted = danger is not None and danger.chance < CERTAIN and danger.kind is not Danger.SELF_HARM
    if doubted and documented and not question.utterance.reading.dangers:
        return None
    return danger


def detect_worded_danger(reading: Reading) -> Safety | None:
    """Returns the danger that words alone tell of."""
    return read_safety(reading, None, None)


def find_cause(reading: Reading, danger: Safety | None = None) -> Cause:
    """Returns what the complaint is about: the detected danger, else what the words say, else COMPLAINT."""
    return _CAUSE_BY_DANGER[danger.kind] if danger is not None else reading.cause
