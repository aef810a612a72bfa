from __future__ import annotations

import io
import json
from collections.abc import Iterator

import docx
import pytest

from knowledge.blocks import Block
from knowledge.errors import BrokenDocument, ParserFault
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.docx_tables import read_table
from knowledge.parsing.faults import is_fault, list_frames
from knowledge.parsing.limits import ParsingLimits
from knowledge.parsing.pieces import Piece
from knowledge.parsing.registry import parse
from knowledge.sandbox import wire
from knowledge.sandbox.wire import ParsedReply, decode_reply, encode_reply
from tests.knowledge.parsing.files import rezip, word
from tests.logs import product_log


class _Mistaken(Parser):
    """Asks our own code for what no table of Word is."""

    def _read_pieces(self, source: SourceFile) -> Iterator[Piece]:
        yield Block("甲")
        yield from read_table(source.content.decode(), lambda _: ())


class _Disliked(Parser):
    """A library finds the file wanting."""

    def _read_pieces(self, source: SourceFile) -> Iterator[Piece]:
        json.loads(source.content)
        yield Block("甲")


class _Careless(Parser):
    """A library raises in its own code what a mistake of ours would be."""

    def _read_pieces(self, source: SourceFile) -> Iterator[Piece]:
        docx.Document(io.BytesIO(rezip(word(docx.Document()), {"[Content_Types].xml": b"<a/>"})))
        yield Block("甲")


def _source(content: bytes = b"abc") -> SourceFile:
    return SourceFile("表.pdf", content, ParsingLimits())


def test_a_mistake_of_ours_is_told_as_one_with_its_place_in_the_log() -> None:
    with product_log("INFO") as stream, pytest.raises(ParserFault, match="不一定是文件的问题") as caught:
        _Mistaken().parse(_source("客户张三".encode()))
    assert any("docx_tables.py" in frame for frame in caught.value.frames)
    [line] = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert line["level"] == "ERROR" and any("docx_tables.py" in frame for frame in line["stack"])
    assert "张三" not in stream.getvalue()


@pytest.mark.parametrize("parser", [_Disliked, _Careless])
def test_what_a_library_does_not_like_is_a_broken_file(parser: type[Parser]) -> None:
    with pytest.raises(BrokenDocument, match="可能已损坏"):
        parser().parse(_source())


def test_a_fault_keeps_its_place_on_its_way_from_the_worker_to_the_log() -> None:
    try:
        raise IndexError("list index out of range")
    except IndexError as error:
        fault = ParserFault("表.pdf", "没能读完", list_frames(error))
    found = decode_reply(encode_reply(ParsedReply(fault, retires=False)), "表.pdf").result
    assert isinstance(found, ParserFault)
    assert found.frames == fault.frames
    assert found.frames[-1] == "IndexError" and "test_faults.py" in found.frames[-2]


def test_what_a_worker_says_of_a_fault_is_bounded() -> None:
    said = encode_reply(
        ParsedReply(ParserFault("表.pdf", "原因", tuple("长" * 9999 for _ in range(999))), retires=False)
    )
    found = decode_reply(said, "表.pdf").result
    assert isinstance(found, ParserFault)
    assert len(found.frames) == wire.MAX_FRAMES and max(map(len, found.frames)) == wire.MAX_REASON
    with pytest.raises(wire.InvalidReply):
        decode_reply(
            json.dumps({"retires": False, "error": "ParserFault", "reason": "x", "frames": [1]}).encode(), "表.pdf"
        )


def test_errors_of_the_tests_own_code_are_nobodys_fault_here() -> None:
    try:
        [][1]
    except IndexError as error:
        assert not is_fault(error)


def test_a_document_without_a_body_is_broken() -> None:
    space = b'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    with pytest.raises(BrokenDocument):
        parse("空.docx", rezip(word(docx.Document()), {"word/document.xml": b"<w:document " + space + b"/>"}))
