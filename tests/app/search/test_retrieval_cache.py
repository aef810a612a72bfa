from __future__ import annotations

from app.search.retrieval_cache import RetrievalCache
from knowledge.filters import Filter
from knowledge.types import Context, PageText
from tests.agents.support import candidate, page_candidate, retrieval

QUESTION = "活动价多少"
SCOPE = Filter(), Context()


def kept(cache: RetrievalCache, page: str, text: str = "活动价 899 元。") -> bool:
    cache.put(1, None, retrieval(QUESTION, candidate("退货规则"), page_candidate(text)), *SCOPE, page)
    return cache.get(1, QUESTION, None, *SCOPE, page) is not None


def test_what_was_found_with_one_page_in_view_is_not_found_with_another() -> None:
    cache = RetrievalCache(60, 10)
    first, second = (PageText("YS-W5", (text,)).content_digest for text in ("活动价 899 元。", "活动价 799 元。"))
    assert kept(cache, first)
    assert cache.get(1, QUESTION, None, *SCOPE, second) is None
    assert cache.get(1, QUESTION, None, *SCOPE, "") is None


def test_what_was_read_of_a_page_with_personal_data_is_not_kept() -> None:
    assert not kept(RetrievalCache(60, 10), "order", "收货人电话 13812345678。")
