"""The thorough profile: more searches for a question that finds nothing, and only fragments that help.

Every attempt costs requests; none of them moves the gate. A hypothetical passage only finds documents, and what is
found that way is scored by the customer's own question; a rewrite keeps the facts of that question.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace

from loguru import logger

from agents.errors import GenerationError
from agents.llm.quotable import safe_text
from agents.llm.replies import Completer, UnreadableReply, numbers_within, read_object
from agents.prompting import fill, one_line, template
from agents.recall import Searcher, recall
from agents.types import Question, Usage
from agents.understanding.facts import keeps_facts
from agents.verification.critique import labelled
from knowledge.text import clean
from knowledge.types import Candidate, Filter, GateVerdict, Retrieval

MAX_REWRITE_CHARS = 120
MAX_PASSAGE_CHARS = 240
"""Embedders read the first 256 characters of a query."""
_QUOTES = "“”\"'「」『』 "


@dataclass(frozen=True, slots=True)
class Attempt:
    """One search; `retrieval` is None when it brought up nothing that may be answered from and was not seen before.

    `usage` and `degraded` tell of this attempt alone. way: question, hyde or rewrite.
    """

    retrieval: Retrieval | None
    way: str
    usage: Usage = field(default_factory=Usage)
    degraded: tuple[str, ...] = ()


class ThoroughSearch:
    """Tries again until the consumer has an answer: question, hypothetical passage, rewrites.

    `max_iterations` bounds the searches after the first; each costs one request, and grading one more for each attempt
    that passes the gate. seconds: deadline of every request.
    """

    def __init__(
        self, searcher: Searcher, model: Completer, *, max_iterations: int, seconds: float, max_chunk_chars: int
    ) -> None:
        if max_iterations < 0:
            raise ValueError("max_iterations is 0 or more")
        self._searcher = searcher
        self._model = model
        self._max_iterations = max_iterations
        self._seconds = seconds
        self._max_chunk_chars = max_chunk_chars

    async def attempts(self, question: Question) -> AsyncIterator[Attempt]:
        """The first search, with a result in any case, then further ones; ends when all are exhausted.

        Stop taking them once the answer is verified; when they end without one, a person is offered.
        Raises KnowledgeError.
        """
        retrieval = await recall(self._searcher, question)
        yield await self._graded(question, Attempt(retrieval, "question"), retrieval)
        seen = {candidate.chunk.id for candidate in retrieval.passing}
        tried = [question.standalone]
        for number in range(self._max_iterations):
            attempt = await (self._by_passage(question) if number == 0 else self._by_rewrite(question, tried))
            found = attempt.retrieval
            if found is not None and {candidate.chunk.id for candidate in found.passing} <= seen:
                attempt = replace(attempt, retrieval=None)
            elif found is not None:
                seen |= {candidate.chunk.id for candidate in found.passing}
                attempt = await self._graded(question, attempt, found)
            yield attempt

    async def _by_passage(self, question: Question) -> Attempt:
        """Documents that a hypothetical answer finds, judged by the question itself."""
        passage, usage, degraded = await self._ask("hyde", question.standalone, "hyde")
        if not passage or not safe_text(passage):
            return Attempt(None, "hyde", usage, degraded)
        found = await self._searcher.search(passage[:MAX_PASSAGE_CHARS])
        documents = frozenset(candidate.chunk.document.id for candidate in found.candidates)
        if not documents:
            return Attempt(None, "hyde", usage, degraded)
        return Attempt(await recall(self._searcher, question, Filter(documents)), "hyde", usage, degraded)

    async def _by_rewrite(self, question: Question, tried: list[str]) -> Attempt:
        """Another wording with the same facts; one that was tried, or drops a fact, is not searched."""
        prompt = fill(
            "retry_question", tag=secrets.token_hex(8), question=one_line(question.standalone), tried="\n".join(tried)
        )
        written, usage, degraded = await self._ask("retry", prompt, "rewrite")
        usable = written and len(written) <= MAX_REWRITE_CHARS and "\n" not in written and safe_text(written)
        if not usable or written in tried or not keeps_facts(question.standalone, written):
            return Attempt(None, "rewrite", usage, degraded)
        tried.append(written)
        return Attempt(
            await recall(self._searcher, replace(question, rewrite=written, parts=())), "rewrite", usage, degraded
        )

    async def _graded(self, question: Question, attempt: Attempt, retrieval: Retrieval) -> Attempt:
        """Without the passing fragments that do not help; the best one stays whatever the model says."""
        passing = retrieval.passing
        if len(passing) < 2:
            return attempt
        reply, usage, degraded = await self._ask("grade", self._fragments(question, passing), "grade")
        try:
            named = read_object(reply, relevant=list)["relevant"] if not degraded else None
            kept = numbers_within(named, range(1, len(passing) + 1)) if named is not None else ()
        except UnreadableReply as error:
            logger.opt(exception=error).warning("fragments are not graded")
            named, degraded = None, ("grade",)
        if named is not None:
            helpful = {passing[number - 1].chunk.id for number in (1, *kept)}
            candidates = tuple(
                candidate
                for candidate in retrieval.candidates
                if candidate.verdict is not GateVerdict.PASS or candidate.chunk.id in helpful
            )
            attempt = replace(attempt, retrieval=replace(retrieval, candidates=candidates))
        return replace(attempt, usage=attempt.usage + usage, degraded=attempt.degraded + degraded)

    def _fragments(self, question: Question, passing: Sequence[Candidate]) -> str:
        labels = (labelled(number, c.chunk, self._max_chunk_chars) for number, c in enumerate(passing, start=1))
        return fill(
            "grade_fragments",
            tag=secrets.token_hex(8),
            fragments="\n\n".join(labels),
            question=one_line(question.standalone),
        )

    async def _ask(self, instructions: str, prompt: str, part: str) -> tuple[str, Usage, tuple[str, ...]]:
        """The model's words, empty when it fails, and what is marked then."""
        messages = [{"role": "system", "content": template(instructions)}, {"role": "user", "content": prompt}]
        try:
            reply, usage = await self._model.complete(messages, self._seconds)
        except GenerationError as error:
            logger.opt(exception=error).warning("a step of the thorough profile failed")
            return "", Usage(calls=1), (part,)
        return clean(reply).strip().strip(_QUOTES), usage, ()
