"""Replies to messages that nothing has to be looked up for: small talk, requests that are not ours, noise.
Uses no model.
"""

from __future__ import annotations

from agents.base import Emit, emit_answer
from agents.bids import SURE, Bid, Rank, Weights
from agents.language import is_reply_english
from agents.profile import TenantProfile
from agents.routing.types import OFF_TOPIC, Intent
from agents.turn_evidence import TurnEvidence
from agents.types import Answer, Findings, Outcome, Question
from agents.understanding.acts import SMALL_TALK, Act
from agents.wording.catalogue import say

# Fitted as `bids.CLAIM` is: in the middle of a conversation 两年呢 is like small talk by its words, and is none.
CHITCHAT_WEIGHTS = Weights(like=1.0, found=-0.6, later=-0.7, bias=-2.0)
# Kinds after which the customer is shown what can be asked.
_OPEN = frozenset({"greeting", "identity", "chitchat", "nonsense"})
# Intents that are keys of the catalogue too.
_OUTCOMES = {
    Intent.NONSENSE: Outcome.NONSENSE,
    Intent.IRRELEVANT: Outcome.IRRELEVANT,
    Intent.OUT_OF_SCOPE: Outcome.OUT_OF_SCOPE,
}
MAX_SUGGESTIONS = 3


class ChitchatAgent:
    """Answers any message that is sent here."""

    name = "chitchat"

    def __init__(self, profile: TenantProfile) -> None:
        self._profile = profile

    def bid(self, turn: TurnEvidence) -> Bid | None:
        """See `Agent.bid`."""
        return _bid_off_topic(turn, Intent.CHITCHAT)

    async def run(self, question: Question, findings: Findings, emit: Emit) -> Answer:
        """See `Agent.run`."""
        act = question.utterance.reading.act
        intent = act.value if act in SMALL_TALK or act is Act.NOISE else "chitchat"
        profile = self._profile
        english = is_reply_english(question, profile)
        reply = say(intent, english, seed=question.utterance.original, name=profile.get_name(english))
        if intent == "greeting" and profile.welcome_message:
            reply = profile.welcome_message
        return emit_answer(
            Answer(
                reply=reply,
                outcome=Outcome.NONSENSE if intent == "nonsense" else Outcome.ANSWERED,
                intent=intent,
                agent=self.name,
                suggestions=profile.suggested_questions if intent in _OPEN else (),
            ),
            emit,
        )


class DeflectionAgent:
    """Replies to one off-topic intent: a polite sentence, topics that can be asked about, and for out_of_scope
    a person.
    """

    name = "deflection"

    def __init__(self, intent: Intent, profile: TenantProfile) -> None:
        """Args:
            intent: an off-topic intent.
            profile: gives name, language and suggested questions.

        Raises:
            KeyError: the intent is not an off-topic one.
        """
        self._intent = intent
        self._outcome = _OUTCOMES[intent]
        self._profile = profile

    def bid(self, turn: TurnEvidence) -> Bid | None:
        """See `Agent.bid`."""
        return _bid_off_topic(turn, self._intent)

    async def run(self, question: Question, findings: Findings, emit: Emit) -> Answer:
        """See `Agent.run`."""
        english = is_reply_english(question, self._profile)
        topics = self._profile.suggested_questions[:MAX_SUGGESTIONS]
        reply = say(self._intent, english, seed=question.utterance.original, name=self._profile.get_name(english))
        if topics:
            reply += f"\n{say('topics', english)}" + "".join(f"\n- {topic}" for topic in topics)
        return emit_answer(
            Answer(
                reply=reply,
                outcome=self._outcome,
                intent=self._intent,
                agent=self.name,
                suggestions=topics,
                escalate_to_human=self._intent is Intent.OUT_OF_SCOPE,
            ),
            emit,
        )


def _bid_off_topic(turn: TurnEvidence, intent: Intent) -> Bid | None:
    """Bids for one off-topic intent; of several only the likeliest one bids."""
    if turn.is_decided_by_rules or turn.is_named_by_model:
        return Bid(intent, SURE, "in so many words", Rank.ASIDE, alone=True) if turn.is_routed_to(intent) else None
    if intent is not max(OFF_TOPIC, key=turn.get_score) or turn.findings.vectors.alone is None:
        return None
    if (
        intent is Intent.OUT_OF_SCOPE and turn.is_surely_routed_to(intent) and not turn.is_answerable
    ):  # whoever asks back promises
        return Bid(intent, SURE, "surely not ours, and nothing is found", Rank.ASIDE, alone=True)
    return Bid(
        intent,
        turn.compute_claim(*OFF_TOPIC, weights=CHITCHAT_WEIGHTS),
        "like nothing to look up",
        Rank.ASIDE,
        alone=True,
    )
