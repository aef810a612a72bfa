"""Answers from the knowledge base: search, gate, then a curated answer, quotes, a question back, or an honest no."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Protocol

from agents.asking import bare_name
from agents.llm.base import Citation, Generator, Request
from agents.llm.quotable import safe_text, without_orders
from agents.types import CITING, Answer, AnswerEvent, Done, Evidence, Meta, Outcome, Question, Source, Token
from knowledge.text import fold
from knowledge.types import Candidate, Filter, Retrieval, Vector, Verdict

MAX_TOPICS = 3
DISCLAIMER = "以下内容与您的问题相关，但不能确定完全对应，仅供参考："
NEED_PERSON = "转人工客服"
_DEGRADED = "抱歉，检索服务暂时不完整，现在还不能可靠地回答这个问题。请稍后再试，或联系人工客服。"
_UNSPEAKABLE = "抱歉，找到了相关资料，但其中没有可以直接引用的内容，请联系人工客服确认。"


class Searcher(Protocol):
    """The retriever: its result has passed the gate."""

    async def search(
        self,
        question: str,
        *,
        rewrite: str | None = None,
        vector: Vector | None = None,
        where: Filter = ...,
        explain: bool = False,
    ) -> Retrieval:
        """Raises KnowledgeError on an outage that leaves nothing to search with."""


@dataclass(frozen=True, slots=True)
class KnowledgePolicy:
    """confident: probability in [0, 1] from which an answer needs no disclaimer; fallback: what is said without one."""

    confident: float
    fallback: str


class KnowledgeAgent:
    """Takes every question that no other agent claims."""

    name = "knowledge"

    def __init__(self, searcher: Searcher, generator: Generator, policy: KnowledgePolicy) -> None:
        self._searcher = searcher
        self._generator = generator
        self._policy = policy

    def accepts(self, question: Question) -> bool:
        return True

    async def run(self, question: Question) -> AsyncIterator[AnswerEvent]:
        """See `Agent.run`."""
        yield Meta(self.name, "knowledge")
        retrieval = await self._searcher.search(question.text, rewrite=question.rewrite, vector=question.vector)
        yield Evidence(question, retrieval)
        if retrieval.verdict is Verdict.PASS:
            async for event in self._answer(question, retrieval):
                yield event
            return
        answer = self._without_evidence(question, retrieval)
        yield Token(answer.reply)
        yield Done(answer)

    async def _answer(self, question: Question, retrieval: Retrieval) -> AsyncIterator[AnswerEvent]:
        """Streams a curated answer or the generator's, under a disclaimer when it is not sure enough."""
        draft = _Draft(retrieval, confident=retrieval.passing[0].probability >= self._policy.confident)
        started = time.perf_counter()
        if retrieval.passing[0].chunk.question is not None:
            for text in draft.curated():
                yield Token(text)
        else:
            request = Request(question.standalone, retrieval.passing, retrieval.terms, retrieval.idf)
            async for piece in self._generator.stream(request):
                for text in draft.cited(piece) if isinstance(piece, Citation) else draft.said(piece.text):
                    yield Token(text)
        timings = retrieval.timings_ms | {"generate": round((time.perf_counter() - started) * 1000, 3)}
        if draft.used:
            yield Done(draft.answer(self.name, timings))
            return
        yield Token(_UNSPEAKABLE)
        yield Done(self._refusal(_UNSPEAKABLE, Outcome.CANNOT_ANSWER, retrieval))

    def _without_evidence(self, question: Question, retrieval: Retrieval) -> Answer:
        """Asks back about what nearly passed; after a mere name or code, about the documents that hold it."""
        topics = _topics(c for c in retrieval.candidates if c.verdict is not Verdict.REFUSE)
        if name := bare_name(question.standalone):
            topics = _titles(c for c in retrieval.candidates if _mentions(c, name)) or topics
        if topics:
            return Answer(
                reply=_clarifying(topics),
                outcome=Outcome.CLARIFY,
                intent="knowledge",
                agent=self.name,
                suggestions=topics,
                degraded=retrieval.degraded,
                timings_ms=retrieval.timings_ms,
            )
        if retrieval.degraded:
            return self._refusal(_DEGRADED, Outcome.CANNOT_ANSWER, retrieval)
        return self._refusal(self._policy.fallback, Outcome.NO_EVIDENCE, retrieval)

    def _refusal(self, reply: str, outcome: Outcome, retrieval: Retrieval) -> Answer:
        return Answer(
            reply=reply,
            outcome=outcome,
            intent="knowledge",
            agent=self.name,
            suggestions=(NEED_PERSON,),
            escalate_to_human=True,
            degraded=retrieval.degraded,
            timings_ms=retrieval.timings_ms,
        )


class _Draft:
    """The reply as it is written: numbers the fragments in the order in which they are cited."""

    def __init__(self, retrieval: Retrieval, *, confident: bool) -> None:
        self._retrieval = retrieval
        self._confident = confident
        self._texts: list[str] = []
        self._quotes: dict[int, str] = {}

    @property
    def used(self) -> bool:
        return bool(self._quotes)

    def curated(self) -> list[str]:
        """The answer of the best fragment, a FAQ entry."""
        text = without_orders(self._retrieval.passing[0].chunk.text)
        return self.said(text) + self.cited(Citation(0, text)) if text else []

    def said(self, text: str) -> list[str]:
        """What to send for a piece of text."""
        opening = [] if self._texts or self._confident else [DISCLAIMER + "\n"]
        self._texts += [*opening, text]
        return [*opening, text]

    def cited(self, citation: Citation) -> list[str]:
        """What to send for a citation: nothing under a disclaimer, which shows no sources."""
        before = self._quotes.get(citation.fragment)
        self._quotes[citation.fragment] = citation.quote if before is None else f"{before}\n{citation.quote}"
        if not self._confident:
            return []
        marker = f"[{list(self._quotes).index(citation.fragment) + 1}]"
        self._texts.append(marker)
        return [marker]

    def answer(self, agent: str, timings_ms: dict[str, float]) -> Answer:
        """The finished answer; only with something cited."""
        used = [self._retrieval.passing[fragment] for fragment in self._quotes]
        outcome = Outcome.ANSWERED if self._confident else Outcome.LOW_CONFIDENCE
        numbered = enumerate(zip(used, self._quotes.values(), strict=True), start=1)
        entries = {candidate.chunk.entry for candidate in used}
        return Answer(
            reply="".join(self._texts),
            outcome=outcome,
            intent="knowledge",
            agent=agent,
            confidence=max(candidate.probability for candidate in used),
            sources=tuple(_source(i, c, quote) for i, (c, quote) in numbered) if outcome in CITING else (),
            suggestions=_topics(
                c for c in self._retrieval.passing if c.chunk.question is not None and c.chunk.entry not in entries
            ),
            degraded=self._retrieval.degraded,
            timings_ms=timings_ms,
        )


def _source(index: int, candidate: Candidate, quote: str) -> Source:
    chunk = candidate.chunk
    heading = " > ".join(chunk.heading_path) if chunk.question is None else chunk.question
    return Source(
        index=index,
        document_id=chunk.document.id,
        title=chunk.document.title if safe_text(chunk.document.title) else "",
        heading=heading if safe_text(heading) else "",
        page=chunk.page,
        snippet=quote,
        score=candidate.probability,
    )


def _topics(candidates: Iterable[Candidate]) -> tuple[str, ...]:
    """What the candidates are about, without repetitions: FAQ questions, else the heading or title."""
    topics: dict[str, None] = {}
    for candidate in candidates:
        chunk = candidate.chunk
        topic = chunk.question or (chunk.heading_path[-1] if chunk.heading_path else "") or chunk.document.title
        if topic and safe_text(topic):
            topics[topic] = None
    return tuple(topics)[:MAX_TOPICS]


def _titles(candidates: Iterable[Candidate]) -> tuple[str, ...]:
    titles = dict.fromkeys(candidate.chunk.document.title for candidate in candidates)
    return tuple(title for title in titles if safe_text(title))[:MAX_TOPICS]


def _mentions(candidate: Candidate, name: str) -> bool:
    whole = rf"(?<![a-z0-9]){re.escape(fold(name))}(?![a-z0-9])"
    return re.search(whole, fold(candidate.chunk.indexed_text)) is not None


def _clarifying(topics: tuple[str, ...]) -> str:
    if len(topics) == 1:
        return f"请问您想了解的是「{topics[0]}」吗？如果不是，请补充一下具体的商品、型号或遇到的情况。"
    listed = "\n".join(f"{number}. {topic}" for number, topic in enumerate(topics, start=1))
    return f"为了准确回答，请问您想了解的是下面哪一项？\n{listed}\n也可以补充具体的商品、型号或遇到的情况。"
