from __future__ import annotations

import json
from typing import Any

import pytest

from knowledge.blocks import Block
from knowledge.errors import BrokenDocument, EmptyDocument, InvalidDocument
from knowledge.parsing.registry import parse
from knowledge.types import FaqPair, ParsedDocument


def read(value: Any) -> ParsedDocument:
    return parse("导出.json", json.dumps(value, ensure_ascii=False).encode())


def test_records_of_questions_and_answers_are_pairs() -> None:
    records = [{"question": "能退吗？", "answer": "签收后 7 天内可以。", "similar_questions": ["可以退货吗", "怎么退"]}]
    expected = (FaqPair("能退吗？", "签收后 7 天内可以。", ("可以退货吗", "怎么退")),)
    assert read(records).faqs == expected
    assert read({"data": {"faqs": records}}).faqs == expected


def test_an_object_of_questions_is_pairs_too() -> None:
    parsed = read({"怎么退货？": "在订单页点申请退货即可。", "运费谁出？": "质量问题由我们承担运费。"})
    assert parsed.faqs[1] == FaqPair("运费谁出？", "质量问题由我们承担运费。")


def test_short_records_are_rows() -> None:
    parsed = read([{"代码": "E05", "含义": "主刷缠绕", "次数": 1.5}, {"代码": "E06", "含义": "电量低", "备注": None}])
    assert [block.text for block in parsed.blocks] == [
        "代码：E05；含义：主刷缠绕；次数：1.5",
        "代码：E06；含义：电量低",
    ]


def test_long_records_are_sections_under_what_they_are_called() -> None:
    body = "签收后七天内可以申请退货。" * 10
    parsed = read([{"id": 1, "name": "退货", "body": body}, {"id": 2, "name": "换货", "body": "同上", "open": True}])
    assert parsed.blocks == (
        Block("id：1", ("退货",)),
        Block(f"body：{body}", ("退货",)),
        Block("id：2", ("换货",)),
        Block("body：同上", ("换货",)),
        Block("open：true", ("换货",)),
    )


def test_nested_keys_are_headings_and_very_deep_ones_are_kept() -> None:
    value: Any = "底"
    for key in "壬辛庚己戊丁丙乙甲":
        value = {key: value}
    (block,) = read(value).blocks
    assert block.heading_path[:3] == ("甲", "乙", "丙")
    assert "底" in block.text


def test_numbers_stay_as_they_are_written() -> None:
    assert parse("a.json", b'{"price": 1.50, "id": 12345678901234567890}').blocks == (
        Block("price：1.50"),
        Block("id：12345678901234567890"),
    )


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_a_record_a_line(name: str) -> None:
    content = '{"q":"能退吗","a":"可以"}\n\n{"q":"能换吗","a":"不能"}\n'.encode()
    assert parse(name, content).faqs == (FaqPair("能退吗", "可以"), FaqPair("能换吗", "不能"))


@pytest.mark.parametrize(
    ("content", "place"), [(b'{"a": 1,}', "第 1 行第 9 个字"), (b'{"a":1}\n{"a":2}\n{"a":}\n', "第 3 行第 6 个字")]
)
def test_a_mistake_is_told_with_its_place(content: bytes, place: str) -> None:
    with pytest.raises(BrokenDocument, match=place):
        parse("a.json", content)


def test_nothing_to_read_is_empty() -> None:
    values: list[Any] = [{}, [], None, [{}], {"a": ""}]
    for value in values:
        with pytest.raises(EmptyDocument):
            read(value)


def test_brackets_without_end_are_refused() -> None:
    with pytest.raises(InvalidDocument):
        parse("a.json", b"[" * 10**6)
