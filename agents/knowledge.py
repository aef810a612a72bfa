"""Answers from the knowledge base: a curated answer, quotes, a question back, or a refusal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice

from loguru import logger

from agents.answering.article_continuity import keep_article
from agents.answering.deadlines import compute_date_sentence, list_texts_to_judge
from agents.answering.subjects import find_other_subject, has_name
from agents.answering.versions import find_undecided_versions
from agents.base import Emit
from agents.bids import Bid, Rank
from agents.draft import Draft
from agents.generator import Checked, Generator, Piece, Request
from agents.heads.events import EventHead, JudgedTexts
from agents.language import is_reply_english
from agents.pages import boost_page
from agents.passages.units import split_quotable_sentences
from agents.places import RelatedPlace
from agents.profile import TenantProfile
from agents.question_search import Searcher, search_question
from agents.routing.types import Intent
from agents.search_context import list_earlier_questions
from agents.sub_requests import build_sub_requests, is_confident
from agents.suggestions import MAX_SUGGESTIONS, list_related_places, suggest_neighbours
from agents.turn_evidence import TurnEvidence
from agents.types import Answer, Evidence, Findings, Meta, Outcome, Question, Replace, Settled, Token, Usage
from agents.understanding.answer_type import has_measure
from agents.understanding.reading import read
from agents.verifier import Review, Verifier
from agents.wording.catalogue import say
from knowledge.continuity import QUESTIONS
from knowledge.errors import EmbeddingUnavailable
from knowledge.probability import PROVISIONAL
from knowledge.reader import READER, measure_nearness
from knowledge.scoring import measure_milliseconds
from knowledge.tracing import start_span
from knowledge.types import Candidate, GateVerdict, Retrieval
from knowledge.versions import format_version

# The probability from which a passage that does not answer is shown as near: for 7 of 9 refused questions about three
# products of others, and for a fifth of 360 about something else, most of which the router keeps from here.
NEAR = 0.25
# Fragments in which the rule for a date, or an amount that is asked for, is looked for: what ranks lower is about
# something else.
RULING = 3


@dataclass(frozen=True, slots=True)
class KnowledgePolicy:
    """`confident`: probability in [0, 1] from which an answer needs no disclaimer; `page_boost`: see `boost_page`.

    `today` gives the shop's day; `events` judges what happened on a day, None until it is learnt.
    """

    confident: float
    profile: TenantProfile
    page_boost: float = 0.0
    today: Callable[[], date] = date.today
    events: EventHead | None = None


class KnowledgeAgent:
    """Takes every question that no other agent claims."""

    name = "knowledge"

    def __init__(
        self,
        searcher: Searcher,
        generator: Generator,
        policy: KnowledgePolicy,
        verifier: Verifier | None = None,
    ) -> None:
        """verifier: checks what a model wrote, None for no check."""
        self._searcher = searcher
        self._generator = generator
        self._policy = policy
        self._verifier = verifier

    def bid(self, turn: TurnEvidence) -> Bid | None:
        """See `Agent.bid`: by what was found. Joins others where it is asked for too, or where the customer is
        very angry.
        """
        is_routed = turn.is_routed_to(Intent.KNOWLEDGE_QA)
        if turn.is_answerable and turn.retrieval:
            joins = is_routed or (turn.is_urgent and not turn.is_decided_by_rules)
            return Bid(Intent.KNOWLEDGE_QA, turn.retrieval.confidence, "found", Rank.LOOKS_UP, joins=joins)
        return Bid(Intent.KNOWLEDGE_QA, 0.5 if is_routed else 0.3, "nothing found", Rank.LOOKS_UP, joins=is_routed)

    async def run(self, question: Question, findings: Findings, emit: Emit) -> Answer:
        """See `Agent.run`."""
        emit(Meta(self.name, "knowledge"))
        if self._policy.profile.is_avoided(question.utterance.complete_text):
            refusal = self._build_refusal("avoided", Outcome.OUT_OF_SCOPE, self._is_english(question))
            emit(Token(refusal.reply))
            return refusal
        retrieval = findings.retrieval or await search_question(self._searcher, question, findings)
        emit(Evidence(question, retrieval))
        answer = (
            self._ask_about_other_subject(question, retrieval)
            or self._ask_which_version(question, retrieval)
            or self._refuse_without_measure(question, retrieval)
        )
        if answer is None and retrieval.verdict is GateVerdict.PASS:
            return await self._write_found_answer(question, findings, retrieval, emit)
        result = answer or self._answer_without_evidence(question, retrieval)
        emit(Token(result.reply))
        return _add_steps(result, retrieval)

    async def _write_found_answer(
        self, question: Question, findings: Findings, retrieval: Retrieval, emit: Emit
    ) -> Answer:
        """Writes a curated answer or the generator's, under a disclaimer where it is not sure enough."""
        started = time.perf_counter()
        request = await self._build_request(question, findings, retrieval)
        draft = Draft(request, confident=is_confident(retrieval, self._policy.confident))

        def take_piece(piece: Piece) -> None:
            for text in draft.add_piece(piece):
                emit(Token(text))
            if isinstance(piece, Checked) and not draft.withdrawn:
                emit(Settled())

        if request.best.question is not None and not request.sub_requests:
            for text in draft.quote_curated_answer():
                emit(Token(text))
            emit(Settled())
        else:
            with start_span("generate"):
                await self._generator.write(request, take_piece)
        for text in draft.write_ending() if draft.has_sources else ():
            emit(Token(text))
        answer = written = self._build_answer(draft, retrieval, request.english)
        if draft.is_complete and self._verifier is not None:
            answer = await self._verify_answer(self._verifier, question, draft, written)
        if draft.withdrawn or (draft.sent and not draft.has_sources) or answer.reply != written.reply:
            emit(Replace(answer.reply))
        elif not draft.has_sources:
            emit(Token(answer.reply))
        return _add_steps(answer, retrieval, draft, measure_milliseconds(started))

    async def _verify_answer(self, verifier: Verifier, question: Question, draft: Draft, answer: Answer) -> Answer:
        """Returns the answer after a second check: by a model while the turn has model requests left, unless a model
        has judged the cited passages already.
        """
        started = time.perf_counter()
        english = self._is_english(question)
        review = Review(question.utterance.complete_text, answer.reply, draft.fragments, draft.judged, english)
        may_ask = draft.usage.calls < question.max_calls and not draft.is_read_by_model
        with start_span("verify"):
            checked = await verifier.verify_review(review) if may_ask else verifier.check_review(review)
        draft.add_cost(checked.usage, measure_milliseconds(started))
        if checked.outcome is Outcome.CANNOT_ANSWER:
            return replace(self._build_refusal("cannot_answer", checked.outcome, english), verified=checked.verified)
        return replace(
            answer,
            reply=checked.reply,
            outcome=checked.outcome,
            escalate_to_human=checked.escalate_to_human,
            verified=checked.verified,
        )

    async def _build_request(self, question: Question, findings: Findings, retrieval: Retrieval) -> Request:
        """Builds the generator's request from what passed the gate."""
        kept = retrieval.passing_candidates if retrieval.parts else keep_article(question, retrieval)
        passing = boost_page(kept, question.page, self._policy.page_boost)
        fragments = tuple(candidate for candidate in passing if not candidate.chunk.is_in_view)
        page_index = next((index for index, candidate in enumerate(passing) if candidate.chunk.is_in_view), None)
        before = list_earlier_questions(question)
        context = "" if question.utterance.rewrite else "\n".join(before[-QUESTIONS:])
        today, english = self._policy.today(), self._is_english(question)
        text, quotable = question.utterance.searched_text, _list_quotable_texts(fragments)
        judged = await self._judge_texts(list_texts_to_judge(text, context, quotable, today))
        return Request(
            text,
            fragments,
            retrieval.terms,
            retrieval.idf,
            context=context,
            original_question=question.utterance.original,
            history=question.history,
            summary=question.summary,
            pictured=" ".join(question.pictured),
            page=None if page_index is None else passing[page_index],
            page_place=page_index or 0,
            english=english,
            today=today,
            computed=compute_date_sentence(text, context, quotable, today, english, judged) or "",
            judged=judged,
            vectors=findings.vectors,
            sub_requests=build_sub_requests(question, findings, retrieval, fragments, before),
            superseded=format_version(passing[0].chunk.document.product_version) if retrieval.superseded else "",
        )

    async def _judge_texts(self, texts: Sequence[str]) -> JudgedTexts | None:
        """Judges what the texts say of a day; None where that is not possible, and then no date is computed."""
        if self._policy.events is None or not texts:
            return None
        try:
            return await self._policy.events.judge_texts(texts)
        except EmbeddingUnavailable as error:
            logger.opt(exception=error).warning("no date is computed without embeddings")
            return None

    def _build_answer(self, draft: Draft, retrieval: Retrieval, english: bool) -> Answer:
        if draft.has_sources:
            return draft.build_answer(self.name, suggest_neighbours(retrieval.passing_candidates, draft.candidates))
        return self._build_refusal(
            "cannot_answer" if draft.is_unanswerable else "unquotable", Outcome.CANNOT_ANSWER, english
        )

    def _ask_about_other_subject(self, question: Question, retrieval: Retrieval) -> Answer | None:
        """Asks whether another model's answer is wanted, where only that was found; of several questions each is judged
        by itself.
        """
        found = retrieval.passing_candidates or tuple(
            c for c in retrieval.candidates if c.verdict is GateVerdict.CLARIFY
        )
        if retrieval.parts or not found or any(candidate.chunk.is_in_view for candidate in found):
            return None
        other = find_other_subject(question, found)
        if other is None:
            return None
        reply = say(
            "other_subject",
            self._is_english(question),
            seed=question.utterance.original,
            asked=other.asked_model,
            other=other.found,
            question=other.question,
        )
        return Answer(reply, Outcome.CLARIFY, "knowledge", self.name, suggestions=(other.question,))

    def _ask_which_version(self, question: Question, retrieval: Retrieval) -> Answer | None:
        """Asks which version is meant, where two versions answer differently and neither is known to be newer."""
        if retrieval.parts or not retrieval.passing_candidates:
            return None
        versions = find_undecided_versions(retrieval.passing_candidates)
        if not versions:
            return None
        choices = tuple(f"{question.utterance.complete_text}（{version}）" for version in versions[:MAX_SUGGESTIONS])
        reply = say("which_version", self._is_english(question), versions="\n".join(f"- {each}" for each in versions))
        return Answer(reply, Outcome.CLARIFY, "knowledge", self.name, suggestions=choices)

    def _refuse_without_measure(self, question: Question, retrieval: Retrieval) -> Answer | None:
        """Refuses where an amount, a time or a day is asked for and nothing that was found has one."""
        found = retrieval.passing_candidates[:RULING]
        if retrieval.parts or not found or any(candidate.chunk.question for candidate in found):
            return None  # a FAQ entry answers its question however it does
        if has_measure(question.utterance.searched_text, [candidate.chunk.text for candidate in found]):
            return None
        related = list_related_places(candidate for candidate in found if not candidate.chunk.is_in_view)
        return self._build_refusal("fallback", Outcome.NO_EVIDENCE, self._is_english(question), related)

    def _answer_without_evidence(self, question: Question, retrieval: Retrieval) -> Answer:
        """Asks back about what nearly passed the gate, or says what is near.

        A message that is a mere name or code is answered with the documents that hold it. Nobody is asked about the
        page that they look at.
        """
        found = [candidate for candidate in retrieval.candidates if not candidate.chunk.is_in_view]
        meant = list_related_places(c for c in found if c.verdict is not GateVerdict.REFUSE)
        if name := read(question.utterance.complete_text).bare_name:
            meant = list_related_places((c for c in found if has_name(c.chunk, name)), whole=True) or meant
        english = self._is_english(question)
        if meant:
            topics = tuple(dict.fromkeys(place.suggestion for place in meant))
            reply = _write_clarification(topics, english, question.utterance.original)
            return Answer(reply, Outcome.CLARIFY, "knowledge", self.name, suggestions=topics, related=meant)
        if set(retrieval.degraded) - {PROVISIONAL, READER}:  # these refuse as well as others
            return self._build_refusal("search_degraded", Outcome.CANNOT_ANSWER, english)
        related = list_related_places(candidate for candidate in found if measure_nearness(candidate) >= NEAR)
        return self._build_refusal("fallback", Outcome.NO_EVIDENCE, english, related)

    def _is_english(self, question: Question) -> bool:
        return is_reply_english(question, self._policy.profile)

    def _build_refusal(
        self, sentence: str, outcome: Outcome, english: bool, related: tuple[RelatedPlace, ...] = ()
    ) -> Answer:
        """Builds a reply without an answer.

        sentence: the key of the sentence in the catalogue; a tenant's own wording replaces `fallback`. related: what
        the customer can read instead.
        """
        topics = tuple(dict.fromkeys(place.suggestion for place in related))
        reply = self._policy.profile.get_fallback(english) if sentence == "fallback" else say(sentence, english)
        if related:
            reply += "\n\n" + say("nearest", english, topics=_format_numbered_list(topics))
        return Answer(
            reply=reply,
            outcome=outcome,
            intent="knowledge",
            agent=self.name,
            suggestions=(*topics, say("need_person", english)),
            related=related,
            escalate_to_human=True,
        )


def _list_quotable_texts(fragments: Iterable[Candidate]) -> list[str]:
    """Returns the sentences of the best fragments that may be quoted."""
    best = islice(fragments, RULING)
    return [
        sentence.text
        for fragment in best
        for sentence in split_quotable_sentences(fragment.chunk.text, fragment.chunk.layout)[0]
    ]


def _add_steps(
    answer: Answer, retrieval: Retrieval, draft: Draft | None = None, generate_ms: float | None = None
) -> Answer:
    """Returns the answer with the costs and outages of all steps."""
    degraded = [*retrieval.degraded, *(draft.degraded if draft else ())]
    timings = dict(retrieval.timings_ms)
    if draft is not None and generate_ms is not None:
        timings |= {"generate": generate_ms, "verify": round(draft.verify_ms, 3)}
    usage = draft.usage if draft else Usage()
    model = draft.model if draft else ""
    return replace(answer, degraded=tuple(dict.fromkeys(degraded)), timings_ms=timings, usage=usage, model=model)


def _write_clarification(topics: tuple[str, ...], english: bool, seed: str) -> str:
    if len(topics) == 1:
        return say("clarify_one", english, seed=seed, topic=topics[0])
    return say("clarify_several", english, seed=seed, topics=_format_numbered_list(topics))


def _format_numbered_list(topics: tuple[str, ...]) -> str:
    return "\n".join(f"{number}. {topic}" for number, topic in enumerate(topics, start=1))
