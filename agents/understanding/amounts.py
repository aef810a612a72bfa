"""Amounts of money as comparisons: 200 元以上 -> >=200, 不到三百块 -> <300, 100-300元 -> 100..300."""

from __future__ import annotations

import re
from decimal import Decimal

from knowledge.numbering import parse_number

_SCALES = {"百": 100, "千": 1000, "万": 10_000}
_DIGITS = re.compile("[零一二两三四五六七八九]+")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?[万千百]?|[零一二两三四五六七八九十百千万]+")
_COMPARISONS = (
    (re.compile(r"不低于|不少于|至少|满|以上|起"), ">="),
    (re.compile(r"不超过|不高于|最多|以下|以内|之内"), "<="),
    (re.compile(r"超过|大于|高于|多于"), ">"),
    (re.compile(r"不到|不足|低于|少于|小于"), "<"),
    (re.compile(r"左右|上下"), "~"),
)


def parse_amount(text: str) -> str:
    """Returns the number with its comparison sign, or two numbers joined by `..`."""
    numbers = [_parse_number(match.group()) for match in _NUMBER.finditer(text)]
    if len(numbers) > 1:
        return "..".join(numbers)
    sign = next((sign for pattern, sign in _COMPARISONS if pattern.search(text)), "")
    return sign + numbers[0]


def _parse_number(number: str) -> str:
    """Returns the digits of a number in either script: 1,200 -> 1200, 1.5万 -> 15000, 两百五十 -> 250."""
    if number[0].isdigit():
        scale = _SCALES.get(number[-1], 1)
        return f"{(Decimal(number.rstrip('万千百').replace(',', '')) * scale).normalize():f}"
    # Two digits side by side are a guess, 两三天, of which the last counts.
    return str(parse_number(number[-1] if _DIGITS.fullmatch(number) else number))
