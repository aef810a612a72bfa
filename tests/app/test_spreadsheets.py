from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import openpyxl
import pytest

from app.spreadsheets import XLSX, SheetLimits, SheetRow, read_sheet, write_csv, write_sheet, write_xlsx
from knowledge.errors import (
    BrokenDocument,
    DocumentTooLarge,
    EmptyDocument,
    HostileDocument,
    InvalidDocument,
    UnsupportedType,
)
from scripts.integration.documents import workbook

Write = Callable[..., bytes]
COLUMNS = ("Question", "回答")
WRITERS = {"csv": write_csv, "xlsx": lambda columns, rows: write_xlsx("问答", columns, rows)}


@pytest.fixture(params=WRITERS)
def write(request: pytest.FixtureRequest) -> Write:
    return WRITERS[request.param]


def test_rows_come_back_by_the_names_of_their_columns_and_their_numbers(write: Write) -> None:
    sheet = read_sheet("问答", write(COLUMNS, [[" 怎么退货？", "七天内\n联系客服"], ["", None], ["保修多久", 12]]))
    assert sheet.columns == ("question", "回答")
    assert sheet.rows == (
        SheetRow(2, {"question": "怎么退货？", "回答": "七天内\n联系客服"}),
        SheetRow(4, {"question": "保修多久", "回答": "12"}),
    )
    assert sheet.rows[0].first("问题", "question") == "怎么退货？"
    assert sheet.rows[0].first("别的") == ""


@pytest.mark.parametrize("text", ["=1+1", "+86 10", "-5", "@SUM(A1)", "＝cmd", "'=1+1", "''-", "'引文"])
def test_what_a_spreadsheet_would_run_is_quoted_and_comes_back_as_it_was(write: Write, text: str) -> None:
    content = write(COLUMNS, [[text, "x"]])
    if content.startswith(b"PK"):
        cell = openpyxl.load_workbook(io.BytesIO(content)).active["A2"]
        assert cell.data_type == "s"
        shown = str(cell.value)
    else:
        shown = content.decode("utf-8-sig").splitlines()[1]
    assert not shown.startswith(("=", "+", "-", "@", "＝"))
    assert read_sheet("x", content).rows[0].cells["question"] == text


def test_gbk_tabs_and_invisible_characters_are_read() -> None:
    sheet = read_sheet("a.csv", "问题\t答案\n能退\u200b吗\t可以\n".encode("gb18030").replace(b"\xff", b""))
    assert sheet.columns == ("问题", "答案")
    assert sheet.rows[0].cells == {"问题": "能退吗", "答案": "可以"}


def test_what_xml_cannot_hold_stops_no_workbook() -> None:
    content = write_xlsx("表", ["问题"], [["怎么\ufffe退\uffff款"]])
    assert read_sheet("x", content).rows[0].cells["问题"] == "怎么退款"


def test_the_first_row_tells_what_separates_cells() -> None:
    rows = "\n".join(["kind,term,others,both_ways", *["synonym,快递,物流|运单|包裹|邮件"] * 10])
    assert read_sheet("a.csv", rows.encode()).rows[0].cells["others"] == "物流|运单|包裹|邮件"
    assert read_sheet("a.csv", ";;\n问题;答案\n能退吗;可以, 七天\n".encode()).rows[0].cells["答案"] == "可以, 七天"


def test_hidden_sheets_and_further_ones_are_not_read() -> None:
    book = openpyxl.load_workbook(io.BytesIO(workbook({"内部": [["a"], ["1"]], "表": [["b"], ["2"]], "另": [["c"]]})))
    book["内部"].sheet_state = "hidden"
    out = io.BytesIO()
    book.save(out)
    assert [row.cells for row in read_sheet("x", out.getvalue()).rows] == [{"b": "2"}]


def far_row() -> bytes:
    """A workbook whose one row of data claims to be the last of a billion."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook({"表": [["a"], ["b"]]}))) as old, zipfile.ZipFile(out, "w") as new:
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
    limits = SheetLimits(bytes=2000 if not content.startswith(b"PK") else 10**5, rows=3, columns=3, characters=50)
    with pytest.raises(error):
        read_sheet("a.csv", content, limits)


def test_the_ending_of_a_name_says_what_is_written() -> None:
    content, kind = write_sheet("a/b[1]:x.XLSX", ["甲"], [["乙"]])
    assert kind == XLSX
    assert openpyxl.load_workbook(io.BytesIO(content)).sheetnames == ["b1x"]
    assert write_sheet("a.csv", ["甲"], [["乙"]])[0] == "\ufeff甲\r\n乙\r\n".encode()
    with pytest.raises(UnsupportedType):
        write_sheet("a.doc", ["甲"], [])


def test_a_small_workbook_whose_cells_all_hold_the_same_long_text_is_refused(write: Write) -> None:
    content = write(COLUMNS, [["长" * 900, "x"]] * 20)
    assert len(read_sheet("问答", content, SheetLimits(total=20_000)).rows) == 20
    with pytest.raises(DocumentTooLarge):
        read_sheet("问答", content, SheetLimits(total=18_000))
