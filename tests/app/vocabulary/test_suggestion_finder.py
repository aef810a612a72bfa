from __future__ import annotations

from app.vocabulary.suggestion_finder import find_suggestions
from knowledge.text import Analyzer
from knowledge.types import Chunk, DocumentMeta
from knowledge.vocabulary import VocabularyKind

TEXTS = (
    "打开笙豆云朵的盖子，倒入清水。",
    "笙豆云朵支持上门安装。",
    "购买笙豆云朵后七天内可以退货。",
    "如果笙豆云朵不工作，请先检查电源。",
    "给笙豆云朵充电要用原装的 YD-300 充电器。",
    "换电池时，YD-300 充电器要先拔下。",
    "笙豆云朵，适合三十平方米的房间。",
)
DOCUMENT = DocumentMeta("d", "说明.md", "笙豆云朵净化仓")
CHUNKS = [Chunk(str(place), DOCUMENT, place, text, entry=str(place)) for place, text in enumerate(TEXTS)]
ASKED = [("豆净仓多少钱", 3), ("sdyd 怎么清洗", 2), ("天气怎么样", 9), ("云仓在哪", 1)]


def found(*known: str) -> dict[tuple[VocabularyKind, str], tuple[tuple[str, ...], int]]:
    made = find_suggestions(CHUNKS, Analyzer(), ASKED, known)
    return {(one.kind, one.term): (one.others, one.count) for one in made}


def test_words_that_are_cut_models_and_short_names_of_missed_questions_are_suggested() -> None:
    assert found() == {
        (VocabularyKind.WORD, "笙豆云朵"): ((), 12),
        (VocabularyKind.PROTECTED, "YD-300"): ((), 2),
        (VocabularyKind.ABBREVIATION, "豆净仓"): (("笙豆云朵净化仓",), 3),
        (VocabularyKind.ABBREVIATION, "sdyd"): (("笙豆云朵净化仓",), 2),
    }


def test_what_the_vocabulary_has_is_not_suggested_again() -> None:
    assert not {"笙豆云朵", "YD-300", "sdyd"} & {term for _, term in found("笙豆云朵", "yd-300", "SDYD")}
