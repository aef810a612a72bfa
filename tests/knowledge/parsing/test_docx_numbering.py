from __future__ import annotations

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from knowledge.blocks import BlockKind
from tests.knowledge.parsing.word_files import (
    blocks,
    body,
    define,
    instance,
    level,
    numbered,
    place,
    read,
    run,
    shown,
    style,
)


def _list(form: str, text: str, count: int, start: int = 1) -> list[str]:
    made = docx.Document()
    define(made, 90, [level(0, form, text, start=start)])
    for number in range(count):
        numbered(made, f"事项{number}", 90)
    return shown(made)


@pytest.mark.parametrize(
    ("form", "text", "markers"),
    [
        ("decimal", "%1.", ["1. ", "2. "]),
        ("decimal", "（%1）", ["（1）", "（2）"]),
        ("decimal", "步骤%1：", ["步骤1：", "步骤2："]),
        ("decimal", "%1)", ["1) ", "2) "]),
        ("decimal", "[%1]", ["[1] ", "[2] "]),
        ("decimalZero", "No.%1", ["No.01 ", "No.02 "]),
        ("chineseCounting", "%1、", ["一、", "二、"]),
        ("chineseCounting", "（%1）", ["（一）", "（二）"]),
        ("japaneseCounting", "%1、", ["一、", "二、"]),
        ("chineseCountingThousand", "第%1条", ["第一条 ", "第二条 "]),
        ("ideographTraditional", "%1、", ["甲、", "乙、"]),
        ("decimalEnclosedCircle", "%1", ["① ", "② "]),
        ("lowerLetter", "%1)", ["a) ", "b) "]),
        ("upperRoman", "Article %1.", ["Article I. ", "Article II. "]),
        ("decimalFullWidth", "%1．", ["１．", "２．"]),
    ],
)
def test_items_show_the_marker_that_word_shows(form: str, text: str, markers: list[str]) -> None:
    assert _list(form, text, 2) == [f"{marker}事项{number}" for number, marker in enumerate(markers)]


def test_the_marker_of_an_item_is_what_word_shows() -> None:
    made = docx.Document()
    define(made, 90, [level(0, "decimal", "步骤%1：")])
    numbered(made, "填写申请单", 90)
    (block,) = blocks(made)
    assert (block.kind, block.marker, block.text) == (BlockKind.ITEM, "步骤1：", "步骤1：填写申请单")


def test_a_list_begins_where_it_says() -> None:
    assert _list("decimal", "%1.", 2, start=5) == ["5. 事项0", "6. 事项1"]
    assert _list("decimal", "%1.", 2, start=0) == ["0. 事项0", "1. 事项1"]


def test_an_instance_begins_anew_where_it_overrides_the_start_and_goes_on_where_it_does_not() -> None:
    made = docx.Document()
    define(made, 90, [level(0, "decimal", "%1.")])
    instance(made, 91, 90)
    instance(made, 92, 90, '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="4"/></w:lvlOverride>')
    for text, number in (("甲", 90), ("乙", 91), ("丙", 92), ("丁", 92), ("戊", 90)):
        numbered(made, text, number)
    assert shown(made) == ["1. 甲", "2. 乙", "4. 丙", "5. 丁", "6. 戊"]


def test_an_instance_may_shape_a_level_of_its_own() -> None:
    made = docx.Document()
    define(made, 90, [level(0, "decimal", "%1.")])
    own = level(0, "upperLetter", "%1)", start=3)
    instance(made, 91, 90, f'<w:lvlOverride w:ilvl="0">{own}</w:lvlOverride>')
    numbered(made, "甲", 91)
    assert shown(made) == ["C) 甲"]


_DEEP = [level(0, "decimal", "%1"), level(1, "decimal", "%1.%2"), level(2, "decimal", "%1.%2.%3")]


def test_levels_begin_anew_below_each_item_above_them() -> None:
    made = docx.Document()
    define(made, 90, _DEEP)
    for depth in (0, 1, 1, 2, 2, 1, 2, 0, 1):
        numbered(made, "项", 90, depth)
    assert [block.marker for block in blocks(made)] == [
        *("1", "1.1", "1.2", "1.2.1", "1.2.2", "1.3", "1.3.1", "2", "2.1"),
    ]
    assert [block.level for block in blocks(made)] == [0, 1, 1, 2, 2, 1, 2, 0, 1]


def test_a_level_without_one_above_it_counts_from_the_start_of_that() -> None:
    made = docx.Document()
    define(made, 90, [level(0, "decimal", "%1", start=11), level(1, "decimal", "%1.%2")])
    for text in ("甲", "乙"):
        numbered(made, text, 90, 1)
    assert shown(made) == ["11.1 甲", "11.2 乙"]


def test_articles_run_on_through_chapters_where_the_level_does_not_restart() -> None:
    made = docx.Document()
    chapters = level(0, "chineseCountingThousand", "第%1章")
    define(made, 90, [chapters, level(1, "chineseCountingThousand", "第%2条", more='<w:lvlRestart w:val="0"/>')])
    for text, depth in (("总则", 0), ("适用范围。", 1), ("解释。", 1), ("考勤", 0), ("迟到。", 1), ("旷工。", 1)):
        numbered(made, text, 90, depth, "Heading 1" if not depth else None)
    found = [(block.heading_path[-2:], block.marker) for block in blocks(made)]
    assert found == [
        (("第一章 总则", "第一条"), "第一条"),
        (("第一章 总则", "第二条"), "第二条"),
        (("第二章 考勤", "第三条"), "第三条"),
        (("第二章 考勤", "第四条"), "第四条"),
    ]


def test_a_level_may_restart_below_a_certain_level_alone() -> None:
    made = docx.Document()
    third = level(2, "decimal", "%3)", more='<w:lvlRestart w:val="1"/>')
    define(made, 90, [level(0, "decimal", "%1"), level(1, "decimal", "%1.%2"), third])
    for depth in (0, 1, 2, 1, 2, 0, 2):
        numbered(made, "项", 90, depth)
    assert [block.marker for block in blocks(made)] == ["1", "1.1", "1)", "1.2", "2)", "2", "1)"]


def test_a_legal_level_writes_the_numbers_above_it_in_digits() -> None:
    made = docx.Document()
    define(made, 90, [level(0, "chineseCounting", "%1、"), level(1, "decimal", "%1.%2", more="<w:isLgl/>")])
    for text, depth in (("总则", 0), ("范围", 1)):
        numbered(made, text, 90, depth)
    assert shown(made) == ["一、总则", "1.1 范围"]


def test_numbers_of_heading_styles_stand_before_headings() -> None:
    made = docx.Document()
    styles = (("Heading1", "第%1章", "chineseCountingThousand"), ("Heading2", "%1.%2", "decimal"))
    define(
        made,
        90,
        [
            level(depth, form, text, more=f'<w:pStyle w:val="{name}"/>' + ("<w:isLgl/>" if depth else ""))
            for depth, (name, text, form) in enumerate(styles)
        ],
    )
    for name in ("Heading 1", "Heading 2"):
        made.styles[name].element.get_or_add_pPr().append(parse_xml(place(90, None)))
    for text, name in (("总则", "Heading 1"), ("目的", "Heading 2"), ("范围", "Heading 2"), ("考勤", "Heading 1")):
        made.add_heading(text, int(name[-1]))
        made.add_paragraph(f"{text}的内容。")
    assert [block.heading_path for block in blocks(made)] == [
        ("第一章 总则",),
        ("第一章 总则", "1.1 目的"),
        ("第一章 总则", "1.2 范围"),
        ("第二章 考勤",),
    ]


def test_numbering_is_inherited_from_the_style_that_a_style_is_based_on() -> None:
    made = docx.Document()
    define(made, 90, [level(0, "decimal", "%1."), level(1, "decimal", "%1.%2")])
    style(made, "条款", place(90, 1))
    style(made, "条款 缩进", base="条款")
    style(made, "条款 无号", place(0, None), base="条款")
    for text, name in (("甲", "条款"), ("乙", "条款 缩进"), ("丙", "条款 无号"), ("丁", "条款")):
        made.add_paragraph(text, name)
    assert shown(made) == ["1.1 甲", "1.2 乙", "丙", "1.3 丁"]


def test_a_paragraph_takes_itself_out_of_the_list_of_its_style() -> None:
    made = docx.Document()
    define(made, 90, [level(0, "decimal", "%1.")])
    style(made, "条款", place(90, 0))
    made.add_paragraph("甲", "条款")
    numbered(made, "说明", 0, None, "条款")
    made.add_paragraph("乙", "条款")
    assert shown(made) == ["1. 甲", "说明", "2. 乙"]


def test_a_paragraph_may_name_the_level_alone() -> None:
    made = docx.Document()
    define(made, 90, [level(0, "decimal", "%1."), level(1, "lowerLetter", "%2)")])
    style(made, "条款", place(90, 0))
    made.add_paragraph("甲", "条款")
    numbered(made, "乙", None, 1, "条款")
    assert shown(made) == ["1. 甲", "a) 乙"]


def test_a_definition_may_stand_for_that_of_a_list_style() -> None:
    made = docx.Document()
    define(made, 90, [level(0, "chineseCounting", "%1、")], '<w:styleLink w:val="Clauses"/>')
    define(made, 91, [], '<w:numStyleLink w:val="Clauses"/>')
    numbering = f'<w:style {nsdecls("w")} w:type="numbering" w:styleId="Clauses"><w:name w:val="Clauses"/>'
    made.styles.element.append(parse_xml(f"{numbering}<w:pPr>{place(90, None)}</w:pPr></w:style>"))
    numbered(made, "甲", 91)
    numbered(made, "乙", 90)
    assert shown(made) == ["一、甲", "二、乙"]


def test_definitions_that_stand_for_each_other_end() -> None:
    made = docx.Document()
    define(made, 90, [], '<w:numStyleLink w:val="Round"/>')
    numbering = f'<w:style {nsdecls("w")} w:type="numbering" w:styleId="Round"><w:name w:val="Round"/>'
    made.styles.element.append(parse_xml(f"{numbering}<w:pPr>{place(90, None)}</w:pPr></w:style>"))
    numbered(made, "甲", 90)
    assert shown(made) == ["甲"]


def test_bullets_are_one_sign_and_words_for_bullets_are_words() -> None:
    made = docx.Document()
    bullets = ("\uf0b7", "o", "●", "➢", "注：")
    define(made, 90, [level(depth, "bullet", text) for depth, text in enumerate(bullets)])
    for depth in range(len(bullets)):
        numbered(made, "项", 90, depth)
    assert shown(made) == ["- 项", "- 项", "- 项", "- 项", "注：项"]


def test_a_level_that_shows_nothing_makes_no_item() -> None:
    made = docx.Document()
    define(made, 90, [level(0, "none", ""), level(1, "none", "附注")])
    numbered(made, "正文", 90, 0)
    numbered(made, "第二处", 90, 1)
    assert [(block.kind, block.text.lstrip()) for block in blocks(made)] == [
        (BlockKind.PARAGRAPH, "正文"),
        (BlockKind.ITEM, "附注 第二处"),
    ]


def test_numbers_with_leading_zeros_of_newer_word() -> None:
    made = docx.Document()
    define(made, 90, [])
    custom = (
        f'<w:lvl {nsdecls("w")} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" w:ilvl="0">'
        '<w:start w:val="1"/><mc:AlternateContent><mc:Choice Requires="w14"><w:numFmt w:val="custom" '
        'w:format="001, 002, 003, ..."/></mc:Choice><mc:Fallback><w:numFmt w:val="decimal"/></mc:Fallback>'
        '</mc:AlternateContent><w:lvlText w:val="W-%1"/></w:lvl>'
    )
    made.part.numbering_part.element[0].append(parse_xml(custom))
    numbered(made, "项", 90)
    assert shown(made) == ["W-001 项"]


def test_empty_paragraphs_are_counted_and_hidden_and_deleted_ones_are_not() -> None:
    made = docx.Document()
    define(made, 90, [level(0, "decimal", "%1.")])
    numbered(made, "甲", 90)
    numbered(made, "", 90)
    gone = "<w:p><w:pPr>{place}<w:rPr>{mark}</w:rPr></w:pPr>{content}</w:p>"
    hidden = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>藏</w:t></w:r>"
    deleted = "<w:del><w:r><w:delText>删</w:delText></w:r></w:del>"
    for mark, content in (("<w:vanish/>", hidden), ("<w:del/>", deleted)):
        body(made, gone.format(place=place(90, 0), mark=mark, content=content))
    numbered(made, "乙", 90)
    assert shown(made) == ["1. 甲", "3. 乙"]


def test_a_column_of_automatic_numbers_is_read() -> None:
    made = docx.Document()
    define(made, 90, [level(0, "decimal", "%1")])
    table = made.add_table(3, 2)
    for row, texts in enumerate((("序号", "名称"), ("", "滤芯"), ("", "水泵"))):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    for row in (1, 2):
        table.cell(row, 0).paragraphs[0]._p.get_or_add_pPr().append(parse_xml(place(90, 0)))
    assert shown(made) == ["序号：1；名称：滤芯", "序号：2；名称：水泵"]


def test_lists_in_text_boxes_count_for_themselves() -> None:
    made = docx.Document()
    define(made, 90, [level(0, "decimal", "%1.")])
    numbered(made, "甲", 90)
    inner = f"<w:p><w:pPr>{place(90, 0)}</w:pPr>{run('框里')}</w:p>"
    box = f"<v:shape><v:textbox><w:txbxContent>{inner}</w:txbxContent></v:textbox></v:shape>"
    body(made, f"<w:p><w:r><w:pict>{box}</w:pict></w:r></w:p>")
    numbered(made, "乙", 90)
    assert shown(made) == ["1. 甲", "1. 框里", "2. 乙"]


def test_values_that_are_no_numbers_are_read_as_if_they_were_not_there() -> None:
    made = docx.Document()
    define(made, 90, [level(0, "decimal", "%1.").replace('w:start w:val="1"', 'w:start w:val="x"')])
    numbered(made, "甲", 90)
    made.element.body[0].pPr.numPr.ilvl.set(next(iter(made.element.body[0].pPr.numPr.ilvl.attrib)), "")
    assert read(made).blocks[0].text == "1. 甲"
