"""Decides about a reply that a model wrote: it stays, gets an offer of a person, or is replaced.

Its claims were judged while it was written. With a model it is read once more, in one request behind the tokens, which
can only make the verdict stricter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from loguru import logger

from agents.errors import GenerationError
from agents.generator import Judged
from agents.llm.critique import MAX_CLAIMS, Coverage, Critic, Critique, read_critique
from agents.llm.replies import UnreadableReply
from agents.passages.quotable import is_safe_text
from agents.types import Outcome, ReplyVerdict, Usage, Verified
from agents.verification.marks import find_cited_numbers
from agents.wording.catalogue import say
from knowledge.types import Chunk

# Of a Markdown link; clients open the handoff where they meet it.
PERSON_TARGET = "#human"


@dataclass(frozen=True, slots=True)
class Review:
    """What remains of a reply, without the words that frame it (disclaimer, offer of a person).

    fragments: all that it was written from, by the number that `[n]` in it means; judged: its claims; english: the
    reply's language.
    """

    question: str
    reply: str
    fragments: Mapping[int, Chunk]
    judged: Judged
    english: bool = False


@dataclass(frozen=True, slots=True)
class VerifierPolicy:
    """Below either minimum an answer gets a person beside it. min_quality: 0 to 100; min_relevance: 0 to 1."""

    min_quality: int = 80
    min_relevance: float = 0.8


@dataclass(frozen=True, slots=True)
class Verification:
    """The verdict on a reply; `reply` differs from the one reviewed where something was added or it gives way."""

    reply: str
    outcome: Outcome
    verified: Verified
    escalate_to_human: bool = False
    usage: Usage = field(default_factory=Usage)


class Verifier:
    """Safe to share. Without a critic it asks no model."""

    def __init__(
        self,
        critic: Critic | None = None,
        policy: VerifierPolicy | None = None,
        trusted: Callable[[], bool] = lambda: True,
    ) -> None:
        """trusted: whether the critic's word is worth anything, so that it is asked."""
        self._critic, self._trusted = critic, trusted
        self._policy = policy or VerifierPolicy()
        if not 0 <= self._policy.min_quality <= 100 or not 0 <= self._policy.min_relevance <= 1:
            raise ValueError("min_quality is 0 to 100, min_relevance 0 to 1")

    def check_review(self, review: Review) -> Verification:
        """Returns the verdict without a model."""
        return self._build_verification(review, None, ReplyVerdict.AUTO, Usage())

    async def verify_review(self, review: Review) -> Verification:
        """Returns the verdict with the critic's, where there is one and something is left to judge. Never raises."""
        claims = review.judged.supported[:MAX_CLAIMS]
        if self._critic is None or not claims or not self._trusted():
            return self.check_review(review)
        usage = Usage(calls=1)
        try:
            words, usage = await self._critic.judge(review.question, review.reply, claims, review.fragments)
            critique = read_critique(words, len(claims), list(review.fragments))
        except (GenerationError, UnreadableReply) as error:
            logger.opt(exception=error).warning("no critique, the check without a model decides")
            return self._build_verification(review, None, ReplyVerdict.ERROR, usage)
        return self._build_verification(review, critique, ReplyVerdict.AUTO, usage)

    def _build_verification(
        self, review: Review, critique: Critique | None, verdict: ReplyVerdict, usage: Usage
    ) -> Verification:
        coverage = self._find_coverage(review.judged, critique)
        if verdict is ReplyVerdict.AUTO and (coverage == "CANNOT" or (critique and not self._is_good(critique))):
            verdict = ReplyVerdict.HUMAN
        quality, relevance = (critique.quality, critique.relevance) if critique else (None, None)
        return Verification(
            reply=_build_reply(review, coverage),
            outcome=_OUTCOMES[coverage],
            verified=Verified(verdict, _compute_factuality(review.judged, critique), quality, relevance),
            escalate_to_human=coverage != "FULLY",
            usage=usage,
        )

    def _find_coverage(self, judged: Judged, critique: Critique | None) -> Coverage:
        """Returns what the critic says; a full answer that is not good enough, or has a claim that fails, is a part of
        one.
        """
        if (judged.dropped and not judged.supported) or (critique and critique.coverage == "CANNOT"):
            return "CANNOT"
        if critique and not any(critique.supported):
            return "CANNOT"
        if critique and (critique.coverage == "PARTIALLY" or not self._is_good(critique)):
            return "PARTIALLY"
        return "FULLY"

    def _is_good(self, critique: Critique) -> bool:
        enough = critique.quality >= self._policy.min_quality and critique.relevance >= self._policy.min_relevance
        return enough and all(critique.supported)


_OUTCOMES: Mapping[Coverage, Outcome] = {
    "FULLY": Outcome.ANSWERED,
    "PARTIALLY": Outcome.PARTIALLY_ANSWERED,
    "CANNOT": Outcome.CANNOT_ANSWER,
}


def _build_reply(review: Review, coverage: Coverage) -> str:
    if coverage == "CANNOT":
        return say("cannot_answer", review.english)
    ending = build_partial_ending(review.fragments, find_cited_numbers(review.reply), review.english)
    return review.reply if coverage == "FULLY" else review.reply + ending


def build_partial_ending(fragments: Mapping[int, Chunk], cited: Collection[int], english: bool) -> str:
    """Builds the ending of a partial answer: one article to read on, rather one that is not cited, and a link to a
    person.
    """
    numbers = [number for number in fragments if number not in cited] or list(fragments)
    titles = (fragments[number].document.title for number in numbers)
    article = next(
        ("\n" + say("read_on", english, title=title) for title in titles if title and is_safe_text(title)), ""
    )
    link = f"[{say('person_link', english)}]({PERSON_TARGET})"
    return f"\n{article}\n{say('rest_unanswered', english, link=link)}"


def _compute_factuality(judged: Judged, critique: Critique | None) -> int | None:
    """Returns the percentage of claims that hold; a claim has to pass the critic too. None without claims."""
    supported = critique.supported if critique else [True] * len(judged.supported)
    made = len(supported) + len(judged.dropped)
    return round(100 * sum(supported) / made) if made else None
