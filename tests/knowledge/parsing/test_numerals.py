from __future__ import annotations

import pytest

from knowledge.parsing.numerals import format_numeral


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("decimal", {1: "1", 10: "10", 205: "205"}),
        ("decimalZero", {1: "01", 12: "12", 100: "100"}),
        ("decimal3", {7: "007"}),
        ("decimalFullWidth", {12: "１２"}),
        ("decimalEnclosedCircle", {1: "①", 20: "⑳", 21: "㉑", 50: "㊿", 51: "51"}),
        ("decimalEnclosedParen", {2: "⑵"}),
        ("decimalEnclosedFullstop", {2: "⒉"}),
        ("lowerLetter", {1: "a", 26: "z", 27: "aa", 53: "aaa"}),
        ("upperLetter", {3: "C"}),
        ("lowerRoman", {4: "iv", 9: "ix", 14: "xiv"}),
        ("upperRoman", {40: "XL", 1994: "MCMXCIV"}),
        ("chineseCountingThousand", {1: "一", 10: "十", 12: "十二", 20: "二十", 100: "一百", 101: "一百零一"}),
        ("chineseCountingThousand", {110: "一百一十", 205: "二百零五", 1010: "一千零一十", 2003: "二千零三"}),
        ("chineseCounting", {3: "三", 11: "十一", 99: "九十九", 100: "一〇〇"}),
        ("japaneseCounting", {7: "七", 15: "十五", 105: "百五"}),
        ("ideographDigital", {10: "一〇", 12: "一二"}),
        ("chineseLegalSimplified", {1: "壹", 10: "壹拾", 23: "贰拾叁"}),
        ("ideographTraditional", {1: "甲", 10: "癸", 11: "11"}),
        ("ideographZodiac", {2: "丑"}),
        ("ideographEnclosedCircle", {3: "㊂"}),
        ("ordinal", {1: "1st", 2: "2nd", 11: "11th", 23: "23rd"}),
        ("numberInDash", {4: "- 4 -"}),
        ("none", {1: ""}),
        ("bullet", {1: ""}),
        ("hindiVowels", {5: "5"}),
    ],
)
def test_numbers_are_written_as_word_writes_them(form: str, expected: dict[int, str]) -> None:
    assert {number: format_numeral(number, form) for number in expected} == expected


@pytest.mark.parametrize("form", ["decimal", "chineseCounting", "upperRoman", "lowerLetter", "ideographTraditional"])
@pytest.mark.parametrize("number", [-3, 0, 10_000, 10**9])
def test_numbers_that_a_form_has_no_sign_for_are_told_in_any_case(form: str, number: int) -> None:
    assert format_numeral(number, form)
