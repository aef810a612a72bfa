from __future__ import annotations

import gc
import io
import json
from typing import Any

import pytest

from knowledge import errors
from knowledge.chunking import ChunkOptions
from knowledge.extraction import ReadDocument, read_document
from knowledge.file_inspection import InspectedFile
from knowledge.parsing.limits import ParsingLimits
from knowledge.parsing.links import MAX_LINK, MAX_LINKS, PageLinks
from knowledge.sandbox.wire import MAX_REASON, InvalidReply, Job, ParsedReply, decode_reply, encode_reply
from knowledge.sheets import SheetOptions, Spreadsheet, read_sheet
from knowledge.types import FaqColumns

FAQ = "问题,答案,相似问法\n怎么退,七天内可以退。,退货|退款\n".encode()
GOOD: dict[str, Any] = {
    "retires": False,
    "title": "t",
    "paths": [["a"]],
    "chunks": [["x", 0, None, None, "-0", [[0, 1, "paragraph"]]]],
    "about": ["YS-100", "2.3", "2026-01-05"],
    "notices": [["pages_without_text", "x", [2], "", 0]],
}


@pytest.mark.parametrize(("name", "content"), [("a.csv", FAQ), ("a.md", "# 一\n\n甲\n\n## 二\n\n乙".encode())])
def test_a_document_comes_over_as_it_is(name: str, content: bytes) -> None:
    found = read_document(name, content, ParsingLimits(), ChunkOptions())
    assert bool(found.notices) == (content == FAQ)
    assert decode_reply(encode_reply(ParsedReply(found, True)), name) == ParsedReply(found, True)


@pytest.mark.parametrize("content", [FAQ, "甲,,乙,甲\n1,2,3\n,,,4\n5\n6,,,,7,8\n".encode()])
def test_a_table_comes_over_as_it_is(content: bytes) -> None:
    found = read_sheet("a.csv", content, SheetOptions())
    assert decode_reply(encode_reply(ParsedReply(found, False)), "a.csv") == ParsedReply(found, False)


def test_a_job_comes_over_as_it_is() -> None:
    limits, columns, sheet = ParsingLimits(max_rows=7), FaqColumns("问", "B"), SheetOptions(rows=3, faq_header=True)
    job = Job("甲.md", b"\0\xff", limits, ChunkOptions(10, 20, 5), 3, columns, sheet=sheet)
    assert Job.receive(io.BytesIO(job.encode() + job.content)) == job
    assert Job.receive(io.BytesIO((job.encode() + job.content)[:-1])) is None


def test_a_name_that_is_no_unicode_keeps_its_suffix() -> None:
    job = Job("\udcd6.md", b"", ParsingLimits(), ChunkOptions(), 3)
    received = Job.receive(io.BytesIO(job.encode()))
    assert received is not None and received.name == "?.md"


def test_links_and_files_come_over_as_they_are() -> None:
    for result in (PageLinks(("a", "b"), "c", follow=False), InspectedFile("image/png", b"\x00\xff", 3, 4)):
        assert decode_reply(encode_reply(ParsedReply(result, False)), "a") == ParsedReply(result, False)


def test_every_error_comes_over_with_the_name_that_was_asked_for() -> None:
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.InvalidDocument)
    ]
    for kind in kinds:
        result = decode_reply(encode_reply(ParsedReply(kind("别的", "坏" * 1000), False)), "甲.md").result
        assert type(result) is kind
        assert str(result) == "《甲.md》" + "坏" * MAX_REASON


def test_a_memory_error_comes_over() -> None:
    assert isinstance(decode_reply(encode_reply(ParsedReply(MemoryError(), True)), "a").result, MemoryError)


def test_the_good_reply_is_good() -> None:
    assert isinstance(decode_reply(json.dumps(GOOD).encode(), "a").result, ReadDocument)


@pytest.mark.parametrize(
    "payload",
    [
        b"", b"[]", b"\xff", b"{}", b'{"retires": false, "error": "KnowledgeError", "reason": ""}',
        b'{"retires": false, "error": "Exception", "reason": ""}', b'{"retires": false, "error": "EmptyDocument"}',
        json.dumps({"retires": False, "error": "EmptyDocument", "reason": "x" * (MAX_REASON + 1)}).encode(),
        json.dumps({"retires": False, "page": {"links": ["x" * (MAX_LINK + 1)]}}).encode(),
        json.dumps({"retires": False, "page": {"links": ["x"] * (MAX_LINKS + 1)}}).encode(),
        b'{"retires": false, "file": {"media_type": "text/html"}}',
        b'{"retires": false, "file": {"media_type": "text/plain", "picture": "eA=="}}',
        b'{"retires": false, "file": {"media_type": "image/png", "picture": "?"}}',
    ],
)  # fmt: skip
def test_rubbish_is_recognised(payload: bytes) -> None:
    with pytest.raises(InvalidReply):
        decode_reply(payload, "a")


def test_brackets_without_end_are_recognised() -> None:
    gc.disable()  # what other libraries hang into the collector cannot run at such a depth
    try:
        with pytest.raises(InvalidReply):
            decode_reply(b"[" * 100_000, "a")
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "rows", [[[2, ["x"], []]], [["2", ["x", "y"], []]], [[2, ["x", 1], []]], [[2, ["x", "y"], [None]]], [2], None]
)
def test_a_table_of_the_wrong_shape_is_recognised(rows: Any) -> None:
    sheet = {"columns": ["a", "b"], "delimiter": ",", "header": 1}
    good = json.dumps({"retires": False, "sheet": sheet, "rows": [[2, ["x", "y"], []]]})
    assert isinstance(decode_reply(good.encode(), "a").result, Spreadsheet)
    with pytest.raises(InvalidReply):
        decode_reply(json.dumps({"retires": False, "sheet": sheet, "rows": rows}).encode(), "a")


@pytest.mark.parametrize(
    "changes",
    [
        {"retires": 1}, {"title": None}, {"title": "\ud800"}, {"chunks": []}, {"chunks": [["x"]]},
        {"chunks": [["x", 1, None, None, "-0", None]]}, {"chunks": [["x", -1, None, None, "-0", None]]},
        {"chunks": [["x", 0, None, None, "-0", None, None]]}, {"about": ["x" * 51, "", ""]},
        {"chunks": [["x", 0, "1", None, "-0", None]]}, {"chunks": [[1, 0, None, None, "-0", None]]}, {"paths": [[1]]},
        {"chunks": [["x", 0, None, None, "other-0", None]]}, {"chunks": [["x", 0, None, 5, "-0", None]]},
        {"chunks": [["x", 0, None, None, "-0", 1]]}, {"chunks": [["x", 0, None, None, "-0", [[0, 2, "paragraph"]]]]},
        {"chunks": [["x", 0, None, None, "-0", [[0, 1, "other"]]]]},
        {"chunks": [["x", 0, None, None, "-0", [[0, 1, "row", 0, "", "", [["a", 1]]]]]]},
        {"notices": [["other", "x", [], "", 0]]}, {"notices": [["faq_columns", 1, [], "", 0]]},
        {"notices": [["faq_columns", "x", ["1"], "", 0]]},
    ],
)  # fmt: skip
def test_a_reply_of_the_wrong_shape_is_recognised(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidReply):
        decode_reply(json.dumps(GOOD | changes).encode(), "a")
