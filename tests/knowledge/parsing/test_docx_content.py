"""What stands in Word beside plain paragraphs: boxes, pictures, code, quotations, forms; and what is left out."""

from __future__ import annotations

import random
import re
from collections import Counter

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn

from knowledge.blocks import BlockKind
from knowledge.parsing.formulas import MATH
from knowledge.parsing.registry import parse
from knowledge.types import NoticeCode, ParsedDocument
from tests.knowledge.parsing.files import word
from tests.knowledge.parsing.word_files import (
    attach,
    blocks,
    body,
    define,
    level,
    notes,
    numbered,
    read,
    refer,
    run,
    shown,
    style,
)


def _paragraph(*content: str) -> str:
    return f"<w:p>{''.join(content)}</w:p>"


def _drawing(inner: str, described: str = "") -> str:
    return (
        f'<w:r><w:drawing><wp:inline><wp:docPr id="1" name="图 1" descr="{described}"/><a:graphic>'
        f'<a:graphicData uri="x">{inner}</a:graphicData></a:graphic></wp:inline></w:drawing></w:r>'
    )


def _box(*texts: str) -> str:
    content = "".join(_paragraph(run(text)) for text in texts)
    shape = f"<wps:wsp><wps:txbx><w:txbxContent>{content}</w:txbxContent></wps:txbx></wps:wsp>"
    older = f"<w:pict><v:shape><v:textbox><w:txbxContent>{content}</w:txbxContent></v:textbox></v:shape></w:pict>"
    newer = _drawing(shape).removeprefix("<w:r>").removesuffix("</w:r>")
    choice = f'<mc:Choice Requires="wps">{newer}</mc:Choice><mc:Fallback>{older}</mc:Fallback>'
    return f"<w:r><mc:AlternateContent>{choice}</mc:AlternateContent></w:r>"


def _kinds(made: docx.document.Document) -> list[tuple[BlockKind, str]]:
    return [(block.kind, block.text) for block in blocks(made)]


def test_a_text_box_is_read_once_as_blocks_of_its_own() -> None:
    made = docx.Document()
    body(made, _paragraph(run("旁边是"), _box("温馨提示", "拆封不退。"), run("提示。")))
    made.add_paragraph("之后。")
    assert [text for _, text in _kinds(made)] == ["旁边是提示。", "温馨提示", "拆封不退。", "之后。"]


def test_a_text_box_of_older_word_and_word_art_are_read() -> None:
    made = docx.Document()
    inner = _paragraph(run("旧框"))
    shape = f"<v:shape><v:textbox><w:txbxContent>{inner}</w:txbxContent></v:textbox></v:shape>"
    art = '<v:shape><v:textpath string="艺术字"/></v:shape>'
    body(made, _paragraph(f"<w:r><w:pict>{shape}</w:pict></w:r>") + _paragraph(f"<w:r><w:pict>{art}</w:pict></w:r>"))
    assert [text for _, text in _kinds(made)] == ["旧框", "艺术字"]


def test_the_description_of_a_picture_stands_for_it_and_a_file_name_does_not() -> None:
    made = docx.Document()
    body(made, _paragraph(run("安装如图。"), _drawing("", "水管接在左侧的接口上")))
    body(made, _paragraph(_drawing("", "IMG_2024.jpg")))
    assert _kinds(made) == [(BlockKind.PARAGRAPH, "安装如图。"), (BlockKind.IMAGE, "水管接在左侧的接口上")]


@pytest.mark.parametrize("name", ["HTML Preformatted", "Source Code", "Code", "代码", "Preformatted Text"])
def test_lines_of_a_style_for_code_are_one_block_of_code(name: str) -> None:
    made = docx.Document()
    style(made, name)
    made.add_paragraph("调用如下：")
    for line in ("if ok:", "    1. run()", "", "# 不是标题"):
        made.add_paragraph(line, name)
    assert _kinds(made)[1:] == [(BlockKind.CODE, "if ok:\n    1. run()\n\n# 不是标题")]


def test_a_style_that_is_based_on_one_for_code_is_for_code() -> None:
    made = docx.Document()
    style(made, "Source Code")
    style(made, "我的清单", base="SourceCode")
    made.add_paragraph("x = 1", "我的清单")
    assert _kinds(made) == [(BlockKind.CODE, "x = 1")]


@pytest.mark.parametrize(
    ("name", "label"),
    [("Warning", "warning"), ("提示", "tip"), ("Note Box", "note"), ("Note Heading", None), ("Default", None)],
)
def test_paragraphs_of_a_style_for_notes_are_one_note(name: str, label: str | None) -> None:
    document = docx.Document()
    document.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
    for text in ("先断电。", "再拆机。"):
        document.add_paragraph(text, style=name)
    blocks = parse("a.docx", word(document)).blocks
    expected = (BlockKind.NOTE, label) if label else (BlockKind.PARAGRAPH, "")
    assert [(block.kind, block.label) for block in blocks] == [expected] * 2
    assert len({block.group for block in blocks}) == 1


def test_a_paragraph_within_borders_is_a_note() -> None:
    document = docx.Document()
    for sides in (("top", "left", "bottom", "right"), ("bottom",)):
        borders = "".join(f'<w:{side} w:val="single" w:sz="4"/>' for side in sides)
        properties = document.add_paragraph("先断电。")._p.get_or_add_pPr()
        properties.append(parse_xml(f"<w:pBdr {nsdecls('w')}>{borders}</w:pBdr>"))
    assert [block.kind for block in parse("a.docx", word(document)).blocks] == [BlockKind.NOTE, BlockKind.PARAGRAPH]


@pytest.mark.parametrize("names", [("Definition Term", "Definition"), ("术语", "定义")])
def test_terms_and_definitions_are_one_block_each(names: tuple[str, str]) -> None:
    document = docx.Document()
    for name in names:
        document.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
    for text, at in (("保修期", 0), ("整机两年。", 1), ("电池一年。", 1), ("漏保", 0), ("漏电保护器。", 1)):
        document.add_paragraph(text, style=names[at])
    blocks = parse("a.docx", word(document)).blocks
    assert [(block.kind, block.text) for block in blocks] == [
        (BlockKind.FIELD, "保修期：整机两年。\n电池一年。"),
        (BlockKind.FIELD, "漏保：漏电保护器。"),
    ]


@pytest.mark.parametrize("name", ["Quote", "Intense Quote", "引用", "明显引用", "Block Quotation"])
def test_paragraphs_of_a_style_for_quotations_are_one_quotation(name: str) -> None:
    made = docx.Document()
    if name not in [each.name for each in made.styles]:
        style(made, name)
    for text in ("第一句。", "第二句。"):
        made.add_paragraph(text, name)
    found = blocks(made)
    assert [(block.kind, block.text) for block in found] == [
        (BlockKind.QUOTE, "第一句。"),
        (BlockKind.QUOTE, "第二句。"),
    ]
    assert len({block.group for block in found}) == 1


def test_a_caption_belongs_to_the_table_below_it_and_stands_alone_elsewhere() -> None:
    made = docx.Document()
    made.add_paragraph("表 1 保修期", "Caption")
    table = made.add_table(2, 2)
    for place, text in zip(((0, 0), (0, 1), (1, 0), (1, 1)), ("部件", "保修", "锅炉", "36 个月"), strict=True):
        table.cell(*place).text = text
    made.add_paragraph("图 2 接口", "Caption")
    made.add_paragraph("正文。")
    found = blocks(made)
    assert [(block.kind, block.text) for block in found] == [
        (BlockKind.CAPTION, "表 1 保修期"),
        (BlockKind.ROW, "部件：锅炉；保修：36 个月"),
        (BlockKind.CAPTION, "图 2 接口"),
        (BlockKind.PARAGRAPH, "正文。"),
    ]
    assert found[0].group == found[1].group != found[2].group


def test_ticks_and_choices_of_forms_are_read() -> None:
    made = docx.Document()
    sign = '<w:r><w:sym w:font="Wingdings" w:char="{}"/></w:r>'
    old = (
        '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:default w:val="0"/>{}</w:checkBox></w:ffData>'
        "</w:fldChar></w:r>"
    )
    choice = (
        '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="北京"/>'
        '<w:listEntry w:val="上海"/></w:ddList></w:ffData></w:fldChar></w:r>'
    )
    body(made, _paragraph(sign.format("F0FE"), run("是"), sign.format("00A8"), run("否")))
    body(made, _paragraph(old.format("<w:checked/>"), run("发票"), old.format(""), run("收据"), run("，"), choice))
    assert [text for _, text in _kinds(made)] == ["☑是☐否", "☒发票☐收据，上海"]


def test_a_second_title_is_not_lost() -> None:
    made = docx.Document()
    for title, text in (("退货制度", "甲。"), ("换货制度", "乙。")):
        made.add_paragraph(title, "Title")
        made.add_paragraph(text)
    parsed = read(made)
    assert parsed.title == "退货制度"
    assert [(block.heading_path, block.text) for block in parsed.blocks] == [((), "甲。"), (("换货制度",), "乙。")]


# --- Tables ----------------------------------------------------------------------------------


def _table(made: docx.document.Document, *rows: tuple[str, ...]) -> docx.table.Table:
    table = made.add_table(len(rows), len(rows[0]))
    for number, row in enumerate(rows):
        for column, text in enumerate(row):
            table.cell(number, column).text = text
    return table


def test_a_cell_over_columns_and_rows_reaches_each_of_them() -> None:
    made = docx.Document()
    rows = (
        ("品类", "型号", "门店价", "网店价"),
        ("耳机", "H10", "199", "189"),
        ("音箱", "S1", "", ""),
        ("", "S2", "", ""),
    )
    table = _table(made, *rows)
    table.cell(2, 0).merge(table.cell(3, 0))
    merged = table.cell(2, 2).merge(table.cell(3, 3))
    merged.text = "详询客服"
    assert shown(made)[1:] == [
        "品类：音箱；型号：S1；门店价：详询客服；网店价：详询客服",
        "品类：音箱；型号：S2；门店价：详询客服；网店价：详询客服",
    ]


def test_names_of_groups_of_columns_and_titles_over_a_table_stay_what_they_are() -> None:
    made = docx.Document()
    rows = (
        ("价目表", "", ""),
        ("型号", "价格", ""),
        ("", "门店", "网店"),
        ("H10", "199", "189"),
        ("H30", "399", "389"),
    )
    table = _table(made, *rows)
    table.cell(0, 0).merge(table.cell(0, 2))
    table.cell(1, 1).merge(table.cell(1, 2))
    table.cell(1, 0).merge(table.cell(2, 0))
    assert [text.replace("\n", "") for text in shown(made)] == [
        "价目表",
        "型号：H10；价格/门店：199；价格/网店：189",
        "型号：H30；价格/门店：399；价格/网店：389",
    ]


def test_cells_that_were_merged_across_by_old_word_are_one() -> None:
    made = docx.Document()
    table = _table(made, ("型号", "门店", "网店"), ("H10", "缺货", ""), ("H30", "399", "389"))
    for column, state in ((1, "restart"), (2, "continue")):
        properties = table.cell(1, column)._tc.get_or_add_tcPr()
        properties.append(parse_xml(f'<w:hMerge {nsdecls("w")} w:val="{state}"/>'))
    assert shown(made)[0] == "型号：H10；门店：缺货；网店：缺货"


def test_a_table_within_a_cell_is_read_once_under_its_own_header() -> None:
    made = docx.Document()
    table = _table(made, ("机型", "保修细则"), ("C3", "主机一年"), ("C5", "主机两年"))
    for row, months in ((1, "36 个月"), (2, "24 个月")):
        inner = table.cell(row, 1).add_table(3, 2)
        for number, cells in enumerate((("部件", "保修期"), ("锅炉", months), ("磨豆盘", "90 天"))):
            for column, text in enumerate(cells):
                inner.cell(number, column).text = text
    assert [(block.kind, block.text) for block in blocks(made)] == [
        (BlockKind.ROW, "机型：C3；保修细则：主机一年"),
        (BlockKind.ROW, "机型：C5；保修细则：主机两年"),
        (BlockKind.CAPTION, "C3"),
        (BlockKind.ROW, "部件：锅炉；保修期：36 个月"),
        (BlockKind.ROW, "部件：磨豆盘；保修期：90 天"),
        (BlockKind.CAPTION, "C5"),
        (BlockKind.ROW, "部件：锅炉；保修期：24 个月"),
        (BlockKind.ROW, "部件：磨豆盘；保修期：90 天"),
    ]


def test_a_table_within_a_table_within_a_table() -> None:
    made = docx.Document()
    table = _table(made, ("机型", "价格", "细则"), ("C3", "199", "见内"), ("C5", "299", "无"))
    inside = table.cell(1, 2)
    for name in ("部件", "零件"):
        inner = inside.add_table(3, 3)
        rows = ((name, "保修", "备注"), ("锅炉", "36 个月", "含人工"), ("水泵", "24 个月", "不含人工"))
        for number, row in enumerate(rows):
            for column, text in enumerate(row):
                inner.cell(number, column).paragraphs[0].text = text
        inside = inner.cell(1, 2)
    found = [block.text for block in blocks(made) if block.kind is BlockKind.ROW]
    assert found == [
        *("机型：C3；价格：199；细则：见内", "机型：C5；价格：299；细则：无"),
        *("部件：锅炉；保修：36 个月；备注：含人工", "部件：水泵；保修：24 个月；备注：不含人工"),
        *("零件：锅炉；保修：36 个月；备注：含人工", "零件：水泵；保修：24 个月；备注：不含人工"),
    ]


def test_rows_and_cells_in_content_controls_are_read() -> None:
    made = docx.Document()
    table = _table(made, ("型号", "价格"), ("H10", "199"))
    row = table._tbl.tr_lst[1]
    control = parse_xml(f"<w:sdt {nsdecls('w')}><w:sdtContent/></w:sdt>")
    row.addprevious(control)
    control[0].append(row)
    assert shown(made) == ["型号：H10；价格：199"]


# --- What is left out ------------------------------------------------------------------------


def _told(parsed: ParsedDocument) -> dict[str, int]:
    return {notice.part: notice.characters for notice in parsed.notices if notice.code is NoticeCode.LEFT_OUT}


def test_what_is_not_read_is_told_with_its_place_and_size() -> None:
    made = docx.Document()
    made.add_paragraph("正文。")
    made.sections[0].header.paragraphs[0].text = "云雀电器"
    made.sections[0].footer.paragraphs[0].text = "内部 资料"
    deleted = "<w:del><w:r><w:delText>原为十天</w:delText></w:r></w:del>"
    moved = f"<w:moveFrom>{run('搬走')}</w:moveFrom>"
    ruby = f"<w:r><w:ruby><w:rt>{run('lián')}</w:rt><w:rubyBase>{run('鲢')}</w:rubyBase></w:ruby></w:r>"
    body(made, _paragraph(run("七天。"), deleted, moved, ruby))
    comment = f"<w:comments {nsdecls('w')}><w:comment w:id='1'>{_paragraph(run('请核对'))}</w:comment></w:comments>"
    attach(made, "comments", comment)
    style(made, "toc 1")
    made.add_paragraph("总则\t1", "toc 1")
    parsed = read(made)
    assert [block.text for block in parsed.blocks] == ["正文。", "七天。鲢"]
    assert _told(parsed) == {
        "页眉": 4,
        "页脚": 4,
        "批注": 3,
        "修订中删除的文字": 6,
        "注音": 4,
        "目录": 3,
    }
    header = next(notice for notice in parsed.notices if notice.part == "页眉")
    assert header.message == "页眉没有入库：每页重复，不是正文，共 4 字"


def test_charts_and_embedded_objects_are_told() -> None:
    made = docx.Document()
    chart = (
        '<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:t>季度</a:t><c:v>120</c:v></c:chartSpace>'
    )
    relation = attach(made, "chart", chart)
    space = "http://schemas.openxmlformats.org/drawingml/2006/chart"
    body(made, _paragraph(run("见图。"), _drawing(f'<c:chart xmlns:c="{space}" r:id="{relation}"/>')))
    body(made, _paragraph('<w:r><w:object><o:OLEObject ProgID="Equation.DSMT4"/></w:object></w:r>'))
    assert _told(read(made)) == {"图表和 SmartArt": 5, "嵌入的对象": 0}


def test_hidden_text_is_neither_read_nor_told() -> None:
    made = docx.Document()
    body(made, _paragraph(run("正文。"), "<w:r><w:rPr><w:vanish/></w:rPr><w:t>藏起来</w:t></w:r>"))
    parsed = read(made)
    assert [block.text for block in parsed.blocks] == ["正文。"]
    assert parsed.notices == ()


def _random_document(seed: int) -> docx.document.Document:
    """Of anything that Word writes, every text in it another one."""
    draw = random.Random(seed)
    made = docx.Document()
    define(made, 90, [level(0, "chineseCounting", "%1、"), level(1, "decimal", "（%2）")])
    counted = 0

    def text() -> str:
        nonlocal counted
        counted += 1
        return f"文{seed}之{counted}终"

    def linked() -> str:
        return f"<w:hyperlink>{run(text())}</w:hyperlink>"

    def inserted() -> str:
        return f"<w:ins>{run(text())}</w:ins>"

    def control() -> str:
        return f"<w:sdt><w:sdtPr/><w:sdtContent>{run(text())}</w:sdtContent></w:sdt>"

    def formula() -> str:
        return f"<m:oMath><m:r><m:t>{text()}</m:t></m:r></m:oMath>"

    def deletion() -> str:
        return f"<w:moveFrom>{run(text())}</w:moveFrom>"

    def boxed() -> str:
        return _box(text(), text())

    def noted() -> str:
        texts.append(text())
        return refer("footnote", len(texts))

    def ruby() -> str:
        return f"<w:r><w:ruby><w:rt>{run(text())}</w:rt><w:rubyBase>{run(text())}</w:rubyBase></w:ruby></w:r>"

    texts: list[str] = []
    inline = [linked, inserted, control, formula, deletion, boxed, noted, ruby]
    styles = ["Normal", "Heading 1", "Heading 2", "Title", "Quote", "Caption", "List Bullet", "List Number"]
    for _ in range(draw.randint(3, 12)):
        match draw.randrange(4):
            case 0:
                numbered(made, text(), 90, draw.randrange(2))
            case 1:
                width = draw.randint(2, 4)
                table = _table(made, *(tuple(text() for _ in range(width)) for _ in range(draw.randint(2, 4))))
                if draw.random() < 0.5:
                    inner = table.cell(1, draw.randrange(width)).add_table(2, 2)
                    for cell in inner._cells:
                        cell.text = text()
            case _:
                content = "".join(draw.choice(inline)() for _ in range(draw.randint(0, 3)))
                named = made.styles[draw.choice(styles)].style_id
                properties = f'<w:pPr><w:pStyle w:val="{named}"/></w:pPr>'
                body(made, f"<w:p>{properties}{run(text())}{content}</w:p>")
    notes(made, "footnote", dict(enumerate(texts, start=1)))
    if draw.random() < 0.5:
        made.sections[0].header.paragraphs[0].text = text()
    return made


@pytest.mark.parametrize("seed", range(40))
def test_every_visible_text_is_in_a_block_or_counted_among_what_is_left_out(seed: int) -> None:
    made = _random_document(seed)
    visible = [
        node.text or ""
        for node in made.element.body.iter(qn("w:t"), f"{MATH}t")
        if not any(parent.tag.endswith("}Fallback") for parent in node.iterancestors())
    ]
    part = next(part for part in made.part.package.iter_parts() if part.partname == "/word/footnotes.xml")
    visible += re.findall(r"文\d+之\d+终", part.blob.decode())
    visible += [paragraph.text for paragraph in made.sections[0].header.paragraphs if paragraph.text]
    parsed = read(made)
    held = "\n".join([parsed.title, *(line for block in parsed.blocks for line in (*block.heading_path, block.text))])
    missing = [text.strip() for text in visible if text.strip() not in held]
    assert sum(map(len, missing)) == sum(_told(parsed).values())
    assert (
        Counter(re.findall(r"文\d+之\d+终", "\n".join(block.text for block in parsed.blocks))).most_common(1)[0][1] <= 2
    )
