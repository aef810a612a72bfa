"""Reads e-mail (.eml): its headers, its text, and its attachments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import MIMEPart
from pathlib import PurePath

from knowledge.blocks import Block
from knowledge.errors import BrokenDocument, EmptyDocument, InvalidDocument, ScannedDocument
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.decoding import decode
from knowledge.parsing.pieces import Enclosed, Piece, Title
from knowledge.parsing.registry import parse
from knowledge.types import Notice, NoticeCode, ParsedDocument

_HEADERS = {"from": "发件人", "to": "收件人", "date": "日期"}
# One of these stands in every mail.
_SOME = (*_HEADERS, "subject", "message-id", "received")
_MAX_HEADER = 200
# Mails within mails.
_MAX_DEPTH = 2
_SIGNATURE = re.compile(r"^-- $", re.MULTILINE)
_QUOTED = re.compile(r"^(?:> ?)+", re.MULTILINE)


class EmlParser(Parser):
    """The title is the subject. An attachment that cannot be read is named and does not stop the mail."""

    def _read_pieces(self, source: SourceFile) -> Iterator[Piece]:
        message = message_from_bytes(source.content, policy=policy.default)
        if not any(header in message for header in _SOME):
            raise BrokenDocument(source.name, "的内容与扩展名不符：没有邮件头")
        yield from self._read_mail(source, message, 0)

    def _read_mail(self, source: SourceFile, message: MIMEPart, depth: int) -> Iterator[Piece]:
        if not depth:
            yield Title(_read_header(message, "subject"))
        attached = [part for part in message.iter_attachments() if isinstance(part, MIMEPart)]
        lines = [f"{label}：{text}" for name, label in _HEADERS.items() if (text := _read_header(message, name))]
        body = message.get_body(("html", "plain"))
        found = self._read_body(source, body) if body is not None else None
        if lines and (found or depth or attached):
            yield Block("；".join(lines))
        if found:
            yield Enclosed("", found)
        for part in attached:
            yield from self._read_attachment(source, part, depth)

    def _read_body(self, source: SourceFile, body: MIMEPart) -> ParsedDocument | None:
        """Reads the body; None if nothing is written in it."""
        text = decode(source.name, _read_bytes(body), body.get_content_charset() or "")
        html = body.get_content_subtype() == "html"
        if not html:
            text = _QUOTED.sub("", _SIGNATURE.split(text)[0])
        try:
            return _read_part("正文.html" if html else "正文.txt", text.encode(), source)
        except EmptyDocument:
            return None

    def _read_attachment(self, source: SourceFile, part: MIMEPart, depth: int) -> Iterator[Piece]:
        if part.get_content_type() == "message/rfc822":
            inner = part.get_payload(0)
            if depth == _MAX_DEPTH:
                yield Notice(NoticeCode.PARTS_NOT_READ, f"转发套得过深的邮件没有读取：只读 {_MAX_DEPTH} 层")
            elif isinstance(inner, MIMEPart):
                subject = _read_header(inner, "subject")
                yield Block(f"转发的邮件：{subject}") if subject else Block("转发的邮件")
                yield from self._read_mail(source, inner, depth + 1)
            return
        name = PurePath((part.get_filename() or "").replace("\\", "/")).name
        shown = part.get_content_disposition() == "inline" and part.get_content_maintype() == "image"
        if not name or shown:  # pictures between the lines, logos of signatures
            return
        try:
            yield Enclosed(name, _read_part(name, _read_bytes(part), source))
        except ScannedDocument:
            yield Notice(NoticeCode.PAGES_WITHOUT_TEXT, f"附件《{name}》只有图片、没有文字，内容没有入库")
        except InvalidDocument as error:
            yield Notice(NoticeCode.PARTS_NOT_READ, f"附件没有读取：{error}")


def _read_part(name: str, content: bytes, mail: SourceFile) -> ParsedDocument:
    """Reads the body or an attachment, a file of another format, within the limits of the mail.

    Raises:
        InvalidDocument: By its subclasses.
    """
    return parse(name, content, mail.limits, recogniser=mail.recogniser)


def _read_header(message: MIMEPart, name: str) -> str:
    """Returns a header on one line; empty if it is missing or unreadable."""
    try:
        value = message[name]
    except (ValueError, IndexError, AttributeError, TypeError):  # the library stumbles over headers of spam
        return ""
    return " ".join(str(value or "").split())[:_MAX_HEADER]


def _read_bytes(part: MIMEPart) -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""
