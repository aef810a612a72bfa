"""Presentations, books and mails, made when they are asked for."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from email.message import EmailMessage

from pptx import Presentation
from pptx.util import Inches

_CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


def deck(*slides: tuple[str, Sequence[str]]) -> Presentation:
    """A slide has a title and lines of text."""
    made = Presentation()
    for title, lines in slides:
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "\n".join(lines)
    return made


def saved(made: Presentation) -> bytes:
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def box(slide: object, text: str, left: float, top: float) -> object:
    """A text box; inches from the corner of the slide."""
    shape = slide.shapes.add_textbox(Inches(left), Inches(top), Inches(3), Inches(0.5))  # type: ignore[attr-defined]
    shape.text_frame.text = text
    return shape


def book(chapters: Mapping[str, str], title: str = "", extra: Mapping[str, str] | None = None) -> bytes:
    """An EPUB of chapters by file name, the body of each in XHTML; the spine is in their order."""
    items = "".join(
        f'<item id="c{n}" href="{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{number}"/>' for number in range(len(chapters)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<metadata><dc:title>{title}</dc:title></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        archive.writestr("META-INF/container.xml", _CONTAINER)
        archive.writestr("OEBPS/book.opf", package)
        for name, body in chapters.items():
            page = f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>{body}</body></html>'
            archive.writestr(f"OEBPS/{name}", page)
        for name, content in (extra or {}).items():
            archive.writestr(name, content)
    return buffer.getvalue()


def mail(subject: str, text: str = "", html: str = "", attached: Mapping[str, bytes] | None = None) -> EmailMessage:
    """Attachments by file name."""
    made = EmailMessage()
    made["From"], made["To"] = "客服主管 <lead@example.com>", "team@example.com"
    made["Date"], made["Subject"] = "Mon, 02 Mar 2026 09:30:00 +0800", subject
    if text:
        made.set_content(text)
    if html:
        (made.add_alternative if text else made.set_content)(html, subtype="html")
    for name, content in (attached or {}).items():
        made.add_attachment(content, "application", "octet-stream", filename=name)
    return made
