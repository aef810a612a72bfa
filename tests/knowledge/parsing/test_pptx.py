from __future__ import annotations

import io

import pytest
from pptx.util import Inches

from knowledge.blocks import Block
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
