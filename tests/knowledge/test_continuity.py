from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from knowledge.continuity import (
    FEATURES,
    QUESTIONS,
    WEIGHTS,
    Odds,
    Readings,
    build_contextual_message,
    compute_features,
    is_continued,
    weigh_candidates,
)
from knowledge.types import Candidate, Chunk, Context, GateVerdict
from tests.knowledge.builders import Base, base_of, chunk, document, faq

BEFORE = ("保修多久", "手表怎么退货", "表带能换吗")
EARPHONES, WATCH, NOTICE = document("earphones"), document("watch"), document("notice")
IN_WATCH = Context(("手表怎么充电",), "", frozenset({"watch"}), frozenset({("watch", "")}))


def column(table: np.ndarray[tuple[int, ...], np.dtype[np.float64]], name: str) -> list[float]:
    return [float(value) for value in table[:, FEATURES.index(name)]]


def readings(alone: Sequence[float], behind: Sequence[float], coverage: Sequence[float] = ()) -> Readings:
    return Readings(np.array(alone), np.array(behind), np.array(coverage or [0.0] * len(alone)))


def order(text: str, chunks: Sequence[Chunk], read: Readings, context: Context) -> list[int]:
    odds = Odds.from_probabilities([0.5] * len(chunks), [0.5] * len(chunks))
    return weigh_candidates(text, chunks, read, context, odds)[0]


def test_a_message_is_told_behind_the_last_questions() -> None:
    assert build_contextual_message("多少钱", Context(BEFORE)) == "手表怎么退货 表带能换吗 多少钱"
    assert len(BEFORE) > QUESTIONS


def test_a_message_is_told_behind_the_article_that_was_talked_about() -> None:
    assert build_contextual_message("多少钱", Context(BEFORE, "手表手册")) == "手表手册 表带能换吗 多少钱"


def test_what_is_found_by_itself_and_stands_out_probably_answers() -> None:
    chunks = [chunk("a", "甲", WATCH), chunk("b", "乙", EARPHONES)]
    sure = weigh_candidates(
        "那呢", chunks, readings([2.0, -2.0], [2.0, -2.0]), IN_WATCH, Odds.from_probabilities([0.95, 0.1], [0.95, 0.1])
    )[1]
    open_ = weigh_candidates(
        "那呢", chunks, readings([0.0, 0.0], [0.0, 0.0]), IN_WATCH, Odds.from_probabilities([0.2, 0.2], [0.2, 0.2])
    )[1]
    assert 1 > sure[0] > open_.max() > 0 and sure.shape == (2,)


def test_a_message_with_nothing_before_it_is_told_as_it_stands() -> None:
    assert build_contextual_message("多少钱", Context()) == "多少钱"


def test_every_candidate_has_every_feature() -> None:
    chunks = [chunk("a", "甲", WATCH), chunk("b", "乙", EARPHONES), faq("c", "丙吗", "丙。", "c", WATCH)]
    table = compute_features("那呢", chunks, readings([0.1, 0.2, 0.3], [0.4, 0.5, 0.6]), IN_WATCH)
    assert table.shape == (3, len(FEATURES)) and WEIGHTS.shape == (len(FEATURES),)
    assert (column(table, "alone"), column(table, "told")) == ([0.1, 0.2, 0.3], [0.4, 0.5, 0.6])


def test_a_place_counts_by_how_lately_it_was_cited() -> None:
    context = Context(
        ("问",), "", frozenset({"watch"}), frozenset({("watch", ""), ("faq", "丙吗")}), frozenset({"watch", "notice"})
    )
    chunks = [chunk("a", "甲", WATCH), chunk("b", "乙", NOTICE), chunk("c", "丙", EARPHONES)]
    table = compute_features("那呢", chunks, readings([0.0] * 3, [0.0] * 3), context)
    assert column(table, "same document") == [1, 0, 0]
    assert column(table, "earlier document") == [0, 1, 0]
    assert column(table, "same section") == [1, 0, 0]


def test_curated_entries_of_one_file_share_no_subject() -> None:
    entries = [faq("a", "怎么退货", "在订单里。", "a", WATCH), faq("b", "怎么换货", "也在订单里。", "b", WATCH)]
    context = Context(("怎么退货",), "", frozenset({"watch"}), frozenset({entries[0].section}))
    table = compute_features("那呢", entries, readings([0.0] * 2, [0.0] * 2), context)
    assert column(table, "same document") == [0, 0]
    assert column(table, "same section") == [1, 0]


def test_what_is_short_leans_more_on_what_was_said() -> None:
    chunks = [chunk("a", "甲", WATCH)]
    short, long = (
        column(compute_features(text, chunks, readings([0.0], [1.0]), IN_WATCH), "told, short")[0]
        for text in ("多少钱", "我想知道这一款的表带在门店里能不能换")
    )
    assert 0 < long < 0.5 < short < 1


@pytest.mark.parametrize("alone", [[9.0, -9.0], [-9.0, 9.0], [0.0, 0.0]])
def test_no_advantage_is_without_bound(alone: list[float]) -> None:
    chunks = [chunk("a", "甲", WATCH), chunk("b", "乙", EARPHONES)]
    table = compute_features("那呢", chunks, readings(alone, [0.0] * 2), IN_WATCH)
    assert -1 <= column(table, "same document, advantage of others")[0] <= 1


def test_equal_readings_are_decided_by_where_the_conversation_is() -> None:
    chunks = [chunk("a", "充电约一小时", EARPHONES), chunk("b", "充电约两小时", WATCH)]
    assert order("要多久", chunks, readings([0.2, 0.2], [0.5, 0.5]), IN_WATCH) == [1, 0]


def test_a_message_that_says_its_own_subject_leaves_the_conversation() -> None:
    chunks = [chunk("a", "耳机充电约一小时", EARPHONES), chunk("b", "手表充电约两小时", WATCH)]
    alone, behind = [1.5, 0.0], [0.9, 0.8]
    assert order("耳机充满电要多久时间", chunks, readings(alone, behind, [1.0, 0.5]), IN_WATCH) == [0, 1]


async def found(base: Base, text: str, context: Context) -> tuple[Candidate, ...]:
    return (await base.retriever().search(text, context=context)).candidates


async def test_a_follow_up_finds_what_the_conversation_is_about() -> None:
    base = await base_of(
        chunk("c0", "手表充电约两小时，可以使用七天。", WATCH),
        chunk("c1", "耳机充电约一小时，可以使用一天。", EARPHONES),
        chunk("c2", "发票在订单完成后可以在线申请。", NOTICE),
    )
    of_watch = Context(("手表能防水吗",), "", frozenset({"watch"}))
    of_earphones = Context(("耳机能防水吗",), "", frozenset({"earphones"}))
    assert (await found(base, "充电呢", of_watch))[0].chunk.id == "c0"
    assert (await found(base, "充电呢", of_earphones))[0].chunk.id == "c1"
    assert (await found(base, "订单完成后发票怎么在线申请", of_watch))[0].chunk.id == "c2"
    await base.close()


async def test_a_conversation_lends_confidence_to_what_leans_on_it_alone() -> None:
    base = await base_of(chunk("c0", "手表充电约两小时。", WATCH), chunk("c1", "发票可以在线申请。", NOTICE))
    retriever = base.retriever()
    first = await retriever.search("手表充电约两小时吗")
    assert first.confidence > 0.6
    later = await retriever.search("两年呢", context=IN_WATCH)
    assert (await retriever.search("两年呢")).confidence < later.confidence
    await base.close()


async def test_a_base_of_few_passages_does_not_answer_whatever_is_asked_in_a_conversation() -> None:
    """The best of two is far ahead of the other one, and about something else all the same."""
    base = await base_of(
        chunk("c0", "手表充电约两小时，可以使用七天。", WATCH),
        chunk("c1", "质量问题的退货运费由商家承担，无理由退货由顾客承担。", NOTICE),
    )
    before = Context(("木琴斑马量子",))
    assert (await base.retriever().search("长号长颈鹿", context=before)).verdict is GateVerdict.REFUSE
    assert (await base.retriever().search("退货运费由谁承担", context=before)).verdict is GateVerdict.PASS
    await base.close()


@pytest.mark.parametrize(
    ("alone", "expected"),
    [([0.2, 0.1], True), ([0.2, 0.7], True), ([0.2, 1.0], False)],
)
def test_talk_goes_on_with_the_article_that_was_cited_unless_another_is_clearly_nearer(
    alone: list[float], expected: bool
) -> None:
    read, chunks = readings(alone, [9.0, 0.0]), [chunk("a", "甲", WATCH), chunk("b", "乙", EARPHONES)]
    assert is_continued(chunks, read, IN_WATCH) is expected
    assert not is_continued(chunks, read, Context(("手表怎么充电",)))  # nothing was cited
    curated = [chunks[0], faq("b", "乙吗", "乙。", "b", EARPHONES)]
    assert is_continued(curated, read, IN_WATCH)  # an entry is no other article
    assert not is_continued([faq("a", "甲吗", "甲。", "a", WATCH), chunks[1]], read, IN_WATCH)
