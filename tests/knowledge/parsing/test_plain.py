"""Plain text: encodings, hard wraps, titles."""

from __future__ import annotations

import pytest

from knowledge.blocks import Block
from knowledge.errors import HostileDocument, WrongEncoding
from knowledge.parsing.registry import parse
from knowledge.types import FaqPair, ParsedDocument

_SENTENCE = "签收后七天内，商品完好的可以申请退货，运费由买家承担。"


def text(content: str) -> ParsedDocument:
    return parse("说明.txt", content.encode())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "gbk", "utf-16", "utf-16-le", "utf-16-be"])
def test_usual_encodings(encoding: str) -> None:
    assert parse("a.txt", _SENTENCE.encode(encoding)).blocks[0].text == _SENTENCE


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "content", ["退货说明\r\n七天内可以退货。", "Returns within 7 days.\r\n", "型号,价格\nH30,399"]
)
def test_utf_16_without_a_byte_order_mark(encoding: str, content: str) -> None:
    expected = content.replace("\r\n", "\n").strip().split("\n")
    assert [block.text for block in parse("a.txt", content.encode(encoding)).blocks] == expected
    assert parse("a.csv", "问题,答案\n能退吗？,可以。\n".encode(encoding)).faqs == (FaqPair("能退吗？", "可以。"),)


@pytest.mark.parametrize("encoding", ["big5", "gb18030"])
def test_traditional_chinese(encoding: str) -> None:
    content = "這是一段繁體中文的說明，請確認退貨流程與運費由買家承擔。" * 3
    assert parse("a.txt", content.encode(encoding)).blocks[0].text == content


def test_english_with_windows_quotes() -> None:
    assert parse("a.txt", "Don’t worry — it’s free".encode("cp1252")).blocks[0].text == "Don’t worry — it’s free"


@pytest.mark.parametrize("content", [_SENTENCE.encode()[:-1], b"\x80\xfe\xff" * 50, _SENTENCE.encode("utf-16")[:-1]])
def test_undecodable_text_is_refused_rather_than_guessed(content: bytes) -> None:
    with pytest.raises(WrongEncoding, match="UTF-8"):
        parse("乱码.txt", content)


@pytest.mark.parametrize("content", ["退货\0说明".encode(), "退货\0说明".encode("utf-16")])
@pytest.mark.parametrize("suffix", [".txt", ".md", ".csv", ".html"])
def test_nul_is_hostile(content: bytes, suffix: str) -> None:
    with pytest.raises(HostileDocument, match="NUL"):
        parse(f"a{suffix}", content)


def test_lines_are_paragraphs_under_numbered_headings() -> None:
    parsed = text("港澳台配送说明\n\n一、范围\n香港、澳门\n台湾\n二、时效\n3 至 5 天。\n")
    assert parsed == ParsedDocument(
        "港澳台配送说明",
        (Block("香港、澳门", ("一、范围",)), Block("台湾", ("一、范围",)), Block("3 至 5 天。", ("二、时效",))),
    )


def test_first_line_that_is_prose_is_not_a_title() -> None:
    assert text("一共三条，如下\n\n正文。").title == "说明"
    assert text("第一行\n第二行").title == "说明"


def test_hard_wraps_are_undone() -> None:
    lines = [
        "签收之日起七天以内商品完好并且没有影响二次销售的可以",
        "申请无理由退货退款申请入口在订单详情页的右上角，请先",
        "登录。",
    ]
    assert [block.text for block in text("\n".join(lines) + "\n另一段。").blocks] == ["".join(lines), "另一段。"]


def test_list_items_are_not_joined() -> None:
    items = [f"{n}. 签收之日起七天以内商品完好并且没有影响二次销售的可以" for n in (1, 2)]
    assert [block.text for block in text("\n".join(items)).blocks] == items


def test_invisible_characters_are_dropped() -> None:
    assert text("退\u200b货\u202e说\x07明").blocks[0].text == "退货说明"
