from __future__ import annotations

import pytest

from agents.question_search import search_question
from agents.types import NOTHING_FOUND
from tests.agents.support import FixedSearcher, ask


@pytest.mark.parametrize(
    ("text", "rewrite"),
    [("B02", "B02是什么"), ("YS-L2", "YS-L2是什么"), ("B02怎么清除", None), ("保修几年", None)],
)
async def test_a_code_alone_is_asked_for_in_words(text: str, rewrite: str | None) -> None:
    searcher = FixedSearcher()
    await search_question(searcher, ask(text), NOTHING_FOUND)
    assert searcher.asked == [(text, rewrite)]


async def test_a_rewrite_of_a_code_alone_stands() -> None:
    searcher = FixedSearcher()
    await search_question(searcher, ask("B02", "扫地机报B02"), NOTHING_FOUND)
    assert searcher.asked == [("B02", "扫地机报B02")]
