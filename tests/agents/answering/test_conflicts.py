"""Documents that say different things are all told, with their days; what only repeats is not quoted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agents.generator import Request, Text
from agents.llm.extractive import ExtractiveGenerator
from knowledge.types import DocumentMeta
from tests.agents.support import ANALYZER, candidate, collect_pieces


async def told(question: str, *texts: str, **changed: Any) -> str:
    """What is replied from documents of 2024, 2025 …; changed: of the second one."""
    fragments = []
    for number, text in enumerate(texts):
        found = candidate(text, number=number)
        document = DocumentMeta(f"d{number}", f"{number}.md", f"{'甲乙丙'[number]}手册", dated=f"{2024 + number}-05-01")
        document = replace(document, **changed) if number == 1 else document
        fragments.append(replace(found, chunk=replace(found.chunk, document=document)))
    request = Request(question, tuple(fragments))
    pieces = await collect_pieces(ExtractiveGenerator(ANALYZER, 3), request)
    return "".join(piece.text for piece in pieces if isinstance(piece, Text))


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("签收后几天可以退货", "签收后 7 天内可以无理由退货。", "自签收次日起 15 天内支持无理由退货。"),
        ("会员卡有效期多久", "会员卡有效期为一年，到期自动失效。", "会员卡自办理之日起有效期两年。"),
        ("发票多久能开出来", "电子发票在订单完成后 3 个工作日内开具。", "订单完成后 24 小时内开具电子发票。"),
        ("酒店可以带宠物吗", "酒店允许携带宠物入住。", "酒店不允许携带宠物入住。"),
    ],
)
async def test_both_are_told_with_their_days_the_newer_one_first(question: str, older: str, newer: str) -> None:
    said = await told(question, older, newer)
    assert f"《乙手册》（2025-05-01）：{newer}" in said and f"《甲手册》（2024-05-01）：{older}" in said
    assert said.startswith("几份资料在这个问题上说法不同") and said.index("乙手册") < said.index("甲手册")


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        ("签收后几天可以退货", "签收后 7 天内可以无理由退货。", "金卡会员签收后 15 天内可以无理由退货。"),
        ("质保几年", "整机质保 2 年。", "电池质保 1 年。"),
        ("退款多久到账", "退款 3 个工作日内到账。", "信用卡退款 7 个工作日内到账。"),
        ("支持货到付款吗", "支持货到付款。", "生鲜不支持货到付款。"),
        ("签收后几天可以退货", "签收后 7 天内可以无理由退货。", "签收后 7 天内可以换货，运费由买家承担。"),
    ],
)
async def test_other_things_and_other_conditions_are_no_other_answer(question: str, one: str, other: str) -> None:
    assert "说法不同" not in await told(question, one, other)


@pytest.mark.parametrize("changed", [{"product": "YS-P20"}, {"title": "甲手册", "product_version": "2"}])
async def test_documents_of_another_product_or_version_do_not_contradict(changed: dict[str, str]) -> None:
    texts = "整机质保 2 年。", "整机质保 3 年。"
    assert "说法不同" in await told("整机质保几年", *texts)
    assert "说法不同" not in await told("整机质保几年", *texts, **changed)


async def test_a_second_source_that_adds_nothing_is_not_quoted() -> None:
    said = await told(
        "签收后几天可以退货",
        "签收后 7 天内可以无理由退货。",
        "签收后 7 天内可以无理由退货的。",
        "签收后退货须包装完好。",
    )
    assert said.count("7 天") == 1
