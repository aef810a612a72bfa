from __future__ import annotations

from email.message import EmailMessage

import pytest

from knowledge.blocks import Block
from knowledge.errors import BrokenDocument
from knowledge.parsing.registry import parse
from knowledge.types import FaqPair, NoticeCode
from tests.knowledge.parsing.files import page, pdf, texts_of
from tests.knowledge.parsing.offices import mail

HEAD = "发件人：客服主管 <lead@example.com>；收件人：team@example.com；日期：Mon, 02 Mar 2026 09:30:00 +0800"


def test_the_subject_titles_what_was_written_when_and_by_whom() -> None:
    parsed = parse(
        "通知.eml", bytes(mail("关于春节运费", "春节期间运费照旧。\n> 运费会变吗？\n-- \n王芳\n分机 8001\n"))
    )
    assert parsed.title == "关于春节运费"
    assert parsed.blocks == (Block(HEAD), Block("春节期间运费照旧。"), Block("运费会变吗？"))


def test_the_richer_form_of_a_message_is_read() -> None:
    html = "<h2>运费</h2><table><tr><th>地区</th><th>运费</th></tr><tr><td>华东</td><td>8 元</td></tr></table>"
    parsed = parse("a.eml", bytes(mail("运费", "请看网页版", html + "<script>x()</script>")))
    assert texts_of(parsed)[1:] == (Block("地区：华东；运费：8 元", ("运费",)),)


def test_attachments_are_read_under_their_names_with_their_pages() -> None:
    pages = pdf(page("第一页的话。"), page("第二页的话。"))
    table = "问题,答案\n能退吗,可以\n".encode()
    message = mail("资料", "见附件。", attached={"说明.pdf": pages, "问答.csv": table})
    parsed = parse("a.eml", bytes(message))
    assert Block("第二页的话。", ("说明.pdf",), 2) in parsed.blocks
    assert parsed.faqs == (FaqPair("能退吗", "可以"),)


def test_an_attachment_that_cannot_be_read_is_named() -> None:
    parsed = parse("a.eml", bytes(mail("资料", "见附件。", attached={"坏的.pdf": b"%PDF-1.4 ?", "程序.exe": b"MZ"})))
    assert [notice.code for notice in parsed.notices] == [NoticeCode.PARTS_NOT_READ] * 2
    assert "坏的.pdf" in parsed.notices[0].message
    assert "程序.exe" in parsed.notices[1].message
    assert parsed.blocks[-1].text == "见附件。"


def test_pictures_between_the_lines_are_passed_over() -> None:
    message = mail("资料", "见下图。")
    message.add_attachment(b"\x89PNG", "image", "png", filename="logo.png", disposition="inline")
    assert parse("a.eml", bytes(message)).notices == ()


def test_a_forwarded_mail_is_read() -> None:
    message = mail("转发", "请参考。")
    message.add_attachment(mail("原来的通知", "原文在此。"))
    texts = [block.text for block in parse("a.eml", bytes(message)).blocks]
    assert texts == [HEAD, "请参考。", "转发的邮件：原来的通知", HEAD, "原文在此。"]


def test_a_body_in_another_encoding_is_read() -> None:
    message = EmailMessage()
    message["Subject"] = "编码"
    message.set_content("繁體內容在此。", charset="big5")
    assert parse("a.eml", bytes(message)).blocks == (Block("繁體內容在此。"),)


def test_text_without_headers_is_no_mail() -> None:
    with pytest.raises(BrokenDocument, match="没有邮件头"):
        parse("a.eml", "你好，\n\n这是一段话。".encode())


def test_mails_within_mails_without_end_are_left_and_said() -> None:
    message = mail("最里面", "读不到。")
    for level in range(4):
        outer = mail(f"第 {level} 层", f"第 {level} 层的正文。")
        outer.add_attachment(message)
        message = outer
    parsed = parse("a.eml", bytes(message))
    texts = [block.text for block in parsed.blocks]
    assert "第 1 层的正文。" in texts and "第 0 层的正文。" not in texts
    assert [notice.code for notice in parsed.notices] == [NoticeCode.PARTS_NOT_READ]
