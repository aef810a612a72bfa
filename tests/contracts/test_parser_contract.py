"""What every parser promises, on a real file of each format and on the damage that can be done to it."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Iterator
from contextlib import suppress

import docx
import pytest

from app.errors import find_status
from knowledge.errors import (
    BrokenDocument,
    DocumentTooLarge,
    EmptyDocument,
    HostileDocument,
    InvalidDocument,
    UnsupportedType,
)
from knowledge.parsing.limits import ParsingLimits
from knowledge.parsing.registry import PARSERS, check_name, parse
from knowledge.types import ParsedDocument
from tests.knowledge.parsing.files import damaged, in_order, page, pdf, rezip, word
from tests.knowledge.parsing.offices import book, deck, mail, saved
from tests.sheets import build_workbook

_LINES = ("签收后 7 天内可以退货。", "运费由买家承担。")


def _docx() -> bytes:
    document = docx.Document()
    for line in _LINES:
        document.add_paragraph(line)
    return word(document)


_TEXT = "\n\n".join(_LINES).encode()
_HTML = f"<title>退货</title><p>{_LINES[0]}</p><p>{_LINES[1]}</p>".encode()
_TABLE = f"说明,备注\n{_LINES[0]},\n{_LINES[1]},无\n".encode()
SAMPLES = {
    ".md": _TEXT,
    ".markdown": _TEXT,
    ".mdx": _TEXT,
    ".txt": _TEXT,
    ".html": _HTML,
    ".htm": _HTML,
    ".pdf": pdf(page(*_LINES), page("第二页的内容。")),
    ".docx": _docx(),
    ".xlsx": build_workbook({"退货": [["说明", "备注"], [_LINES[0], None], [_LINES[1], "无"]]}),
    ".csv": _TABLE,
    ".tsv": _TABLE.replace(b",", b"\t"),
    ".pptx": saved(deck(("退货", _LINES))),
    ".json": json.dumps([{"说明": line} for line in _LINES]).encode(),
    ".jsonl": b"\n".join(json.dumps({"说明": line}).encode() for line in _LINES),
    ".epub": book({"1.xhtml": "".join(f"<p>{line}</p>" for line in _LINES)}),
    ".eml": bytes(mail("退货", "\n".join(_LINES))),
}
_WRONG_CONTENT = {
    "png": b"\x89PNG\r\n\x1a\n" + bytes(64),
    "jpeg": b"\xff\xd8\xff\xe0" + bytes(64),
    "zip": b"PK\x03\x04" + bytes(64),
    "legacy word": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(64),
}


@pytest.fixture(params=sorted(PARSERS))
def suffix(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_registered_suffix_has_a_sample() -> None:
    assert set(SAMPLES) == set(PARSERS), "give every suffix a file with _LINES in SAMPLES"


def test_reads_the_text_in_order(suffix: str) -> None:
    parsed = parse(f"退货说明{suffix}", SAMPLES[suffix])
    assert in_order(_LINES, "\n".join(block.text for block in parsed.blocks))


def test_upper_case_suffix_is_the_same_format(suffix: str) -> None:
    assert parse(f"A{suffix.upper()}", SAMPLES[suffix]).blocks == parse(f"A{suffix}", SAMPLES[suffix]).blocks


def test_parsing_is_deterministic(suffix: str) -> None:
    assert parse(f"a{suffix}", SAMPLES[suffix]) == parse(f"a{suffix}", SAMPLES[suffix])


@pytest.mark.parametrize("content", [b"", b" \r\n\t\n"])
def test_empty_file_is_refused(suffix: str, content: bytes) -> None:
    with pytest.raises(EmptyDocument, match=f"《空{suffix}》"):
        parse(f"空{suffix}", content)


@pytest.mark.parametrize("kind", sorted(_WRONG_CONTENT))
def test_content_of_another_format_is_broken(suffix: str, kind: str) -> None:
    with pytest.raises(BrokenDocument, match="伪装"):
        parse(f"伪装{suffix}", _WRONG_CONTENT[kind])


def test_over_the_byte_limit_is_too_large(suffix: str) -> None:
    with pytest.raises(DocumentTooLarge, match="大小上限"):
        parse(f"大{suffix}", SAMPLES[suffix], ParsingLimits(max_bytes=10))


def test_over_the_character_limit_is_too_large(suffix: str) -> None:
    with pytest.raises(DocumentTooLarge, match="字的上限"):
        parse(f"长{suffix}", SAMPLES[suffix], ParsingLimits(max_characters=10))


def test_damage_leads_to_a_document_or_to_an_invalid_document(suffix: str) -> None:
    refused = 0
    for content in damaged(SAMPLES[suffix], range(60)):
        try:
            parsed = parse(f"坏{suffix}", content)
        except InvalidDocument as error:
            refused += 1
            assert f"坏{suffix}" in str(error)
            assert 400 <= find_status(error) < 500
        else:
            _assert_clean(parsed)
    assert refused


def test_random_bytes_lead_to_a_document_or_to_an_invalid_document(suffix: str) -> None:
    signature = SAMPLES[suffix][:8]
    for seed in range(60):
        noise = random.Random(seed).randbytes(seed * 20 + 1)
        for content in (noise, signature + noise):
            with suppress(InvalidDocument):
                _assert_clean(parse(f"乱{suffix}", content))


def _texts(parsed: ParsedDocument) -> Iterator[str]:
    yield parsed.title
    for block in parsed.blocks:
        yield block.text
        yield from block.heading_path
    for pair in parsed.faqs:
        yield from (pair.question, pair.answer, *pair.variants)


def _assert_clean(parsed: ParsedDocument) -> None:
    assert parsed.title
    assert parsed.blocks or parsed.faqs
    for text in _texts(parsed):
        assert text.strip()
        assert "\0" not in text
        text.encode()  # no lone surrogates


@pytest.mark.parametrize("name", ["a.mdb", "a.exe", "a", ".txt", "a.pdf.zip"])
def test_unknown_suffix_is_unsupported(name: str) -> None:
    with pytest.raises(UnsupportedType, match=r"\.pdf"):
        parse(name, b"x")


@pytest.mark.parametrize(
    "name",
    [
        "", "  ", "../a.txt", "..", "..\\a.txt", "/etc/a.txt", "a/b.txt", "C:\\a.txt", "a\0.txt", "a\n.txt",
        "a\x1b[31m.txt", "CON.txt", "nul", "com1.docx", "x" * 201, "invoice\u202etxt.pdf", "a\ud800.txt",
    ],
)  # fmt: skip
def test_hostile_name_is_refused_and_shown_clean(name: str) -> None:
    with pytest.raises(HostileDocument) as caught:
        parse(name, b"x")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 120


def test_name_is_normalised() -> None:
    assert check_name(" cafe\u0301 说明..v2.pdf ") == "caf\u00e9 说明..v2.pdf"


@pytest.mark.parametrize(("suffix", "entry"), [(".docx", "word/document.xml"), (".xlsx", "xl/worksheets/sheet1.xml")])
def test_damage_inside_an_intact_archive_leads_to_a_document_or_to_an_invalid_document(suffix: str, entry: str) -> None:
    with zipfile.ZipFile(io.BytesIO(SAMPLES[suffix])) as archive:
        inner = archive.read(entry)
    for content in damaged(inner, range(20)):
        with suppress(InvalidDocument):
            _assert_clean(parse(f"坏{suffix}", rezip(SAMPLES[suffix], {entry: content})))
