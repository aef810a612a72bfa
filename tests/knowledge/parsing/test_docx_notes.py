from __future__ import annotations

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from knowledge.blocks import BlockKind
from tests.knowledge.parsing.word_files import blocks, body, define, level, notes, numbered, place, read, refer, run


def _of(made: docx.document.Document) -> list[tuple[BlockKind, str]]:
    return [(block.kind, block.text.lstrip()) for block in blocks(made)]


@pytest.mark.parametrize(("kind", "marks"), [("footnote", ("[1]", "[2]")), ("endnote", ("[i]", "[ii]"))])
def test_a_note_follows_the_block_that_refers_to_it(kind: str, marks: tuple[str, str]) -> None:
    made = docx.Document()
    notes(made, kind, {5: "不含节假日。", 3: "以签收日为准。", 8: "无人提到。"})
    body(made, f"<w:p>{run('七天内')}{refer(kind, 3)}{run('退货，三天内')}{refer(kind, 5)}{run('退款。')}</w:p>")
    made.add_paragraph("之后的正文。")
    assert _of(made) == [
        (BlockKind.PARAGRAPH, f"七天内{marks[0]}退货，三天内{marks[1]}退款。"),
        (BlockKind.FOOTNOTE, f"{marks[0]} 以签收日为准。"),
        (BlockKind.FOOTNOTE, f"{marks[1]} 不含节假日。"),
        (BlockKind.PARAGRAPH, "之后的正文。"),
    ]
    assert blocks(made)[1].marker == marks[0]


def _settings(made: docx.document.Document, form: str, start: int = 1, restart: str = "continuous") -> str:
    said = f'<w:numFmt w:val="{form}"/><w:numStart w:val="{start}"/><w:numRestart w:val="{restart}"/>'
    return f"<w:footnotePr {nsdecls('w')}>{said}</w:footnotePr>"


def test_marks_have_the_form_and_the_start_that_the_document_says() -> None:
    made = docx.Document()
    made.settings.element.append(parse_xml(_settings(made, "decimalEnclosedCircleChinese", 3)))
    notes(made, "footnote", {1: "甲。", 2: "乙。"})
    body(made, f"<w:p>{run('正文')}{refer('footnote', 1)}{refer('footnote', 2)}</w:p>")
    assert [text for _, text in _of(made)] == ["正文③④", "③ 甲。", "④ 乙。"]


def test_marks_begin_anew_in_each_section_where_it_says_so() -> None:
    made = docx.Document()
    made.settings.element.append(parse_xml(_settings(made, "decimal", 1, "eachSect")))
    notes(made, "footnote", {1: "甲。", 2: "乙。"})
    body(made, f"<w:p><w:pPr><w:sectPr/></w:pPr>{run('前')}{refer('footnote', 1)}</w:p>")
    body(made, f"<w:p>{run('后')}{refer('footnote', 2)}</w:p>")
    assert [text for _, text in _of(made)] == ["前[1]", "[1] 甲。", "后[1]", "[1] 乙。"]


def test_a_mark_of_its_own_is_told_and_not_counted() -> None:
    made = docx.Document()
    notes(made, "footnote", {1: "特价除外。", 2: "乙。"})
    own = refer("footnote", 1, 'w:customMarkFollows="1"', "＊")
    body(made, f"<w:p>{run('可退')}{own}{run('。另见')}{refer('footnote', 2)}</w:p>")
    assert [text for _, text in _of(made)] == ["可退＊。另见[1]", "＊ 特价除外。", "[1] 乙。"]


def test_notes_of_headings_items_and_cells() -> None:
    made = docx.Document()
    define(made, 90, [level(0, "decimal", "%1.")])
    notes(made, "footnote", {1: "标题的注。", 2: "条目的注。", 3: "单元格的注。"})
    body(made, f'<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>{run("退货")}{refer("footnote", 1)}</w:p>')
    body(made, f"<w:p><w:pPr>{place(90, 0)}</w:pPr>{run('申请')}{refer('footnote', 2)}</w:p>")
    numbered(made, "寄回", 90)
    table = made.add_table(2, 2)
    for column, text in enumerate(("品类", "期限")):
        table.cell(0, column).text = text
        table.cell(1, column).text = ("耳机", "7 天")[column]
    table.cell(1, 1).paragraphs[0]._p.append(parse_xml(refer("footnote", 3).replace("<w:r>", f"<w:r {nsdecls('w')}>")))
    found = blocks(made)
    assert [block.text.strip() for block in found] == [
        "[1] 标题的注。",
        "1. 申请[2]",
        "[2] 条目的注。",
        "2. 寄回",
        "品类：耳机；期限：7 天[3]",
        "[3] 单元格的注。",
    ]
    assert {block.heading_path for block in found} == {("退货",)}
    items = [block.group for block in found if block.kind is BlockKind.ITEM]
    assert len(set(items)) == 1, "a note within a list does not end it"


def test_a_note_that_was_deleted_with_its_sentence_is_not_read() -> None:
    made = docx.Document()
    notes(made, "footnote", {1: "作废。", 2: "有效。"})
    body(made, f"<w:p>{run('正文')}<w:del>{refer('footnote', 1)}</w:del>{refer('footnote', 2)}</w:p>")
    assert [text for _, text in _of(made)] == ["正文[1]", "[1] 有效。"]


def test_a_reference_to_no_note_is_a_mark_alone() -> None:
    made = docx.Document()
    body(made, f"<w:p>{run('正文')}{refer('footnote', 9)}</w:p>")
    assert _of(made) == [(BlockKind.PARAGRAPH, "正文[1]")]
    assert read(made).notices == ()
