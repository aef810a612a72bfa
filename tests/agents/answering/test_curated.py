from __future__ import annotations

from agents.answering.curated import cut_curated_answer
from agents.generator import Request
from agents.passages.units import MAX_PROCEDURE_CHARS
from tests.agents.support import candidate, retrieval

LONG = (
    "可以。签收后七天内可以申请退货。商品要保持完好，配件、赠品和说明书要齐全，并已从 App 中解绑。"
    "无理由退货的运费由您承担，首重 12 元，续重每公斤 2 元。质量问题的运费由我们承担，由快递员上门取件。"
    "退款在验货后一到五个工作日内原路退回，节假日顺延。大件商品请先预约上门拆机，拆机费按服务价目表收取。"
)


def shown(question: str, text: str) -> tuple[str, str]:
    found = retrieval(question, candidate(text, question="能退货吗", entry="q1"))
    return cut_curated_answer(Request(question, found.passing_candidates, found.terms, found.idf))


def test_a_short_answer_is_given_as_it_stands() -> None:
    assert shown("能退货吗", "可以。\n请在 7 天内申请。") == ("可以。\n请在 7 天内申请。",) * 2


def test_a_long_one_is_cut_to_what_was_asked_with_its_verdict() -> None:
    text, quote = shown("退货的运费要多少钱", LONG)
    assert text == quote
    assert text.startswith("可以。")
    assert "首重 12 元" in text
    assert len(text) <= MAX_PROCEDURE_CHARS + 5


def test_whoever_asks_for_the_way_gets_all_of_it() -> None:
    assert shown("怎么退货", LONG) == (LONG, LONG)
