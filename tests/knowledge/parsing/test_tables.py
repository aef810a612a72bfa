"""Spreadsheets and CSV: FAQ pairs and readable rows."""

from __future__ import annotations

import datetime
import io

import openpyxl
import pytest

from knowledge.blocks import Block
from knowledge.errors import DocumentTooLarge, HostileDocument
from knowledge.parsing.limits import ParsingLimits
from knowledge.parsing.registry import parse
from knowledge.types import FaqPair, NoticeCode
from tests.knowledge.parsing.files import texts_of
from tests.sheets import build_workbook

_FAQ: list[list[object]] = [
    ["标准问*", "回复", "相似问法", "分类"],
    ["能退吗？", "七天内可以。\n详见订单页。", "可以退货吗|能退吗？；怎么退\n退货", "售后"],
    ["没有答案", None, None, None],
]


def rows(name: str, content: bytes) -> list[str]:
    return [block.text for block in parse(name, content).blocks]


def test_question_and_answer_columns_become_faq_pairs() -> None:
    parsed = parse("常见问题.xlsx", build_workbook({"售后": _FAQ}))
    assert parsed.title == "常见问题"
    pair = FaqPair("能退吗？", "七天内可以。\n详见订单页。", ("可以退货吗", "怎么退", "退货"), "售后")
    assert parsed.faqs == (pair,)


def test_row_without_an_answer_is_not_lost() -> None:
    assert texts_of(parse("a.xlsx", build_workbook({"售后": _FAQ}))) == (Block("标准问*：没有答案", ("售后",)),)


@pytest.mark.parametrize("header", ["question,answer", "Q,A", "问题,答案", "提问,回答", "问题（必填）,答案"])
def test_headers_of_faq_files(header: str) -> None:
    assert parse("a.csv", f"{header}\n能退吗,可以\n".encode()).faqs == (FaqPair("能退吗", "可以"),)


def test_other_sheets_become_rows_under_the_name_of_the_sheet() -> None:
    content = build_workbook({"价格": [["型号", "价格", "备注"], ["H10", 199, None], ["H30", 399.5, "新品"]], "空": []})
    assert texts_of(parse("a.xlsx", content)) == (
        Block("型号：H10；价格：199", ("价格",)),
        Block("型号：H30；价格：399.5；备注：新品", ("价格",)),
    )


def test_caption_above_the_header_is_text() -> None:
    content = build_workbook(
        {"价格": [["配件价格表", None], [None, None], ["名称", "价格"], ["耳塞", "29 元"], ["线", "9 元"]]}
    )
    assert rows("a.xlsx", content) == ["配件价格表", "名称：耳塞；价格：29 元", "名称：线；价格：9 元"]


def test_merged_cells_repeat_downwards() -> None:
    content = build_workbook(
        {"保修": [["品类", "型号"], ["耳机", "H10"], [None, "H30"], ["手表", "W5"]]}, merged=["A2:A3"]
    )
    assert rows("a.xlsx", content) == ["品类：耳机；型号：H10", "品类：耳机；型号：H30", "品类：手表；型号：W5"]


def test_values_are_shown_as_in_the_sheet() -> None:
    book = openpyxl.Workbook()
    book.active.append(["折扣", "日期", "时间", "比例", "上架"])
    book.active.append([0.95, datetime.date(2025, 3, 1), datetime.datetime(2025, 3, 1, 9, 30), 0.1 + 0.2, True])
    book.active["A2"].number_format = "0%"
    hidden = book.create_sheet("内部")
    hidden.append(["不公开", "成本"])
    hidden.sheet_state = "hidden"
    buffer = io.BytesIO()
    book.save(buffer)
    assert rows("a.xlsx", buffer.getvalue()) == [
        "折扣：95%；日期：2025-03-01；时间：2025-03-01 09:30；比例：0.3；上架：TRUE"
    ]


def test_file_that_declares_huge_dimensions_is_read_by_its_cells() -> None:
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1"] = "甲", "乙"
    book.active["A200000"] = "丙"
    buffer = io.BytesIO()
    book.save(buffer)
    assert rows("a.xlsx", buffer.getvalue()) == ["甲；乙", "丙"]
    with pytest.raises(DocumentTooLarge, match="单元格"):
        parse("a.xlsx", buffer.getvalue(), ParsingLimits(max_cells=100_000))


def test_shared_string_used_often_is_counted_often() -> None:
    content = build_workbook({"表": [["说明", "备注"]] + [["长" * 10_000, "无"]] * 600})
    assert len(content) < 200_000
    with pytest.raises((DocumentTooLarge, HostileDocument)):
        parse("a.xlsx", content)


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_delimiter_is_found(delimiter: str) -> None:
    text = "\n".join(delimiter.join(row) for row in (("城市", "电话"), ("杭州", '"一, 二; 三"'), ("北京", "四")))
    assert rows("a.csv", text.encode())[0] == "城市：杭州；电话：一, 二; 三"


def test_gb18030_csv_from_excel() -> None:
    content = "问题,答案\r\n能退吗？,可以㐂。\r\n".encode("gb18030")
    assert parse("a.csv", content).faqs == (FaqPair("能退吗？", "可以㐂。"),)


def test_rows_without_a_header_are_values() -> None:
    assert rows("a.csv", "杭州,571\n北京,10\n".encode()) == ["杭州；571", "北京；10"]


def test_header_alone_is_text() -> None:
    assert rows("a.csv", "城市,电话\n".encode()) == ["城市；电话"]


def test_too_many_rows() -> None:
    with pytest.raises(DocumentTooLarge, match="10 行"):
        parse("a.csv", b"a,b\n" + b"x,y\n" * 20, ParsingLimits(max_rows=10))


def test_comma_in_an_answer_that_nobody_quoted_does_not_cut_it() -> None:
    parsed = parse("a.csv", "问题,答案\n桌子多重,约 8, 5 公斤\n能退吗,可以\n".encode())
    assert parsed.faqs == (FaqPair("桌子多重", "约 8, 5 公斤"), FaqPair("能退吗", "可以"))
    assert [notice.message[:5] for notice in parsed.notices if notice.code is NoticeCode.CELLS_JOINED] == ["第 2 行"]


def test_comma_in_an_answer_that_is_not_the_last_column_publishes_no_half_of_it() -> None:
    parsed = parse("a.csv", "问题,答案,分类\n桌子多重,约 8,5 公斤,售前\n能退吗,可以,售后\n".encode())
    assert [pair.question for pair in parsed.faqs] == ["能退吗"]
    assert [block.text for block in parsed.blocks] == ["问题：桌子多重；答案：约 8；分类：5 公斤；售前"]
    assert any("第 2 行" in notice.message for notice in parsed.notices)


def test_comma_in_the_longest_column_is_joined_and_in_another_all_cells_are_kept() -> None:
    content = "型号,说明\nA1,白色的外壳\nA2,黑色的,带灯\nA3,红色的外壳\n"
    assert rows("a.csv", content.encode())[1] == "型号：A2；说明：黑色的,带灯"
    content = "型号,说明,价格\nA1,白色,12\nA2,黑色,带灯,15\nA3,红色,18\n"
    assert rows("a.csv", content.encode())[1] == "型号：A2；说明：黑色；价格：带灯；15"


def test_bar_with_a_backslash_belongs_to_a_variant() -> None:
    content = '问题,答案,相似问\n差在哪,看参数,"A\\|B 差在哪|两款区别"\n'
    assert parse("a.csv", content.encode()).faqs[0].variants == ("A|B 差在哪", "两款区别")
