from __future__ import annotations

from knowledge.parsing.recognition import RecognisedText, build_lines, compute_scale, normalize_sizes


def text(said: str, left: float, middle: float, height: float = 20, slope: float = 0) -> RecognisedText:
    return RecognisedText(said, left, left + 200, middle, height, slope)


def test_lines_come_from_the_top_whatever_order_they_were_found_in() -> None:
    lines = build_lines([text("乙", 10, 80), text("甲", 10, 40), text(" ", 10, 60)], 3)
    assert [(line.text, line.page) for line in lines] == [("甲", 3), ("乙", 3)]
    assert lines[0].base > lines[1].base


def test_texts_beside_each_other_are_cells_of_a_row() -> None:
    (line,) = build_lines([text("价格", 400, 41), text("型号", 10, 40)], 1, scale=2)
    assert [(cell.text, cell.left) for cell in line.cells] == [("型号", 5), ("价格", 200)]
    (joined,) = build_lines([text("上门", 10, 40), text("维修", 213, 40)], 1)
    assert [cell.text for cell in joined.cells] == ["上门维修"]


def test_a_page_that_lies_aslant_is_read_as_if_it_lay_straight() -> None:
    slope = 0.03
    found = [
        text(said, left, middle + slope * (left + 100), slope=slope)
        for said, left, middle in (("甲", 10, 40), ("乙", 900, 40), ("丙", 10, 66), ("丁", 900, 66))
    ]
    assert [line.text for line in build_lines(found, 1)] == ["甲 乙", "丙 丁"]


def test_a_line_is_larger_than_others_where_it_is_so_by_a_quarter() -> None:
    heights = {"标题": 36.0, "正文甲": 20.0, "正文乙": 22.0, "正文丙": 18.0}
    found = [text(said, 10, 50.0 * row, height) for row, (said, height) in enumerate(heights.items())]
    (first, *others), second = normalize_sizes([build_lines(found, 1), build_lines([text("下页", 10, 9, 19)], 2)])
    assert len({line.size for line in (*others, *second)}) == 1
    assert first.size > 1.5 * others[0].size


def test_recognised_pages_are_as_large_as_the_text_beside_them() -> None:
    beside = [build_lines([text("有文字的页", 10, 10, height=60)], 1)]
    ((line,),) = normalize_sizes([build_lines([text("扫描的页", 10, 10, height=20)], 2)], beside)
    assert line.size == beside[0][0].size


def test_nothing_recognised_is_no_line() -> None:
    assert normalize_sizes([build_lines([], 1)]) == [[]]


def test_pictures_get_the_same_longest_side() -> None:
    assert compute_scale(595, 842) * 842 == compute_scale(4000, 100) * 4000
