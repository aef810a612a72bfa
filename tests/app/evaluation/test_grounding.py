from __future__ import annotations

import pytest

from agents.types import RowSource, Source
from app.evaluation.grounding import find_cited_chunks, find_unfounded, list_cited_texts
from knowledge.types import Chunk, DocumentMeta

GROUND = "YS-V8 的滤芯 3 个月换一次，每片 59 元，满 1,000 元包邮。"
DOCUMENT = DocumentMeta("d1", "滤芯.md", "滤芯")


def chunk(name: str, text: str, heading: str = "更换", question: str | None = None) -> Chunk:
    return Chunk(name, DOCUMENT, 0, text, (heading,), question=question)


def source(snippet: str, heading: str = "更换", index: int = 1) -> Source:
    return Source(index, "d1", "滤芯", heading, None, snippet, 0.9)


@pytest.mark.parametrize(
    "reply",
    [
        "YS V8 的滤芯三个月换一次[1]，59 块。",
        "1. 每片 59 元。\n2. 满 1000 元包邮。[12]",
        "滤芯要换。",
    ],
)
def test_what_the_ground_says_in_other_words_is_not_made_up(reply: str) -> None:
    assert find_unfounded(reply, [GROUND]) == ()


@pytest.mark.parametrize(
    ("reply", "made_up"),
    [
        ("每片 69 元。", ("69 元",)),
        ("YS-V9 的滤芯 59 元。", ("ysv9",)),
        ("6 个月换一次。", ("6 months",)),
        ("需要 4 个。", ("4 count",)),
    ],
)
def test_a_number_with_a_unit_or_a_code_that_nothing_holds_is_made_up(reply: str, made_up: tuple[str, ...]) -> None:
    assert find_unfounded(reply, [GROUND]) == made_up


def test_the_question_is_a_ground() -> None:
    assert find_unfounded("您说的 98 平方米", ["我家 98 平米", GROUND]) == ()


def test_rows_are_counted_but_not_made_up() -> None:
    assert find_unfounded("共 4 张 [SQL]", ["59 元"], rows=True) == ()
    assert find_unfounded("共 4 张，69 元 [SQL]", ["59 元"], rows=True) == ("69 元",)


def test_a_source_stands_for_the_chunk_that_holds_its_words() -> None:
    first, second = chunk("a", "三个月换一次。每片 59 元。"), chunk("b", "滤芯怎么洗。")
    other = chunk("c", "每片 59 元。", "价格")
    everything = [first, second, other]
    assert find_cited_chunks(source("每片 59 元。"), everything) == [first]
    assert find_cited_chunks(source("换一次\n每片 59 元。"), everything) == [first]
    assert find_cited_chunks(source("put together anew"), everything) == [first, second]
    assert find_cited_chunks(source("能洗", "能洗吗"), [chunk("q", "能洗。", question="能洗吗")]) != []


def test_rows_and_the_page_are_texts_too() -> None:
    row = RowSource("orders", "YD1", {"amount": "47 元"})
    assert list_cited_texts([row, source("", index=0)], [], "页面") == ["YD1；47 元", "页面"]


def test_values_of_a_row_are_not_read_as_one() -> None:
    row = RowSource("order_items", "7", {"quantity": "1", "price": "599", "mail": "m***@example.com"})
    assert find_unfounded("1 件，单价 599 元 [SQL]", list_cited_texts([row], [], "")) == ()
