"""Gives curated answers word for word, without a model, where a question surely means an entry."""

from __future__ import annotations

from dataclasses import replace

from agents.base import Emit
from agents.bids import Bid, Rank
from agents.language import is_reply_english
from agents.passages.quotable import is_safe_text
from agents.profile import TenantProfile
from agents.turn_evidence import TurnEvidence
from agents.types import Answer, CuratedMatch, Evidence, Findings, MatchStage, Meta, Outcome, Question, Source, Token
from agents.wording.catalogue import say
from knowledge.english import is_chinese
from knowledge.text import fold
from knowledge.types import Retrieval

# Its intent, which no router names: whether there is an entry is known by looking.
CURATED = "curated"
# The probability from which an entry answers a question that is not worded as one of its own.
MIN_SIMILAR_PROBABILITY = 0.85
# The share of a question's informative words that a document holds and an entry does not: from here they ask of two
# different things, though both are about the same product, as 水箱容量多大 and 多少钱 of one coffee machine.
UNSAID = 0.3


class CuratedAgent:
    """`profile`: only its language and the topics to avoid are used."""

    name = "curated"

    def __init__(self, profile: TenantProfile | None = None) -> None:
        self._profile = profile or TenantProfile()

    def bid(self, turn: TurnEvidence) -> Bid | None:
        """See `Agent.bid`.

        Returns:
            None for several questions, which are looked up one by one; for a customer in danger or very angry, who is
            the care agent's; for topics to avoid; and for a question that is only like an entry, where that is not
            likely enough or a document tells more.
        """
        question = turn.question
        match = turn.findings.curated
        if match is None or question.sub_questions or turn.is_urgent:
            return None
        if self._profile.is_avoided(question.utterance.complete_text):
            return None
        similar = match.stage is MatchStage.SIMILAR
        if similar and (match.probability < MIN_SIMILAR_PROBABILITY or _is_told_by_documents(match, turn.retrieval)):
            return None
        why = "like an entry" if similar else f"an entry has this {match.stage.value} wording"
        return Bid(CURATED, match.probability, why, Rank.CLAIMS, alone=True)

    async def run(self, question: Question, findings: Findings, emit: Emit) -> Answer:
        """See `Agent.run`."""
        match = findings.curated
        assert match is not None, "it bids for nothing else"
        emit(Meta(self.name, CURATED))
        if findings.retrieval is not None:  # what is kept of this turn counts as old as the older of the two
            revision = min(match.revision, findings.retrieval.revision)
            emit(Evidence(question, replace(findings.retrieval, revision=revision)))
        answer = self._build_answer(question, match)
        emit(Token(answer.reply))
        return answer

    def _build_answer(self, question: Question, match: CuratedMatch) -> Answer:
        entry = match.entry
        opening = ""
        if is_reply_english(question, self._profile) and is_chinese(entry.answer):
            opening = say("quoted", english=True) + "\n"
        apart = " " if entry.answer.endswith("!") else ""  # with the mark it would be an image
        title = entry.question if is_safe_text(entry.question) else ""
        source = Source(1, entry.id, title, title, None, entry.answer, match.probability, curated=True)
        return Answer(
            reply=f"{opening}{entry.answer}{apart}[1]",
            outcome=Outcome.ANSWERED,
            intent=CURATED,
            agent=self.name,
            confidence=match.probability,
            sources=(source,),
            buttons=entry.buttons,
        )


def _is_told_by_documents(match: CuratedMatch, retrieval: Retrieval | None) -> bool:
    """Whether a document is as likely to answer as the entry, and holds words of the question that the entry lacks."""
    if retrieval is None or not sum(retrieval.idf):
        return False
    entry = fold(" ".join((*match.entry.wordings, match.entry.answer)))
    unsaid = {term: idf for term, idf in zip(retrieval.terms, retrieval.idf, strict=True) if fold(term) not in entry}
    for candidate in retrieval.passing_candidates:
        text = fold(candidate.chunk.text)
        found = sum(idf for term, idf in unsaid.items() if fold(term) in text)
        if candidate.probability >= match.probability and found >= UNSAID * sum(retrieval.idf):
            return True
    return False
