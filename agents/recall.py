"""The search for a question, in all readings that it has."""

from __future__ import annotations

import asyncio
from typing import Protocol

from agents.pages import page_text
from agents.types import Question
from agents.understanding.context import search_context
from knowledge.several import side_by_side
from knowledge.types import Context, Filter, PageText, Retrieval, Vector

_EVERYTHING = Filter()


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


async def recall(searcher: Searcher, question: Question, where: Filter = _EVERYTHING) -> Retrieval:
    """What the customer's own words find, and each question that they hold. Raises what `Searcher.search` raises."""
    context, page = search_context(question), page_text(question.page)
    found = await asyncio.gather(
        *(
            searcher.search(
                question.searched, rewrite=rewrite, vector=question.vector, where=where, context=context, page=page
            )
            for rewrite in question.parts or (question.rewrite,)
        )
    )
    return side_by_side(found)
