from __future__ import annotations

import io

import pytest
from pptx.oxml import parse_xml
from pptx.util import Inches

from knowledge.blocks import Block, BlockKind
from knowledge.errors import DocumentTooLarge
from knowledge.parsing.limits import ParsingLimits
from knowledge.parsing.registry import parse
from knowledge.types import NoticeCode
from tests.knowledge.parsing.files import texts_of
from tests.knowledge.parsing.offices import box, deck, saved
from tests.knowledge.parsing.pictures import png


def test_a_slide_is_a_page_under_its_title() -> None:
    parsed = parse("培训.pptx", saved(deck(("售后培训", ["第一天"]), ("退货流程", ["先登记", "再寄回"]))))
    assert parsed.title == "售后培训"
    assert parsed.blocks[1:] == (Block("先登记", ("退货流程",), 2), Block("再寄回", ("退货流程",), 2))


def test_a_cover_titles_the_deck_and_is_no_heading() -> None:
    parsed = parse("培训.pptx", saved(deck(("售后培训", []), ("退货流程", ["先登记"]))))
    assert (parsed.title, parsed.blocks) == ("售后培训", (Block("先登记", ("退货流程",), 2),))


def test_text_is_read_from_the_top_and_from_the_left() -> None:
    made = deck()
    slide = made.slides.add_slide(made.slide_layouts[6])
    for text, left, top in (("丁", 5, 3), ("丙", 1, 3), ("乙", 5, 1), ("甲", 1, 1)):
        box(slide, text, left, top)
    assert [block.text for block in parse("a.pptx", saved(made)).blocks] == ["甲", "乙", "丙", "丁"]


def test_what_the_audience_does_not_see_is_not_read() -> None:
    made = deck(("看得见", ["正文"]), ("藏起来的页", ["不公开"]))
    made.slides[1]._element.set("show", "0")
    slide = made.slides[0]
    slide.notes_slide.notes_text_frame.text = "讲稿"
    box(slide, "页外", 40, 1)
    box(slide, "隐藏", 1, 5)._element.nvSpPr.cNvPr.set("hidden", "1")  # type: ignore[attr-defined]
    assert [block.text for block in parse("a.pptx", saved(made)).blocks] == ["正文"]


def test_a_table_is_read_by_its_rows() -> None:
    made = deck(("价格", []))
    rows = [("型号", "价格"), ("H10", "199"), ("H30", "399")]
    table = made.slides[0].shapes.add_table(3, 2, Inches(1), Inches(2), Inches(5), Inches(2)).table
    for number, row in enumerate(rows):
        for column, text in enumerate(row):
            table.cell(number, column).text = text
    assert texts_of(parse("a.pptx", saved(made))) == (
        Block("型号：H10；价格：199", ("价格",), 1),
        Block("型号：H30；价格：399", ("价格",), 1),
    )


def test_a_slide_that_is_a_picture_is_named() -> None:
    made = deck(("标题", ["正文"]))
    slide = made.slides.add_slide(made.slide_layouts[6])
    slide.shapes.add_picture(io.BytesIO(png(2, 2)), 0, 0)
    (notice,) = parse("a.pptx", saved(made)).notices
    assert (notice.code, notice.pages) == (NoticeCode.PAGES_WITHOUT_TEXT, (2,))


def test_too_many_slides_are_refused() -> None:
    with pytest.raises(DocumentTooLarge, match="2 页的上限"):
        parse("a.pptx", saved(deck(*[("页", ["文"])] * 3)), ParsingLimits(max_pages=2))


_A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'


def _listed(*paragraphs: tuple[str, int, str]) -> list[str]:
    """Text, level and the XML of its bullet, in one text box of a slide."""
    made = deck(("步骤", []))
    frame = box(made.slides[0], "", 1, 3).text_frame  # type: ignore[attr-defined]
    for text, level, mark in paragraphs:
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = text, level
        if mark:
            paragraph._p.get_or_add_pPr().append(parse_xml(mark.replace("/>", f" {_A}/>")))
    return [block.text for block in parse("a.pptx", saved(made)).blocks]


def _auto(kind: str, start: int = 1) -> str:
    return f'<a:buAutoNum type="{kind}" startAt="{start}"/>'


def test_items_show_the_numbers_and_bullets_that_powerpoint_shows() -> None:
    assert _listed(
        ("甲", 0, _auto("arabicPeriod", 4)),
        ("甲一", 1, _auto("alphaLcParenR")),
        ("甲二", 1, _auto("alphaLcParenR")),
        ("乙", 0, _auto("arabicPeriod", 4)),
        ("乙一", 1, _auto("alphaLcParenR")),
        ("点", 0, '<a:buChar char="•"/>'),
        ("丙", 0, _auto("arabicPeriod", 4)),
        ("说明", 1, "<a:buNone/>"),
    ) == ["4. 甲", "  a) 甲一", "  b) 甲二", "5. 乙", "  a) 乙一", "- 点", "4. 丙", "说明"]


@pytest.mark.parametrize(
    ("kind", "marker"),
    [
        ("circleNumDbPlain", "① "),
        ("romanUcPeriod", "I. "),
        ("arabicParenBoth", "(1) "),
        ("ea1ChsPeriod", "一. "),
        ("arabicPlain", "1 "),
    ],
)
def test_kinds_of_numbers(kind: str, marker: str) -> None:
    assert _listed(("项", 0, _auto(kind))) == [f"{marker}项"]


def test_line_breaks_fields_and_formulas_are_read() -> None:
    made = deck(("标题", []))
    space = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    frame = box(made.slides[0], "甲", 1, 3).text_frame  # type: ignore[attr-defined]
    for xml in ("<a:br/>", "<a:r><a:t>乙</a:t></a:r>", '<a:fld type="datetime1" id="{1}"><a:t>3 月</a:t></a:fld>'):
        frame.paragraphs[0]._p.append(parse_xml(xml.replace(">", f" {_A}>", 1) if "/>" not in xml else f"<a:br {_A}/>"))
    above, below = (f"<m:{name}><m:r><m:t>{text}</m:t></m:r></m:{name}>" for name, text in (("num", "a"), ("den", "b")))
    formula = f"<m:oMath {space}><m:f>{above}{below}</m:f></m:oMath>"
    frame.add_paragraph()._p.append(
        parse_xml(
            '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
            'xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main">'
            f'<mc:Choice Requires="a14"><a14:m>{formula}</a14:m></mc:Choice>'
            f"<mc:Fallback><a:r {_A}><a:t>旧</a:t></a:r></mc:Fallback></mc:AlternateContent>"
        )
    )
    found = [(block.kind, block.text) for block in parse("a.pptx", saved(made)).blocks]
    assert found == [(BlockKind.PARAGRAPH, "甲\n乙3 月"), (BlockKind.FORMULA, "a/b")]


def test_what_is_not_read_is_told_with_its_slides_and_size() -> None:
    made = deck(("看得见", ["正文"]), ("藏起来的页", ["不公开"]))
    made.slides[1]._element.set("show", "0")
    made.slides[0].notes_slide.notes_text_frame.text = "讲 稿"
    company = box(made.slides[0], "云雀公司", 1, 1)
    made.slide_masters[0].shapes._spTree.append(company._element)  # type: ignore[attr-defined]
    notices = parse("a.pptx", saved(made)).notices
    assert [(notice.part, notice.pages, notice.characters) for notice in notices] == [
        ("演讲者备注", (1,), 2),
        ("隐藏的幻灯片", (2,), 8),
        ("母版上的文字", (), 4),
    ]
    assert notices[1].message == "隐藏的幻灯片没有入库（第 2 页）：放映时不显示，共 8 字"


def test_the_description_of_a_picture_is_found_and_the_name_of_its_file_is_not() -> None:
    made = deck(("安装", ["如图"]))
    for described in ("接口在左侧", "IMG_1.png"):
        picture = made.slides[0].shapes.add_picture(io.BytesIO(png(2, 2)), 0, 0)
        picture._element.nvPicPr.cNvPr.set("descr", described)
    found = [(block.kind, block.text) for block in parse("a.pptx", saved(made)).blocks]
    assert (BlockKind.IMAGE, "接口在左侧") in found
    assert len(found) == 2


def test_a_merged_cell_reaches_each_row_and_column_that_it_covers() -> None:
    made = deck(("价格", []))
    rows = [("型号", "门店", "网店"), ("H10", "199", "189"), ("H30", "详询", ""), ("H50", "", "")]
    table = made.slides[0].shapes.add_table(4, 3, Inches(1), Inches(2), Inches(5), Inches(2)).table
    for number, row in enumerate(rows):
        for column, text in enumerate(row):
            table.cell(number, column).text = text
    table.cell(2, 1).merge(table.cell(3, 2))
    assert [block.text for block in parse("a.pptx", saved(made)).blocks][1:] == [
        "型号：H30；门店：详询；网店：详询",
        "型号：H50；门店：详询；网店：详询",
    ]
