from __future__ import annotations

import io
from collections.abc import Callable

import openpyxl
import pytest

from app.spreadsheets import XLSX, write_csv, write_sheet, write_xlsx
from knowledge.errors import DocumentTooLarge, UnsupportedType
from knowledge.sheets import SheetOptions, SheetRow, read_sheet

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
    assert sheet.rows[0].get_first("问题", "question") == "怎么退货？"
    assert sheet.rows[0].get_first("别的") == ""


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


def test_what_xml_cannot_hold_stops_no_workbook() -> None:
    content = write_xlsx("表", ["问题"], [["怎么\ufffe退\uffff款"]])
    assert read_sheet("x", content).rows[0].cells["问题"] == "怎么退款"


def test_the_ending_of_a_name_says_what_is_written() -> None:
    content, kind = write_sheet("a/b[1]:x.XLSX", ["甲"], [["乙"]])
    assert kind == XLSX
    assert openpyxl.load_workbook(io.BytesIO(content)).sheetnames == ["b1x"]
    assert write_sheet("a.csv", ["甲"], [["乙"]])[0] == "\ufeff甲\r\n乙\r\n".encode()
    with pytest.raises(UnsupportedType):
        write_sheet("a.doc", ["甲"], [])


def test_a_small_workbook_whose_cells_all_hold_the_same_long_text_is_refused(write: Write) -> None:
    content = write(COLUMNS, [["长" * 900, "x"]] * 20)
    assert len(read_sheet("问答", content, SheetOptions(total=20_000)).rows) == 20
    with pytest.raises(DocumentTooLarge):
        read_sheet("问答", content, SheetOptions(total=18_000))
