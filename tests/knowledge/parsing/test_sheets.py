"""Several tables on a sheet, fields in the first column, merged cells, notes, and what can be read in two ways."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import docx
import pytest

from knowledge.blocks import BlockKind
from knowledge.parsing.registry import parse
from knowledge.types import NoticeCode, ParsedDocument
from tests.knowledge.parsing.files import word
from tests.sheets import build_workbook

Rows = Sequence[Sequence[str]]
FORMATS = ("csv", "xlsx", "docx", "html", "md")


def written(kind: str, rows: Rows) -> ParsedDocument:
    """A document of that kind with one table, or in a spreadsheet one sheet, of these rows."""
    width = max(map(len, rows))
    full = [[*row, *[""] * (width - len(row))] for row in rows]
    match kind:
        case "csv":
            content = "\n".join(",".join(row) for row in full).encode()
        case "xlsx":
            content = build_workbook({"表": full})
        case "docx":
            document = docx.Document()
            grid = document.add_table(len(full), width)
            for row, texts in zip(grid.rows, full, strict=True):
                for cell, text in zip(row.cells, texts, strict=True):
                    cell.text = text
            content = word(document)
        case "html":
            lines = ("".join(f"<td>{text}</td>" for text in row) for row in full)
            content = f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>".encode()
        case _:
            first, *others = (f"| {' | '.join(row)} |" for row in full)
            content = "\n".join((first, "|" + "---|" * width, *others)).encode()
    return parse(f"a.{kind}", content)


def texts(parsed: ParsedDocument, kind: BlockKind = BlockKind.ROW) -> list[str]:
    return [block.text for block in parsed.blocks if block.kind is kind]


def codes(parsed: ParsedDocument) -> list[NoticeCode]:
    return [notice.code for notice in parsed.notices]


SHOPS = [["门店", "电话"], ["城东店", "0512-66001234"], ["城西店", "0512-66005678"]]
BIKES = [["车型", "续航", "售价"], ["CT-20", "60 公里", "2899 元"], ["CT-30", "90 公里", "3699 元"]]
PARTS = [["配件", "质保"], ["轮胎", "3 个月"], ["控制器", "1 年"]]
SHOP_ROWS = ["门店：城东店；电话：0512-66001234", "门店：城西店；电话：0512-66005678"]
BIKE_ROWS = ["车型：CT-20；续航：60 公里；售价：2899 元", "车型：CT-30；续航：90 公里；售价：3699 元"]
PART_ROWS = ["配件：轮胎；质保：3 个月", "配件：控制器；质保：1 年"]


@pytest.mark.parametrize("kind", ["csv", "xlsx", "docx", "html"])
@pytest.mark.parametrize("gap", [[[""]], [["二、其他"]], [[""], ["二、其他"], [""]], [[""], [""]]])
def test_tables_under_each_other_have_their_own_header(kind: str, gap: Rows) -> None:
    parsed = written(kind, [*SHOPS, *gap, *BIKES, *gap, *PARTS])
    assert texts(parsed) == [*SHOP_ROWS, *BIKE_ROWS, *PART_ROWS]
    assert texts(parsed, BlockKind.CAPTION) == ["二、其他"] * (2 if ["二、其他"] in gap else 0)
    assert NoticeCode.TABLE_UNCERTAIN not in codes(parsed)


def test_rows_behind_a_blank_row_or_a_title_go_on_with_the_table_that_they_are_like() -> None:
    rows = [
        ["型号", "售价"],
        ["外胎", ""],
        ["W-16", "35"],
        ["W-20", "42"],
        ["", ""],
        ["W-24", "51"],
        ["内胎", ""],
        ["N-16", "12"],
    ]
    parsed = written("xlsx", rows)
    assert texts(parsed) == [f"型号：{name}；售价：{price}" for name, price in rows if price.isdigit()]
    assert texts(parsed, BlockKind.CAPTION) == ["外胎", "内胎"]


def test_table_of_the_same_names_below_is_one_of_its_own() -> None:
    rows = [["品名", "口味"], ["甲", "咸"], ["乙", "甜"], [""], ["产地", "口味"], ["丙", "辣"], ["丁", "酸"]]
    assert {"产地：丙；口味：辣", "产地：丁；口味：酸"} <= set(texts(written("xlsx", rows)))


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_tables_beside_each_other_are_read_one_after_the_other(kind: str) -> None:
    right = [*BIKES, ["CT-40", "120 公里", "4599 元"]]
    rows = [[*(SHOPS[at] if at < len(SHOPS) else ["", ""]), "", *right[at]] for at in range(len(right))]
    parsed = written(kind, rows)
    assert texts(parsed) == [*SHOP_ROWS, *BIKE_ROWS, "车型：CT-40；续航：120 公里；售价：4599 元"]
    assert codes(parsed) == []


def test_columns_with_one_between_that_is_empty_are_read_as_one_table_and_as_two() -> None:
    parsed = written("xlsx", [[*left, "", *right] for left, right in zip(SHOPS, BIKES, strict=True)])
    together = [f"{left}；{right}" for left, right in zip(SHOP_ROWS, BIKE_ROWS, strict=True)]
    assert texts(parsed) == [*SHOP_ROWS, *BIKE_ROWS, *together]
    assert codes(parsed) == [NoticeCode.TABLE_UNCERTAIN] and "第 1 行" in parsed.notices[0].message


TWO = [
    ["单位名称", "晴川仓储有限公司"],
    ["地址", "芜湖市镜湖区 18 号"],
    ["热线", "0553-3345678"],
    ["营业时间", "8:30-17:30"],
]
FOUR = [["单位名称", "晴川仓储有限公司", "负责人", "周宁"], ["热线", "0553-3345678", "营业时间", "8:30-17:30"]]


@pytest.mark.parametrize("kind", FORMATS)
def test_names_in_the_first_column_name_the_values_beside_them(kind: str) -> None:
    read = "；".join(f"{name}：{value}" for name, value in TWO)
    assert texts(written(kind, TWO))[0] == read
    assert (NoticeCode.TABLE_UNCERTAIN in codes(written(kind, TWO))) == (kind == "md")  # which must have a header


@pytest.mark.parametrize("kind", ["csv", "xlsx", "docx", "html"])
def test_names_in_the_first_and_third_column_name_the_values_beside_them(kind: str) -> None:
    assert texts(written(kind, FOUR)) == [
        "单位名称：晴川仓储有限公司；负责人：周宁；热线：0553-3345678；营业时间：8:30-17:30"
    ]


def test_names_with_a_colon_are_fields_whatever_stands_beside_them() -> None:
    assert texts(written("xlsx", [["品牌：", "晴川"], ["产地：", "芜湖"], ["材质：", "棉"]])) == [
        "品牌：晴川；产地：芜湖；材质：棉"
    ]


def test_two_fields_may_also_be_a_header_and_both_are_found() -> None:
    parsed = written("docx", [["取货点", "芜湖"], ["最晚下单", "每天15:00"]])
    assert texts(parsed) == ["取货点：芜湖；最晚下单：每天15:00", "取货点：最晚下单；芜湖：每天15:00"]
    assert codes(parsed) == [NoticeCode.TABLE_UNCERTAIN]


def test_fields_and_a_table_on_one_sheet() -> None:
    assert texts(written("xlsx", [*TWO, [""], *BIKES])) == ["；".join(f"{a}：{b}" for a, b in TWO), *BIKE_ROWS]


def test_many_fields_are_rows_of_some_each() -> None:
    rows = [["项目" + chr(0x4E00 + n), f"{n} 号方案，" + "详细说明" * (n % 5)] for n in range(40)]
    blocks = [block for block in written("xlsx", [["名称：", "甲"], *rows]).blocks if block.kind is BlockKind.ROW]
    assert all(len(block.text) < 300 for block in blocks)


def test_merged_cells_reach_every_row_and_column_that_they_cover() -> None:
    rows = [
        ["地区", "首重", "续重"],
        ["皖南", "6 元", "1 元"],
        ["", "7 元", "1 元"],
        ["新疆", "暂不发货", ""],
        ["西藏", "18 元", "15 元"],
    ]
    parsed = parse("a.xlsx", build_workbook({"运费": rows}, merged=["A2:A3", "B4:C4"]))
    assert texts(parsed) == [
        "地区：皖南；首重：6 元；续重：1 元",
        "地区：皖南；首重：7 元；续重：1 元",
        "地区：新疆；首重：暂不发货；续重：暂不发货",
        "地区：西藏；首重：18 元；续重：15 元",
    ]


def test_groups_of_columns_and_titles_are_merged_across_too() -> None:
    rows = [
        ["春季价目", "", ""],
        ["型号", "价格", ""],
        ["", "会员价", "门市价"],
        ["CT-20", "2799", "2899"],
        ["CT-30", "3599", "3699"],
    ]
    parsed = parse("a.xlsx", build_workbook({"价": rows}, merged=["A1:C1", "A2:A3", "B2:C2"]))
    assert texts(parsed, BlockKind.CAPTION) == ["春季价目"]
    assert texts(parsed) == [
        "型号：CT-20；价格/会员价：2799；价格/门市价：2899",
        "型号：CT-30；价格/会员价：3599；价格/门市价：3699",
    ]


def test_a_cell_merged_over_two_columns_of_one_name_is_said_once() -> None:
    rows = [["序号", "说明", "", "单价"], ["1", "过滤网", "200 目", "35"], ["2", "整套", "", "88"]]
    parsed = parse("a.xlsx", build_workbook({"价": rows}, merged=["B1:C1", "B3:C3"]))
    assert texts(parsed) == ["序号：1；说明：过滤网；说明：200 目；单价：35", "序号：2；说明：整套；单价：88"]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("note", ["注：以上价格不含运费。", "以上为门市价，活动价另行通知。"])
def test_what_stands_alone_below_a_table_is_a_note_of_it(kind: str, note: str) -> None:
    parsed = written(kind, [*BIKES, [note]])
    assert texts(parsed) == BIKE_ROWS
    (block,) = [block for block in parsed.blocks if block.kind is BlockKind.NOTE]
    assert block.text == note and block.group == parsed.blocks[0].group > 0


def test_note_between_tables_is_no_title() -> None:
    parsed = written("xlsx", [*SHOPS, ["备注：周一店休。"], [""], *BIKES])
    assert [block.kind for block in parsed.blocks] == [BlockKind.ROW] * 2 + [BlockKind.NOTE] + [BlockKind.ROW] * 2


def test_header_without_any_evidence_is_a_row_too_and_said_to_be_uncertain() -> None:
    parsed = written("csv", [["颜色", "风格", "季节"], ["赤", "热烈", "夏"], ["青", "沉静", "冬"]])
    assert texts(parsed) == ["颜色：赤；风格：热烈；季节：夏", "颜色：青；风格：沉静；季节：冬", "颜色；风格；季节"]
    assert codes(parsed) == [NoticeCode.TABLE_UNCERTAIN]


def test_a_sheet_of_one_column_names_its_values() -> None:
    assert texts(written("csv", [["服务热线"], ["0553-3345678"], ["0553-3345679"]])) == [
        "服务热线：0553-3345678",
        "服务热线：0553-3345679",
    ]


def test_sheet_of_sentences_is_text() -> None:
    parsed = written("xlsx", [["请先阅读本表说明。"], ["带星号的列必填。"], ["一行一条。"]])
    assert [(block.kind, block.text) for block in parsed.blocks] == [
        (BlockKind.PARAGRAPH, "请先阅读本表说明。"),
        (BlockKind.PARAGRAPH, "带星号的列必填。"),
        (BlockKind.PARAGRAPH, "一行一条。"),
    ]


# --- Generated sheets --------------------------------------------------------------------------

_THINGS = ("门店", "车型", "配件", "课程", "套餐", "网点", "耗材", "证照", "赠品", "线路")
_COLUMNS: dict[str, Callable[[random.Random], str]] = {
    "电话": lambda dice: f"0{dice.randint(510, 599)}-{dice.randint(10**6, 10**7)}",
    "售价": lambda dice: f"{dice.randint(10, 9999)} 元",
    "质保": lambda dice: f"{dice.randint(1, 36)} 个月",
    "库存": lambda dice: str(dice.randint(1, 9999)),
    "说明": lambda dice: "按现场情况由工作人员核对后办理" + dice.choice("甲乙丙丁戊己庚辛") * dice.randint(2, 5),
    "负责人": lambda dice: dice.choice("赵钱孙李周吴郑王") + dice.choice("宁静和平安康乐欣"),
}


def _table(dice: random.Random, thing: str, ends: str) -> tuple[list[str], list[list[str]]]:
    names = dice.sample(sorted(_COLUMNS), dice.randint(1, 4))
    if set(names) == {"负责人"}:
        names.append("电话")
    header = [thing, *(f"{thing[0]}{name}" if dice.random() < 0.5 else name for name in names)]
    makers = [_COLUMNS[name] for name in names]
    rows = [
        [f"{dice.choice('东南西北中')}{dice.choice('山海江湖城')}{ends}{number}", *(make(dice) for make in makers)]
        for number in range(dice.randint(2, 6))
    ]
    return header, rows


@pytest.mark.parametrize("seed", range(240))
def test_generated_sheets_have_every_value_under_its_own_header(seed: int) -> None:
    dice = random.Random(seed)
    things = dice.sample(_THINGS, dice.randint(1, 3))
    tables = [_table(dice, thing, thing[-1]) for thing in things]
    sheet: list[list[str]] = []
    for number, (header, rows) in enumerate(tables):
        if dice.random() < 0.4 or number:
            title = [[f"{number + 1}号表单"]] if dice.random() < 0.5 else []
            blank = [[""]] * dice.randint(0 if title else 1, 2)
            sheet += [*blank, *title]
        sheet += [header, *rows]
    parsed = written(dice.choice(["csv", "xlsx", "docx", "html"]), sheet)
    expected = {
        (name, value) for header, rows in tables for row in rows for name, value in zip(header, row, strict=True)
    }
    uncertain = NoticeCode.TABLE_UNCERTAIN in codes(parsed)
    found = {cell for block in parsed.blocks for cell in block.cells if cell[0]}
    assert expected <= found
    if not uncertain:
        assert found == expected
    said = {block.text for block in parsed.blocks}
    assert {text for row in sheet for text in row if text.endswith("号表单")} <= said
