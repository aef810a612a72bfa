"""Searches the knowledge base for a question and for the questions that it holds."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Protocol

from agents.pages import extract_page_text
from agents.types import Question
from agents.understanding.context import build_part_context, build_search_context
from knowledge.filters import Filter
from knowledge.multi_question import merge_results
from knowledge.types import Context, GateVerdict, PageText, Retrieval, Vector

_CODES = frozenset({"error_code", "product_model"})


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
        context: Context = ...,
        page: PageText | None = None,
    ) -> Retrieval:
        """Raises KnowledgeError on an outage that leaves nothing to search with."""


async def search_question(searcher: Searcher, question: Question) -> Retrieval:
    """Searches the customer's own words, and each sub-question. Raises what `Searcher.search` raises."""
    where = question.where
    if question.sub_questions and not question.model_questions:
        return await _search_sub_questions(searcher, question, where)
    return merge_results(
        await asyncio.gather(
            *(
                _search_whole(searcher, question, part, where)
                for part in question.model_questions or (question.utterance.rewrite,)
            )
        )
    )


async def _search_whole(searcher: Searcher, question: Question, rewrite: str | None, where: Filter) -> Retrieval:
    context, page = build_search_context(question), extract_page_text(question.page)
    rewrite = rewrite or _build_code_question(question)
    return await searcher.search(
        question.utterance.normalized, rewrite=rewrite, vector=question.vector, where=where, context=context, page=page
    )


def _build_code_question(question: Question) -> str | None:
    """Returns a question for a message that is nothing but a code, which has no meaning to find it by; None
    for any other.
    """
    mentions = question.utterance.reading.mentions
    coded = mentions.alone and all(entity.kind in _CODES for entity in mentions.certain)
    return f"{question.utterance.normalized}是什么" if coded else None


async def _search_sub_questions(searcher: Searcher, question: Question, where: Filter) -> Retrieval:
    """Searches each sub-question behind those before it, beside the message as a whole.

    The result of the whole message stands alone where no sub-question finds anything.
    """
    page = extract_page_text(question.page)
    whole, *found = await asyncio.gather(
        _search_whole(searcher, question, question.utterance.rewrite, where),
        *(
            searcher.search(
                part.text, vector=part.vector, where=where, context=build_part_context(question, place), page=page
            )
            for place, part in enumerate(question.sub_questions)
        ),
    )
    if all(one.verdict is not GateVerdict.PASS for one in found):
        return whole
    return replace(merge_results([*found, whole]), question=whole.question, parts=tuple(found))
