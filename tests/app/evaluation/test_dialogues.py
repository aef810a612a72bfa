from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from app.evaluation.dialogues import TurnKind, read_dialogues
from knowledge.errors import InvalidConfiguration
from tests.knowledge.evaluation.files import write_rows

PROPERTY = Path(__file__).resolve().parents[2] / "evaluation" / "property" / "dialogues.jsonl"


def turn(**fields: Any) -> dict[str, Any]:
    return {"say": "退货要几天", "page": None, "tag": "first", "expect": {"kind": ["answer"]}} | fields


def written(folder: Path, *turns: dict[str, Any], **fields: Any) -> Path:
    return write_rows(folder / "dialogues.jsonl", [{"id": "c1", "user_id": None, "turns": turns} | fields])


def test_a_conversation_has_labelled_turns(tmp_path: Path) -> None:
    page = {"url": "https://shop.example/a", "title": "净水器"}
    expect = {"kind": ["answer", "refuse"], "must_any": [["7天", "七天"]], "must_not": ["15天"], "source": ["退货"]}
    path = written(tmp_path, turn(), turn(say="那这个呢", page=page, expect=expect), user_id="M0001")
    (dialogue,) = read_dialogues(path)
    first, second = dialogue.turns
    assert (dialogue.user_id, first.id, second.id, first.page) == ("M0001", "c1.1", "c1.2", None)
    assert second.page is not None
    assert second.page.title == "净水器"
    assert second.expect.kinds == {TurnKind.ANSWER, TurnKind.REFUSE}
    assert second.expect.must_any == (("7天", "七天"),)
    assert (second.expect.must_not, second.expect.sources) == (("15天",), ("退货",))


def test_dates_of_orders_move_with_the_day(tmp_path: Path) -> None:
    (dialogue,) = read_dialogues(written(tmp_path, turn(say="订单 YD{d-2}00116 和 {d-0}")))
    assert dialogue.turns[0].fill_dates(date(2026, 3, 1)) == "订单 YD2026022700116 和 20260301"


@pytest.mark.parametrize(
    "wrong",
    [
        turn(expect={"kind": ["answers"]}),
        turn(expect={"kind": []}),
        turn(expect={}),
        turn(page={"address": "https://shop.example"}) | {"page": {"title": 3}},
        {"tag": "first", "expect": {"kind": ["answer"]}},
    ],
)
def test_a_turn_that_is_written_wrong_is_named(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidConfiguration, match=r"c1\.2"):
        read_dialogues(written(tmp_path, turn(), wrong))


def test_conversations_need_turns_and_ids_of_their_own(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match="c1 没有内容"):
        read_dialogues(written(tmp_path))
    row = {"id": "c1", "turns": [turn()]}
    with pytest.raises(InvalidConfiguration, match="重复的对话：c1"):
        read_dialogues(write_rows(tmp_path / "twice.jsonl", [row, row]))
    with pytest.raises(InvalidConfiguration, match="没有对话"):
        read_dialogues(write_rows(tmp_path / "empty.jsonl", []))


def test_the_property_company_has_60_conversations() -> None:
    dialogues = read_dialogues(PROPERTY)
    assert (len(dialogues), sum(len(dialogue.turns) for dialogue in dialogues)) == (60, 374)
