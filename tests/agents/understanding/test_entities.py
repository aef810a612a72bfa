from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.understanding.amounts import parse_amount
from agents.understanding.entities import load_shipped_extractor, read_extractor
from knowledge.errors import InvalidConfiguration

EXTRACTOR = load_shipped_extractor()
QUESTIONS = Path(__file__).parents[1] / "routing_questions.jsonl"


def found(text: str) -> list[tuple[str, str]]:
    return [(entity.kind, entity.value) for entity in EXTRACTOR.extract(text).certain]


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("查订单 20240518003321", [("order_number", "20240518003321")]),
        ("订单号：20260103-0012 呢", [("order_number", "20260103-0012")]),
        ("ＤＤ20260103188 发货了吗", [("order_number", "DD20260103188")]),
        ("手机号 138-0000-1111", [("phone", "13800001111")]),
        ("+86 13800001111", [("phone", "13800001111")]),
        ("我叫王强，帮我看一下", [("member_name", "王强")]),
        ("收件人是欧阳娜", [("member_name", "欧阳娜")]),
        ("YS-H30 Pro 怎么充电", [("product_model", "YS-H30 PRO")]),
        ("T30S和T30有区别吗", [("product_model", "T30S"), ("product_model", "T30")]),
        ("報錯 E03", [("error_code", "E03")]),
        ("提示 502 怎么处理", [("error_code", "502")]),
        ("安装报 0x80070643", [("error_code", "0X80070643")]),
        ("我上个月花了多少，200 元以上的有几单", [("date", "上个月"), ("amount", ">=200")]),
        ("最近三个月和2026年1月5日", [("date", "最近三个月"), ("date", "2026年1月5日")]),
        ("三月五号下的单，周三能到吗", [("date", "三月五号"), ("date", "周三")]),
        ("YS-H30 报错 E03，15号买的", [("product_model", "YS-H30"), ("error_code", "E03"), ("date", "15号")]),
    ],
)
def test_what_is_named_is_found_with_its_value(text: str, entities: list[tuple[str, str]]) -> None:
    assert found(text) == entities


@pytest.mark.parametrize(
    "text",
    [
        "七天无理由退货",
        "WiFi6 支持吗",
        "USB3 接口",
        "我是学生有优惠吗",
        "全新的订单怎么下",
        "每周五都有活动吗",
        "一块退了吧",
        "3号楼可以送吗",
        "人工客服",
        "",
    ],
)
def test_what_only_looks_like_an_entity_is_none(text: str) -> None:
    assert found(text) == []


def test_a_doubtful_name_is_a_candidate() -> None:
    mentions = EXTRACTOR.extract("张三的订单到哪了")
    assert mentions.certain == ()
    assert [(entity.kind, entity.text) for entity in mentions.candidates] == [("member_name", "张三")]


@pytest.mark.parametrize(
    ("text", "alone"),
    [("20240518003321", True), ("报错 E03 怎么办？", True), ("E03 怎么修", False), ("你好", False), ("", False)],
)
def test_a_message_with_nothing_beside_its_entities_is_known_as_such(text: str, alone: bool) -> None:
    assert EXTRACTOR.extract(text).alone is alone


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("200 元以上", ">=200"),
        ("不到三百块", "<300"),
        ("超过1,200元", ">1200"),
        ("不超过 50 元", "<=50"),
        ("不低于50元", ">=50"),
        ("两百五十元左右", "~250"),
        ("100到300元", "100..300"),
        ("1.5万元", "15000"),
        ("一万两千元", "12000"),
        ("十块钱", "10"),
        ("￥99.90", "99.9"),
    ],
)
def test_an_amount_is_a_comparison(text: str, value: str) -> None:
    assert parse_amount(text) == value
    assert ("amount", value) in found(text.replace("￥", "¥"))


def test_entities_of_our_own_questions_are_found() -> None:
    right = wrong = missed = 0
    for line in QUESTIONS.read_text("utf-8").splitlines():
        row = json.loads(line)
        wanted = [(entity["kind"], entity["text"].replace(" ", "")) for entity in row["entities"]]
        got = [(item.kind, item.text.replace(" ", "")) for item in EXTRACTOR.extract(row["text"]).certain]
        right += len(set(wanted) & set(got))
        wrong += len(set(got) - set(wanted))
        missed += len(set(wanted) - set(got))
    assert 2 * right / (2 * right + wrong + missed) >= 0.95


@pytest.mark.parametrize(
    "document",
    [
        "lists: {}",
        "lists: {}\nkinds: {a: {patterns: ['(']}}",
        "lists: {}\nkinds: {a: {value: roman, patterns: [a]}}",
        "lists: {}\nkinds: {a: {value: text, patterns: ['{unit}']}}",
        "- a",
        "{",
    ],
)
def test_a_slip_in_a_declaration_is_told(document: str) -> None:
    with pytest.raises(InvalidConfiguration, match="实体声明"):
        read_extractor(document)
