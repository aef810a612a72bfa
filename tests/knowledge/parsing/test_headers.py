"""Tables without a header, with two header rows, and with columns of questions and answers, in every format."""

from __future__ import annotations

from collections.abc import Sequence

import docx
import pytest

from knowledge.parsing import headers
from knowledge.parsing.registry import parse
from knowledge.types import FaqColumns, FaqPair, NoticeCode, ParsedDocument
from tests.knowledge.parsing.files import Text, pdf, word
from tests.sheets import build_workbook

Rows = Sequence[Sequence[str]]
FORMATS = ("csv", "xlsx", "docx", "html", "md", "pdf")


def _word(rows: Rows) -> bytes:
    document = docx.Document()
    table = document.add_table(len(rows), len(rows[0]))
    for row, texts in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    return word(document)


def _pdf(rows: Rows) -> bytes:
    texts: list[Text] = [
        (60 + 180 * column, 780 - 20 * number, 10, text)
        for number, row in enumerate(rows)
        for column, text in enumerate(row)
        if text
    ]
    return pdf(texts)


def _markdown(rows: Rows) -> str:
    first, *others = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join((first, "|" + " --- |" * len(rows[0]), *others))


def table(kind: str, rows: Rows) -> ParsedDocument:
    match kind:
        case "csv":
            content = "\n".join(",".join(row) for row in rows).encode()
        case "xlsx":
            content = build_workbook({"表": rows})
        case "docx":
            content = _word(rows)
        case "html":
            cells = ("".join(f"<td>{text}</td>" for text in row) for row in rows)
            content = f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>".encode()
        case "md":
            content = _markdown(rows).encode()
        case _:
            content = _pdf(rows)
    return parse(f"a.{kind}", content)


def texts(parsed: ParsedDocument) -> list[str]:
    return [block.text for block in parsed.blocks]


CARRIERS = [
    ["顺丰快递", "全国", "次日达"],
    ["中通快递", "华东三省", "隔日达"],
    ["圆通快递", "华南", "三日达"],
    ["极兔速递", "华东三省", "四日达"],
]


@pytest.mark.parametrize("kind", FORMATS)
def test_a_table_without_a_header_keeps_its_first_row(kind: str) -> None:
    assert texts(table(kind, CARRIERS)) == ["；".join(row) for row in CARRIERS]


@pytest.mark.parametrize(
    "rows",
    [
        [["E01", "主刷缠绕"], ["E02", "缺水"], ["E03", "尘盒已满"]],
        [["签收后 7 天内", "无理由退货"], ["签收后 15 天内", "质量问题换货"], ["一年内", "免费保修"]],
        [["10 元", "续重每公斤 5 元", "华东"], ["12 元", "续重每公斤 8 元", "华南"]],
        [["a@yunsheng.cn", "售后"], ["b@yunsheng.cn", "投诉"]],
        [["请在订单详情页提交申请。", "客户"], ["由仓库验收后退款。", "仓库"]],
        [["杭州", "0571-88886666"], ["北京", "010-66668888"]],
    ],
)
def test_first_rows_that_are_values(rows: Rows) -> None:
    assert headers.find_header_depth(rows) == 0


@pytest.mark.parametrize(
    "rows",
    [
        [["型号", "颜色", "价格"], ["H30", "红色", "399"], ["H10", "蓝色", "199"]],
        [["城市", "省份"], ["杭州市", "浙江省"], ["广州市", "广东省"]],
        [["代码", "含义", "处理"], ["E01", "缺水", "加水"], ["E02", "卡住", "清理"]],
        [["地区", "2023", "2024"], ["华东", "120", "130"], ["华南", "80", "95"]],
        [["地区", "1 公斤以内", "1-5 公斤"], ["华东", "10 元", "20 元"], ["华南", "12 元", "25 元"]],
        [["名称", "说明"], ["延保", "在原保修期之后再保一年，随机购买"], ["碎屏险", "意外碎屏可以换一次屏幕"]],
        [["城市", "电话"]],
    ],
)
def test_first_rows_that_are_names(rows: Rows) -> None:
    assert headers.find_header_depth(rows) == 1


def test_markdown_table_with_an_empty_header_names_fields() -> None:
    assert texts(table("md", [["", ""], ["重量", "5 g"], ["续航", "8 小时"]])) == ["重量：5 g；续航：8 小时"]


def test_marked_header_cells_are_believed_whatever_they_hold() -> None:
    page = "<table><tr><th>尺码<th>36<th>37</tr><tr><td>脚长<td>23<td>23.5</tr></table>"
    assert texts(parse("a.html", page.encode())) == ["尺码：脚长；36：23；37：23.5"]


def test_rows_that_word_repeats_on_each_page_are_the_header() -> None:
    document = docx.Document()
    rows = document.add_table(2, 2).rows
    for row, values in zip(rows, CARRIERS, strict=False):
        for cell, text in zip(row.cells, values, strict=False):
            cell.text = text
    properties = rows[0]._tr.get_or_add_trPr()
    properties.append(properties.makeelement(docx.oxml.ns.qn("w:tblHeader"), {}))
    assert texts(parse("a.docx", word(document))) == ["顺丰快递：中通快递；全国：华东三省"]


GROUPED = [
    ["型号", "价格", "", "保修", ""],
    ["", "会员价", "零售价", "整机", "电池"],
    ["H30", "359", "399", "2 年", "1 年"],
    ["H10", "179", "199", "1 年", "半年"],
]
GROUPED_LINES = [
    "型号：H30；价格/会员价：359；价格/零售价：399；保修/整机：2 年；保修/电池：1 年",
    "型号：H10；价格/会员价：179；价格/零售价：199；保修/整机：1 年；保修/电池：半年",
]


@pytest.mark.parametrize("kind", ["csv", "xlsx", "docx", "html", "md"])
def test_two_header_rows_are_one_name_a_column(kind: str) -> None:
    assert texts(table(kind, GROUPED)) == GROUPED_LINES


def test_two_header_rows_with_merged_cells() -> None:
    content = build_workbook({"价格": GROUPED}, merged=["A1:A2", "B1:C1", "D1:E1"])
    assert texts(parse("a.xlsx", content)) == GROUPED_LINES
    page = (
        "<table><thead><tr><th rowspan=2>型号<th colspan=2>价格<th colspan=2>保修</tr>"
        "<tr><th>会员价<th>零售价<th>整机<th>电池</tr></thead><tbody>"
        "<tr><td>H30<td>359<td>399<td>2 年<td>1 年</tr><tr><td>H10<td>179<td>199<td>1 年<td>半年</tr></table>"
    )
    assert texts(parse("a.html", page.encode())) == GROUPED_LINES


def test_a_group_over_some_columns_is_no_caption() -> None:
    rows = [["", "", "运费", ""], ["地区", "时效", "首重", "续重"], ["华东", "次日", "10 元", "5 元"]]
    assert texts(table("csv", rows)) == ["地区：华东；时效：次日；运费/首重：10 元；运费/续重：5 元"]


def test_a_header_that_is_printed_again_is_no_row() -> None:
    header = ["城市", "电话"]
    assert texts(table("xlsx", [header, ["杭州", "一"], header, ["北京", "二"]])) == [
        "城市：杭州；电话：一",
        "城市：北京；电话：二",
    ]


ASKED = ["签收以后多久可以退货？", "发票怎么开？", "可以改收货地址吗？"]
SAID = ["签收后七天内可以无理由退货。", "在订单详情页点申请发票。", "发货以前可以在订单详情页修改。"]
PAIRS = tuple(FaqPair(question, answer) for question, answer in zip(ASKED, SAID, strict=True))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("客户问题", "客服答复"), ("问题", "答复"), ("标准问", "标准回复"), ("用户提问", "参考话术"),
        ("常见问题", "解决方案"), ("客户说", "我们说"), ("标题", "正文"), ("咨询内容", "回复内容"),
        ("Customer question", "Our reply"),
    ],
)  # fmt: skip
def test_columns_of_questions_and_answers(question: str, answer: str) -> None:
    rows = [["编号", question, answer, "更新人"]]
    rows += [[f"Q{number}", *pair, "小李"] for number, pair in enumerate(zip(ASKED, SAID, strict=True))]
    parsed = parse("a.xlsx", build_workbook({"售后": rows}))
    assert parsed.faqs == PAIRS
    (notice,) = parsed.notices
    assert notice.code is NoticeCode.FAQ_COLUMNS
    assert f"「{question}」" in notice.message and f"「{answer}」" in notice.message
    assert "没有读取的列：编号、更新人" in notice.message


def test_questions_and_answers_without_a_header() -> None:
    content = "\n".join(",".join(pair) for pair in zip(ASKED, SAID, strict=True)).encode()
    parsed = parse("a.csv", content)
    assert parsed.faqs == PAIRS
    assert "第 1 列" in parsed.notices[0].message


@pytest.mark.parametrize(
    "rows",
    [
        [["问题", "原因", "处理方法"], ["无法开机", "电池电量已经耗尽", "请先充电十分钟以后再试"]],
        [["问题编号", "回复人"], ["Q1", "小李"]],
        [["车型", "是否支持快充", "备注"], ["E1", "是", "需要使用原装充电器才能启用"]],
        [["常见问题", "原因说明", "处理办法"], [ASKED[0], "平台规则里写明了七天无理由", SAID[0]]],
    ],
)
def test_tables_that_are_no_questions_and_answers_lose_no_column(rows: Rows) -> None:
    parsed = table("xlsx", rows)
    assert (parsed.faqs, parsed.notices) == ((), ())
    assert texts(parsed) == ["；".join(f"{name}：{value}" for name, value in zip(rows[0], rows[1], strict=True))]


def test_columns_can_be_named_by_whoever_takes_the_file_in() -> None:
    rows = [["编号", "场景", "口径"], ["1", "我要退货", "签收后七天内可以。"]]
    content = build_workbook({"售后": rows})
    assert parse("a.xlsx", content).faqs == ()
    for wanted in (FaqColumns("场景", "口径"), FaqColumns("B", "c")):
        parsed = parse("a.xlsx", content, columns=wanted)
        assert parsed.faqs == (FaqPair("我要退货", "签收后七天内可以。"),)
        assert parsed.notices[0].code is NoticeCode.FAQ_COLUMNS


def test_columns_that_no_table_has_are_reported() -> None:
    parsed = parse("a.xlsx", build_workbook({"价格": CARRIERS}), columns=FaqColumns("提问", "回答"))
    assert [notice.code for notice in parsed.notices] == [NoticeCode.FAQ_COLUMNS_MISSING]
    assert texts(parsed) == ["；".join(row) for row in CARRIERS]
