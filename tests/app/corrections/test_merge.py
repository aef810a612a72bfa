from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.corrections.merge import apply_corrections, merge_text
from app.corrections.types import ChunkCorrection, ChunkEdit, OriginalPassage
from knowledge.text import fold
from knowledge.types import Chunk, CorrectionState, DocumentMeta

_AT = datetime(2026, 1, 1, tzinfo=UTC)
META = DocumentMeta("d", "说明.md", "说明")
LONG = "本店支持到店自提。提货时请出示订单号和手机尾号，提货时间为每天九点到二十一点。逾期三天未提的订单会自动退款。"


def chunk(text: str, ordinal: int = 0, heading: tuple[str, ...] = (), question: str | None = None) -> Chunk:
    return Chunk(f"v-{ordinal}", META, ordinal, text, heading, question=question, entry=f"v-{ordinal}")


def correction(
    text: str, edit: ChunkEdit, ordinal: int = 0, heading: tuple[str, ...] = (), question: str | None = None
) -> ChunkCorrection:
    old = OriginalPassage(text, heading, question, ordinal)
    return ChunkCorrection(f"c{ordinal}", "d", old, edit, "", "", CorrectionState.APPLIED, _AT, _AT)


def test_the_same_passage_takes_its_correction_wherever_it_stands() -> None:
    made = apply_corrections([correction(LONG, ChunkEdit(text="改过"))], [chunk("前言", 0), chunk(f" {LONG} ", 1)], "b")
    assert [one.text for one in made.chunks] == ["前言", "改过"]
    assert (made.by, made.states, made.basis) == ({"v-1": "c0"}, {"c0": "applied"}, "b")
    assert made.rebased["c0"][0].ordinal == 1


def test_of_equal_passages_the_one_below_the_same_heading_is_meant() -> None:
    made = apply_corrections(
        [correction("见下表。", ChunkEdit(excluded=True), 2, ("运费",))],
        [chunk("见下表。", 1, ("退货",)), chunk("见下表。", 5, ("运费",)), chunk("正文", 6)],
        "",
    )
    assert [one.ordinal for one in made.excluded] == [5]
    assert [one.ordinal for one in made.chunks] == [1, 6]


def test_a_corrected_place_is_corrected_in_a_passage_that_changed_elsewhere() -> None:
    new = LONG.replace("逾期三天", "逾期七天")
    wanted = LONG.replace("二十一点", "二十二点")
    made = apply_corrections([correction(LONG, ChunkEdit(text=wanted))], [chunk(f"自提说明。{new}")], "")
    assert [one.text for one in made.chunks] == [f"自提说明。{new}".replace("二十一点", "二十二点")]
    assert made.rebased["c0"][1] == made.chunks[0].text


def test_a_number_that_changed_where_it_was_corrected_is_left_and_said() -> None:
    wanted, new = LONG.replace("三天", "五天"), LONG.replace("三天", "七天")
    made = apply_corrections([correction(LONG, ChunkEdit(text=wanted))], [chunk(new)], "")
    assert [one.text for one in made.chunks] == [new]
    assert made.states == {"c0": CorrectionState.UNMATCHED} and not made.by


def test_a_document_that_says_by_itself_what_was_corrected_needs_no_correction() -> None:
    wanted = LONG.replace("三天", "五天")
    made = apply_corrections([correction(LONG, ChunkEdit(text=wanted))], [chunk(wanted)], "")
    assert made.states == {"c0": CorrectionState.ADOPTED} and made.chunks[0].text == wanted and not made.by


@pytest.mark.parametrize(("new", "left_out"), [(LONG.replace("本店", "我店"), 1), (LONG.replace("三天", "3天"), 0)])
def test_what_is_excluded_stays_so_while_it_says_the_same_with_the_same_numbers(new: str, left_out: int) -> None:
    old = LONG.replace("三天", "2天") if left_out == 0 else LONG
    made = apply_corrections([correction(old, ChunkEdit(excluded=True))], [chunk(new), chunk("别的", 1)], "")
    assert len(made.excluded) == left_out


def test_all_wordings_of_a_question_take_its_correction() -> None:
    first, second = chunk("三天", 0, question="多久到"), chunk("三天", 1, question="几天到")
    entry = [first, Chunk(second.id, META, 1, "三天", question="几天到", entry=first.entry)]
    old = correction("三天", ChunkEdit(text="五天"), question="几天到")
    made = apply_corrections([old], [*entry, chunk("三天", 2, question="退款多久")], "")
    assert [one.text for one in made.chunks] == ["五天", "五天", "三天"]


def test_changes_at_the_ends_of_a_text_are_merged_too() -> None:
    assert merge_text("甲乙丙丁", "头甲乙丙丁尾", "前面。甲乙丙丁") == "前面。头甲乙丙丁尾"
    assert merge_text("甲乙丙丁", "甲乙丙", "戊己庚辛") is None


def test_every_passage_is_read_a_few_times_however_many_corrections_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = 0

    def counted(text: str) -> str:
        nonlocal reads
        reads += 1
        return fold(text)

    monkeypatch.setattr("app.corrections.merge.fold", counted)
    corrections = [correction(f"{LONG} 旧 {number}", ChunkEdit(text="改过"), number) for number in range(20)]
    chunks = [chunk(f"第 {number} 条说的是别的事。", number) for number in range(200)]
    assert not apply_corrections(corrections, chunks, "").by
    assert reads <= 5 * (len(corrections) + len(chunks))
