from __future__ import annotations

from collections.abc import Sequence

import pytest

from agents.types import Question
from agents.verification.thorough import Attempt, ThoroughSearch
from knowledge.types import Candidate, Context, Filter, PageText, Retrieval, Vector
from scripts.scripted_llm import Behaviour, Say, Step
from tests.agents.models import scripted
from tests.agents.support import candidate, retrieval

QUESTION = "YS-W5 表带 不合适怎么换"
GOOD = candidate("YS-W5 的表带可以快拆更换。", number=1)
SECOND = candidate("表带的退换以签收为准。", 0.7, number=2)
THIRD = candidate("退款原路退回。", 0.65, number=3)
WEAK = candidate("路由器保修三年。", 0.3, number=4)


class Shelf:
    """Finds by the text that is searched, and remembers what was asked."""

    def __init__(self, default: Sequence[Candidate] = (WEAK,), **by_rewrite: Sequence[Candidate]) -> None:
        self._default, self._by_rewrite = default, by_rewrite
        self.asked: list[tuple[str, str | None, frozenset[str]]] = []

    async def search(
        self,
        question: str,
        *,
        rewrite: str | None = None,
        vector: Vector | None = None,
        where: Filter = Filter(),  # noqa: B008 - immutable
        explain: bool = False,
        context: Context = Context(),  # noqa: B008 - immutable
        page: PageText | None = None,
    ) -> Retrieval:
        self.asked.append((question, rewrite, where.document_ids))
        found = self._by_rewrite.get(rewrite or ("scoped" if where else ""), self._default)
        return retrieval(question, *found)


async def attempts(shelf: Shelf, *script: Step, iterations: int = 2) -> list[Attempt]:
    async with scripted(*script) as llm:
        search = ThoroughSearch(shelf, llm.model, max_iterations=iterations, seconds=5.0, max_chunk_chars=800)
        taken = [attempt async for attempt in search.attempts(Question(QUESTION))]
        assert sum(attempt.usage.calls for attempt in taken) == llm.server.requests
        return taken


def found(attempt: Attempt) -> list[str]:
    assert attempt.retrieval is not None
    return [c.chunk.id for c in attempt.retrieval.passing]


async def test_fragments_that_do_not_help_are_left_out() -> None:
    [first] = await attempts(Shelf((GOOD, SECOND, THIRD, WEAK)), Say('{"relevant": [1, 3]}'), iterations=0)
    assert found(first) == ["c1", "c3"]
    assert first.usage.calls == 1


@pytest.mark.parametrize("said", ['{"relevant": []}', '{"relevant": [2]}'])
async def test_the_best_fragment_is_kept_whatever_the_grader_says(said: str) -> None:
    [first] = await attempts(Shelf((GOOD, SECOND)), Say(said), iterations=0)
    assert found(first)[0] == "c1"


@pytest.mark.parametrize("step", [Behaviour.BROKEN, Say("都有用"), Say('{"relevant": [9]}'), Say('{"relevant": "1"}')])
async def test_a_grader_that_fails_drops_nothing(step: Step) -> None:
    [first] = await attempts(Shelf((GOOD, SECOND)), step, iterations=0)
    assert (found(first), first.degraded) == (["c1", "c2"], ("grade",))


async def test_one_fragment_needs_no_grader() -> None:
    [first] = await attempts(Shelf((GOOD,)), iterations=0)
    assert (found(first), first.usage.calls) == (["c1"], 0)


async def test_a_hypothetical_passage_finds_documents_and_the_question_judges_them() -> None:
    shelf = Shelf((WEAK,), scoped=(GOOD,))
    first, second = await attempts(shelf, Say("表带支持快拆，可以自行更换。"), iterations=1)
    assert found(first) == []
    assert (found(second), second.way) == (["c1"], "hyde")
    assert shelf.asked[1][0] == "表带支持快拆，可以自行更换。"
    assert shelf.asked[2] == (QUESTION, None, frozenset({"d4"}))


async def test_a_rewrite_is_searched_beside_the_question() -> None:
    shelf = Shelf((WEAK,), **{"YS-W5 表带尺寸不合适如何更换": (GOOD,)})
    *_, last = await attempts(shelf, Say("文档"), Say("YS-W5 表带尺寸不合适如何更换"))
    assert (found(last), last.way) == (["c1"], "rewrite")
    assert shelf.asked[-1][:2] == (QUESTION, "YS-W5 表带尺寸不合适如何更换")


@pytest.mark.parametrize("said", ["表带怎么换", "YS-W7 表带不合适怎么换", QUESTION, "", "一行\n两行", "长" * 121])
async def test_a_rewrite_that_changes_the_facts_or_says_nothing_new_is_not_searched(said: str) -> None:
    shelf = Shelf()
    *_, last = await attempts(shelf, Say("文档"), Say(said))
    assert last.retrieval is None
    assert all(rewrite is None for _, rewrite, _ in shelf.asked)


async def test_the_retries_are_bounded() -> None:
    taken = await attempts(Shelf(), Say("YS-W5 表带不合适，换一条"), iterations=3)
    assert [attempt.way for attempt in taken] == ["question", "hyde", "rewrite", "rewrite"]
    assert all(attempt.retrieval is None for attempt in taken[1:])


async def test_an_outage_costs_attempts_and_is_marked() -> None:
    taken = await attempts(Shelf(), Behaviour.BROKEN)
    assert [attempt.degraded for attempt in taken] == [(), ("hyde",), ("rewrite",)]


async def test_what_was_seen_before_is_no_new_attempt() -> None:
    taken = await attempts(Shelf((GOOD,)), Say("YS-W5 表带不合适，换一条"))
    assert [attempt.retrieval is None for attempt in taken] == [False, True, True]
