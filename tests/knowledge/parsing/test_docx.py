from __future__ import annotations

import io
import zipfile

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from knowledge.blocks import Block
from knowledge.errors import BrokenDocument, EncryptedDocument, HostileDocument
from knowledge.parsing.registry import parse
from knowledge.types import FaqPair
from tests.knowledge.parsing.files import rezip, word
from tests.sheets import build_workbook


def test_title_and_heading_styles() -> None:
    document = docx.Document()
    document.add_heading("采购指南", 0)
    document.add_heading("流程", 1)
    document.add_heading("付款", 2)
    document.add_paragraph("对公转账。")
    parsed = parse("a.docx", word(document))
    assert parsed.title == "采购指南"
    assert parsed.blocks == (Block("对公转账。", ("流程", "付款")),)


def test_chinese_style_names() -> None:
    document = docx.Document()
    document.styles.add_style("标题 2", WD_STYLE_TYPE.PARAGRAPH)
    document.add_paragraph("付款", style="标题 2")
    document.add_paragraph("对公转账。")
    assert parse("a.docx", word(document)).blocks == (Block("对公转账。", ("付款",)),)


def test_only_heading_1_titles_the_document_but_chapters_do_not() -> None:
    document = docx.Document()
    document.add_heading("采购指南", 1)
    document.add_paragraph("正文。")
    assert parse("文件.docx", word(document)).title == "采购指南"
    document.add_heading("第二部分", 1)
    document.add_paragraph("正文。")
    parsed = parse("文件.docx", word(document))
    assert parsed.title == "文件"
    assert [block.heading_path for block in parsed.blocks] == [("采购指南",), ("第二部分",)]


def test_lists_show_their_numbers() -> None:
    document = docx.Document()
    for text in ("申请", "寄回"):
        document.add_paragraph(text, style="List Number")
    document.add_paragraph("备注", style="List Bullet")
    assert [block.text for block in parse("a.docx", word(document)).blocks] == ["1. 申请", "2. 寄回", "- 备注"]


def test_tables_stand_in_document_order_and_merged_cells_repeat() -> None:
    document = docx.Document()
    document.add_paragraph("前。")
    table = document.add_table(3, 3)
    rows = (("品类", "型号", "保修"), ("耳机", "H10", "一年"), ("", "H30", "两年"))
    for index, row in enumerate(rows):
        for column, text in enumerate(row):
            table.cell(index, column).text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    document.add_paragraph("后。")
    assert [block.text for block in parse("a.docx", word(document)).blocks] == [
        "前。",
        "品类：耳机；型号：H10；保修：一年",
        "品类：耳机；型号：H30；保修：两年",
        "后。",
    ]


def test_question_and_answer_table_becomes_faq_pairs() -> None:
    document = docx.Document()
    table = document.add_table(2, 2)
    for index, row in enumerate((("问题", "答案"), ("能退吗？", "可以。"))):
        for column, text in enumerate(row):
            table.cell(index, column).text = text
    assert parse("a.docx", word(document)).faqs == (FaqPair("能退吗？", "可以。"),)


def test_insertions_and_links_are_read_and_deletions_are_not() -> None:
    document = docx.Document()
    run = "<w:r><w:t>{}</w:t></w:r>"
    document.element.body.insert(
        0,
        parse_xml(
            f"<w:p {nsdecls('w')}>{run.format('甲')}<w:ins>{run.format('乙')}</w:ins><w:hyperlink>{run.format('丙')}"
            "</w:hyperlink><w:del><w:r><w:delText>丁</w:delText></w:r></w:del></w:p>"
        ),
    )
    assert parse("a.docx", word(document)).blocks[0].text == "甲乙丙"


def test_text_in_content_controls_is_read() -> None:
    document = docx.Document()
    control = f"<w:sdt {nsdecls('w')}><w:sdtContent><w:p><w:r><w:t>控件里</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    document.element.body.insert(0, parse_xml(control))
    assert parse("a.docx", word(document)).blocks[0].text == "控件里"


def _plain() -> bytes:
    document = docx.Document()
    document.add_paragraph("正文。")
    return word(document)


def test_zip_bomb_is_refused_before_it_unfolds() -> None:
    with pytest.raises(HostileDocument, match="压缩炸弹"):
        parse("炸弹.docx", rezip(_plain(), {"word/media/a.bin": bytes(30 * 2**20)}))


def test_entity_definitions_are_refused() -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><x>&b;</x>'
    with pytest.raises(HostileDocument, match="实体"):
        parse("实体.docx", rezip(_plain(), {"word/document.xml": bomb}))


def test_archive_that_lies_about_sizes_is_broken() -> None:
    content = bytearray(rezip(_plain(), {"word/media/a.bin": bytes(2**20)}))
    directory = content.rfind(b"word/media/a.bin") - 46
    content[directory + 24 : directory + 28] = (10).to_bytes(4, "little")
    with pytest.raises(BrokenDocument):
        parse("谎报.docx", bytes(content))


def test_other_archives_are_broken() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "x")
    for content in (buffer.getvalue(), build_workbook({"表": [["甲", "乙"]]})):
        with pytest.raises(BrokenDocument, match="坏"):
            parse("坏.docx", content)


def test_password_protected_office_file_is_named() -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512) + "EncryptedPackage".encode("utf-16-le") + bytes(512)
    for name in ("a.docx", "a.xlsx"):
        with pytest.raises(EncryptedDocument, match="密码"):
            parse(name, ole)
