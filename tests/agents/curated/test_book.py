from __future__ import annotations

import numpy as np

from agents.curated.agent import MIN_SIMILAR_PROBABILITY
from agents.curated.book import MOST, SURE, Book, list_wordings
from agents.types import Button, CuratedEntry, MatchStage
from knowledge.types import Matrix, Vector

RETURNS = CuratedEntry(
    "r", "七天内可以退。", ("拆封的商品能退吗", "打开过包装还能退吗"), (Button("退货", "https://a.b"),)
)
FEES = CuratedEntry("f", "运费由我们出。", ("退货的运费谁出",))
TYPICAL = np.zeros(4, np.float32)
AXES: Matrix = np.eye(4, dtype=np.float32)


def book(entries: list[CuratedEntry], vectors: Matrix | None = None) -> Book:
    return Book(entries, list_wordings(entries), vectors, TYPICAL, revision=7)


def between(one: int, other: int, share: float) -> Vector:
    mixed: Vector = share * AXES[one] + (1 - share) * AXES[other]
    return mixed


def test_a_wording_decides_whatever_its_spelling_and_politeness() -> None:
    shelf = book([RETURNS, FEES])
    question, variant = shelf.find_by_wording("请问，拆封的商品能退吗？"), shelf.find_by_wording("打开过包装還能退嗎")
    assert question is not None and variant is not None
    assert (question.entry, question.stage, question.probability) == (RETURNS, MatchStage.EXACT, SURE)
    assert (variant.entry, variant.stage, variant.revision) == (RETURNS, MatchStage.VARIANT, 7)
    assert shelf.find_by_wording("拆封的商品不能退吗") is None
    assert shelf.find_similar("拆封的商品能退吗", AXES[0]) is None  # without vectors nothing is alike


def test_what_is_near_and_has_no_rival_is_likely() -> None:
    shelf = book([RETURNS, FEES], AXES[[0, 1, 2]])
    near, far = shelf.find_similar("拆封的商品还能退吗", AXES[0]), shelf.find_similar("怎么开发票", AXES[3])
    assert near is not None and near.stage is MatchStage.SIMILAR and near.entry is RETURNS
    assert MIN_SIMILAR_PROBABILITY <= near.probability <= MOST < SURE
    assert far is None or far.probability < MIN_SIMILAR_PROBABILITY / 2


def test_an_entry_that_says_something_else_beside_it_makes_it_unlikely() -> None:
    rival = CuratedEntry("x", "拆封后不退。", ("拆封的商品可以退吗",))
    twin = CuratedEntry("y", RETURNS.answer, rival.wordings)
    vector, vectors = between(0, 2, 0.5), AXES[[0, 1, 2]]
    alone = book([RETURNS, twin], vectors).find_similar("拆封商品退吗", vector)
    beside = book([RETURNS, rival], vectors).find_similar("拆封商品退吗", vector)
    assert alone is not None and beside is not None
    assert beside.margin < alone.margin and beside.probability < MIN_SIMILAR_PROBABILITY < alone.probability


def test_nothing_similar_is_given_for_the_opposite_another_number_or_another_model() -> None:
    entries = [
        CuratedEntry("a", "可以关。", ("怎么关闭自动续费",)),
        CuratedEntry("b", "两年。", ("YS-V8 保修几年",)),
        CuratedEntry("c", "能。", ("7天内能退吗",)),
    ]
    shelf = book(entries, AXES[[0, 1, 2]])
    for text, place in (
        ("怎么打开自动续费", 0),
        ("YS-V9 保修几年", 1),
        ("15天内能退吗", 2),
        ("7天内不能退吗", 2),
    ):
        assert shelf.find_similar(text, AXES[place]) is None
    assert shelf.find_similar("如何关闭自动续费", AXES[0]) is not None


def test_a_lone_entry_is_not_the_answer_to_everything() -> None:
    shelf = book([FEES], AXES[[0]])
    found = shelf.find_similar("你们几点下班", AXES[1])
    assert found is None or found.probability < 0.5


def test_nothing_similar_is_given_for_one_word_in_the_place_of_another() -> None:
    shelf = book([CuratedEntry("d", "在设置里。", ("怎么绑定手机号",))], AXES[[0]])
    assert shelf.find_similar("怎么解绑手机号", AXES[0]) is None
    near = shelf.find_similar("手机号如何绑定", AXES[0])
    assert near is not None and near.probability >= MIN_SIMILAR_PROBABILITY


def test_an_entry_with_many_wordings_does_not_hide_another_one_that_is_as_near() -> None:
    many = CuratedEntry("m", "发货前能改。", tuple(f"地址填错了怎么改{place}" for place in "甲乙丙丁戊己庚辛" * 5))
    rival = CuratedEntry("r", "改不了。", ("地址填错了还能改么请说明",))
    vectors = np.concatenate([np.repeat(AXES[[0]], 40, axis=0), [between(0, 1, 0.9)]]).astype(np.float32)
    found = book([many, rival], vectors).find_likeness("地址填错了怎么改甲呢", AXES[0])
    assert found is not None and found.wording < 40
    assert found.margin < found.meaning
