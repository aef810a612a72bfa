"""Searches the knowledge base for a question and for the questions that it holds."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Protocol

from agents.pages import extract_page_text
from agents.search_context import build_part_context, build_search_context
from agents.types import Findings, Question
from knowledge.filters import Filter
from knowledge.multi_question import merge_results
from knowledge.types import NOT_EMBEDDED, Context, GateVerdict, PageText, QuestionVectors, Retrieval

_CODES = frozenset({"error_code", "product_model"})


class Searcher(Protocol):
    """The retriever: its result has passed the gate."""

    async def search(
        self,
        question: str,
        *,
        rewrite: str | None = None,
        vectors: QuestionVectors = NOT_EMBEDDED,
        where: Filter = ...,
        explain: bool = False,
        context: Context = ...,
        page: PageText | None = None,
    ) -> Retrieval:
        """Raises KnowledgeError on an outage that leaves nothing to search with."""


async def search_question(searcher: Searcher, question: Question, findings: Findings) -> Retrieval:
    """Searches the customer's own words, and each sub-question. Raises what `Searcher.search` raises.

    findings: the vectors.
    """
    parts = question.sub_questions
    if parts and not parts[0].by_model:
        return await _search_sub_questions(searcher, question, findings)
    rewrites: list[str | None] = [part.text for part in parts] or [question.utterance.rewrite]
    return merge_results(
        await asyncio.gather(*(_search_whole(searcher, question, rewrite, findings) for rewrite in rewrites))
    )


async def _search_whole(searcher: Searcher, question: Question, rewrite: str | None, findings: Findings) -> Retrieval:
    return await searcher.search(
        question.utterance.normalized,
        rewrite=rewrite or _build_code_question(question),
        vectors=findings.vectors,
        where=question.where,
        context=build_search_context(question),
        page=extract_page_text(question.page),
    )


def _build_code_question(question: Question) -> str | None:
    """Returns a question for a message that is nothing but a code, which has no meaning to find it by; None
    for any other.
    """
    mentions = question.utterance.reading.mentions
    coded = mentions.alone and all(entity.kind in _CODES for entity in mentions.certain)
    return f"{question.utterance.normalized}是什么" if coded else None


async def _search_sub_questions(searcher: Searcher, question: Question, findings: Findings) -> Retrieval:
    """Searches each sub-question behind those before it, beside the message as a whole.

    The result of the whole message stands alone where no sub-question finds anything.
    """
    page = extract_page_text(question.page)
    whole, *found = await asyncio.gather(
        _search_whole(searcher, question, question.utterance.rewrite, findings),
        *(
            searcher.search(
                part.text,
                vectors=findings.sub_vectors.get(part, NOT_EMBEDDED),
                where=question.where,
                context=build_part_context(question, number),
                page=page,
            )
            for number, part in enumerate(question.sub_questions)
        ),
    )
    if all(one.verdict is not GateVerdict.PASS for one in found):
        return whole
    return replace(merge_results([*found, whole]), question=whole.question, parts=tuple(found))
