from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.codes import (
    Code,
    are_neighbours,
    find_codes,
    find_question_codes,
    is_code,
    is_same_code,
    is_same_thing,
    replace_codes,
)
from knowledge.text import Analyzer

PLAIN = Analyzer()


def code(text: str) -> Code:
    [found] = find_codes(text)
    return found


@pytest.mark.parametrize(
    ("text", "spelt", "form"),
    [
        ("YS1001的量程", "YS1001", "ys1001"),
        ("请问ys-1001多少钱", "ys-1001", "ys1001"),
        ("YS 1001 有货吗", "YS 1001", "ys1001"),
        ("ys_1001", "ys_1001", "ys1001"),
        ("ＹＳ－１００１的量程", "ＹＳ－１００１", "ys1001"),
        ("要YS–1001", "YS–1001", "ys1001"),
        ("买2个QH600G", "QH600G", "qh600g"),
        ("8PK301价格", "8PK301", "8pk301"),
        ("8PK-301", "8PK-301", "8pk301"),
        ("A2BC3", "A2BC3", "a2bc3"),
        ("HC_SR04怎么接线", "HC_SR04", "hcsr04"),
        ("12-3456/7还有吗", "12-3456/7", "1234567"),
        ("升级到V2.1.3", "V2.1.3", "2.1.3"),
        ("版本2.1.3", "2.1.3", "2.1.3"),
        ("固件 ver2.1", "ver2.1", "2.1"),
        ("H30 Pro Max 续航", "H30 Pro Max", "h30promax"),
        ("h30pro", "h30pro", "h30pro"),
        ("Wi-Fi", "Wi-Fi", "wifi"),
    ],
)
def test_a_code_has_its_place_and_its_one_form(text: str, spelt: str, form: str) -> None:
    found = code(text)
    assert (found.text, found.form) == (spelt, form)
    assert text[found.start : found.end] == spelt


@pytest.mark.parametrize(
    "text",
    [
        "10kg",
        "3C认证",
        "5G套餐",
        "2.4G 频段",
        "100-240V",
        "5V-20V 2A",
        "2026-11-26",
        "2026/11/26 08:30",
        "2026-11-26T08:30",
        "400-800-9000",
        "010-88886666",
        "60*40*30cm",
        "3~5天",
        "满300减30",
        "第12条",
        "refund within 30 days",
        "a@b1.com",
        "https://a1.cn/x-2",
        "版本 2.1",
        "",
    ],
)
def test_measures_dates_phones_and_addresses_are_none(text: str) -> None:
    assert find_codes(text) == ()


def test_several_are_found_in_order_and_a_slash_divides_them() -> None:
    assert [found.text for found in find_codes("YS-100/YS-200 和 12-3456/7")] == ["YS-100", "YS-200", "12-3456/7"]
    assert replace_codes("YS-100和YS 200哪个好", "×") == "×和×哪个好"
    assert is_code("YS 200")
    assert not is_code("YS 200的")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("YS-1001", "ys1001", True),
        ("YS-1001", "YS-100", False),
        ("YS-1001", "YS-10010", False),
        ("YS-10-01", "YS1001", True),
        ("YS-10-01", "YS-100-1", False),
        ("V2.1.3", "2.1.3", True),
        ("V2.1.3", "V2.1.30", False),
        ("V2.1.3", "V2.10.3", False),
        ("V2.1.3", "V21.3", False),
        ("V2.1", "V2.1.3", False),
        ("YS-W5", "W5", False),
    ],
)
def test_two_spellings_are_one_code_and_two_codes_are_two(one: str, other: str, same: bool) -> None:
    assert is_same_code(code(one), code(other)) is same
    assert is_same_code(code(other), code(one)) is same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("YS-W5", "W5", True),
        ("YS-W5", "W5 Pro", False),
        ("YS-W5 Pro", "w5pro", True),
        ("8PK-301", "PK-301", False),
        ("A2B-C3", "C3", False),
        ("我的APP K3", "QD-K3", True),
        ("那台ZH EC52", "ZN_EC52", False),
        ("EX5", "X5", False),
    ],
)
def test_a_makers_name_may_be_left_out(one: str, other: str, same: bool) -> None:
    assert is_same_thing(code(one), code(other)) is same
    assert is_same_thing(code(other), code(one)) is same


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("YS-100", "YS1001", True),
        ("DS18B20", "DS18B21", True),
        ("QH-600G", "QH-600H", True),
        ("QH-600G", "QX-600G", True),
        ("V2.1.3", "V2.1.30", True),
        ("K7", "QD-K3", True),
        ("YS-100", "ys_100", False),
        ("E03", "QD-K3", False),
        ("E03", "W03", False),
        ("USB-C", "USB-A", False),
        ("iPhone 15", "YS-W5", False),
    ],
)
def test_neighbours_are_codes_that_may_be_told_for_one_another(one: str, other: str, near: bool) -> None:
    assert are_neighbours(code(one), code(other)) is near
    assert are_neighbours(code(other), code(one)) is near


def test_a_question_may_have_a_part_number_of_digits_alone_and_an_amount_is_no_neighbour() -> None:
    [asked] = find_question_codes("1234568价格")
    assert are_neighbours(asked, code("12-3456/7"))
    [amount] = find_question_codes("存10000元利息")
    [other] = find_question_codes("存20000元利息")
    assert not are_neighbours(amount, other)


@pytest.mark.parametrize("written", ["YS-1001", "ys1001", "YS 1001", "ＹＳ＿１００１", "YS–1001"])
def test_every_spelling_has_the_token_of_the_one_form(written: str) -> None:
    tokens = PLAIN.tokenize(f"{written}的量程")
    assert tokens.count("ys1001") >= 1
    assert "ys100" not in tokens


def test_measures_have_no_further_tokens() -> None:
    assert "604030cm" not in PLAIN.tokenize("外箱尺寸60*40*30cm")
    assert "4008009000" not in PLAIN.tokenize("电话400-800-9000")
    assert "20261126" not in PLAIN.tokenize("2026-11-26发货")


@given(st.text(alphabet="YSys01-_/. ＹＳ１－的Pro@:", max_size=40))
def test_spans_are_places_of_the_text_and_do_not_overlap(text: str) -> None:
    end = 0
    for found in find_codes(text):
        assert found.start >= end
        end = found.end
        assert text[found.start : end] == found.text
        assert found.form


@given(st.from_regex(r"[A-Z]{2,3}[1-9][0-9]{2,4}", fullmatch=True), st.sampled_from(["-", "_", " ", "–", "－", ""]))
def test_a_separator_never_makes_another_code(compact: str, sign: str) -> None:
    letters = compact.rstrip("0123456789")
    written = f"{letters}{sign}{compact[len(letters) :]}"
    assert is_same_code(code(written), code(compact.lower()))
