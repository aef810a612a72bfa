from __future__ import annotations

import io
import zipfile
from time import process_time

import openpyxl
import pytest

from knowledge.errors import BrokenDocument, DocumentTooLarge, EmptyDocument, HostileDocument, InvalidDocument
from knowledge.parsing.faq_columns import ColumnPlaces, find_by_name
from knowledge.sheets import SheetOptions, read_sheet
from tests.sheets import build_workbook


def test_gbk_tabs_and_invisible_characters_are_read() -> None:
    sheet = read_sheet("a.csv", "问题\t答案\n能退\u200b吗\t可以\n".encode("gb18030").replace(b"\xff", b""))
    assert sheet.columns == ("问题", "答案")
    assert sheet.rows[0].cells == {"问题": "能退吗", "答案": "可以"}


def test_a_header_of_brackets_without_end_is_no_name_and_takes_no_time() -> None:
    cells = ["(" * 20_000, "相似" * 10_000, "问题", "答案"]
    begun = process_time()
    assert find_by_name(cells) == ColumnPlaces(2, 3)
    assert process_time() - begun < 2  # over 6 s by patterns that take the square of a name's length
    with pytest.raises(DocumentTooLarge):
        read_sheet("a.csv", ("(" * 20_001 + "\n").encode(), SheetOptions(faq_header=True))


def test_the_first_row_tells_what_separates_cells() -> None:
    rows = "\n".join(["kind,term,others,both_ways", *["synonym,快递,物流|运单|包裹|邮件"] * 10])
    assert read_sheet("a.csv", rows.encode()).rows[0].cells["others"] == "物流|运单|包裹|邮件"
    assert read_sheet("a.csv", ";;\n问题;答案\n能退吗;可以, 七天\n".encode()).rows[0].cells["答案"] == "可以, 七天"


def test_hidden_sheets_and_further_ones_are_not_read() -> None:
    book = openpyxl.load_workbook(
        io.BytesIO(build_workbook({"内部": [["a"], ["1"]], "表": [["b"], ["2"]], "另": [["c"]]}))
    )
    book["内部"].sheet_state = "hidden"
    out = io.BytesIO()
    book.save(out)
    assert [row.cells for row in read_sheet("x", out.getvalue()).rows] == [{"b": "2"}]


def far_row() -> bytes:
    """A workbook whose one row of data claims to be the last of a billion."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(build_workbook({"表": [["a"], ["b"]]}))) as old, zipfile.ZipFile(out, "w") as new:
        for entry in old.infolist():
            new.writestr(entry, old.read(entry).replace(b'<row r="2"', b'<row r="999999999"'))
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b" \n", EmptyDocument),
        (b",,\n,,", EmptyDocument),
        (b"a\n" + b"x\n" * 4, DocumentTooLarge),
        (b"a,b,c,d\n", DocumentTooLarge),
        (b"a\n" + b"x" * 51, DocumentTooLarge),
        (b"x" * 2001, DocumentTooLarge),
        (b"a\n" + b",\n" * 20 + b"x\n", DocumentTooLarge),
        (b"a\0b", HostileDocument),
        (b"PK\x03\x04 no archive", BrokenDocument),
        (far_row(), DocumentTooLarge),
    ],
    ids=["blank", "no words", "rows", "columns", "cell", "bytes", "cells", "binary", "no archive", "far row"],
)
def test_what_is_no_table_or_too_large_is_refused(content: bytes, error: type[InvalidDocument]) -> None:
    limits = SheetOptions(bytes=2000 if not content.startswith(b"PK") else 10**5, rows=3, columns=3, characters=50)
    with pytest.raises(error):
        read_sheet("a.csv", content, limits)
