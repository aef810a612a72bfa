from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.evaluation.dialogues import Dialogue, TurnKind, build_row, read_dialogues
from app.evaluation.transfer import MAX_ROWS, read_file, write_jsonl, write_table
from knowledge.errors import DocumentTooLarge, InvalidDocument
from tests.sheets import read_here

PROPERTY = Path(__file__).resolve().parents[2] / "evaluation" / "property" / "dialogues.jsonl"


async def read(content: bytes) -> list[Dialogue]:
    cases, refused = await read_file(content, read_here)
    assert refused == []
    return [case.dialogue for case in cases]


async def test_the_files_of_the_evaluation_go_in_and_come_out_as_they_were() -> None:
    dialogues = list(read_dialogues(PROPERTY))
    assert await read(PROPERTY.read_bytes()) == dialogues
    assert await read(write_jsonl(dialogues)) == dialogues


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx"])
async def test_a_table_keeps_all_but_pages(name: str) -> None:
    dialogues = [
        replace(one, turns=tuple(replace(turn, page=None) for turn in one.turns)) for one in read_dialogues(PROPERTY)
    ][:40]
    assert [build_row(one) for one in await read(write_table(name, dialogues)[0])] == [
        build_row(one) for one in dialogues
    ]


async def test_a_table_that_a_person_writes_is_read_by_its_columns() -> None:
    table = (
        "问题,应当,要说到,来源,编号\n"
        '退货要几天,,"7天|七天\n质量问题|a\\|b",退换货|售后,\n'
        "你好,Chat,,,\n"
        "怎么退款,answer|refuse,,,c1\n"
        "那要多久,,,,c1\n"
    )
    single, greeting, talk = await read(table.encode("gbk"))
    assert single.turns[0].expect.kinds == {TurnKind.ANSWER}
    assert single.turns[0].expect.must_any == (("7天", "七天"), ("质量问题", "a|b"))
    assert single.turns[0].expect.sources == ("退换货", "售后")
    assert greeting.turns[0].expect.kinds == {TurnKind.CHAT}
    assert (talk.id, [turn.say for turn in talk.turns]) == ("c1", ["怎么退款", "那要多久"])


async def test_a_single_question_needs_no_turns_and_bad_rows_are_named() -> None:
    rows = [
        json.dumps({"question": " 运费谁出 ", "expect": {"kind": "answer", "must_any": ["商家"], "documents": "d1"}}),
        "{",
        json.dumps({"question": "甲", "turns": [{"say": "乙"}]}),
        json.dumps({"id": "有空 格", "question": "甲"}),
        json.dumps({"question": "甲", "expect": {"kind": ["answers"]}}),
        json.dumps({"turns": [{"say": "甲", "expect": {"must_any": [[]]}}]}),
        "[]",
        json.dumps({"id": "b", "answer": "多余"}),
    ]
    (case,), refused = await read_file("\n".join(rows).encode(), read_here)
    assert (case.dialogue.turns[0].say, case.dialogue.turns[0].expect.documents) == ("运费谁出", ("d1",))
    assert case.dialogue.turns[0].expect.must_any == (("商家",),)
    assert [one.row for one in refused] == [2, 3, 4, 5, 6, 7, 8]
    assert all(one.message for one in refused)


async def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(InvalidDocument):
        await read_file(b"\x89PNG\r\n\0\0", read_here)


async def test_a_line_that_is_nested_too_deep_is_refused_alone_and_too_many_lines_as_a_whole() -> None:
    deep = b'{"question": ' * 100_000
    cases, refused = await read_file(b'{"question": "x"}\n' + deep, read_here)
    assert (len(cases), [one.row for one in refused]) == (1, [2])
    with pytest.raises(DocumentTooLarge):
        await read_file(b"{}\n" * (MAX_ROWS + 1), read_here)
