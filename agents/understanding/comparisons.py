"""Amounts that narrow rows, with or without 元: 三百多, 一百到两百, 上千, 不超过五十, 比 500 贵, 129 那单."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from agents.understanding.amounts import parse_amount

# 左右 is this far off at most.
NEAR = Decimal("0.1")
_HAN = "一二两三四五六七八九十百千万"
# Of so many places at most: a run of digits that is tried to its end from each of them takes the square of its
# length.
_NUMBER = rf"(?:\d[\d,]{{0,15}}(?:\.\d{{1,8}})?[万千百]?|(?<![第{_HAN}])[{_HAN}][零{_HAN}]{{0,15}})"
_MONEY = r"\s?(?:元|块钱?|rmb|人民币)"
_NO_MONEY = r"(?![\d.个件单笔张次台只条套盒副瓶天日月号年期位折%点小多几成周份级楼岁倍米寸g])"
_UNIT = rf"(?:{_MONEY}|{_NO_MONEY})"
_ATMOST, _ATLEAST = "<=", ">="
_BEFORE = {
    "不低于|不少于|至少|起码|满|不小于": _ATLEAST,
    "不超过|没超过|不高于|最多|不大于|未超": _ATMOST,
    "超过|超出|大于|高于|多于|贵于|不止|超": ">",
    "不到|不足|低于|少于|小于|不满|没到": "<",
}
_AFTER = {"及?以上|起|往上|开外|\\+": _ATLEAST, "及?以下|[以之]内|往下": _ATMOST, "左右|上下": "~"}
_THAN = {"贵|多|高|大": ">", "便宜|少|低|小": "<"}
_ROUND = {"十": 10, "百": 100, "千": 1000, "万": 10000}
# Signs of SQL with the number to compare with; all hold.
Bounds = tuple[tuple[str, Decimal], ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """`bounds`: conditions on the amount, which all hold; `start` and `end`: where it stands in the text."""

    start: int
    end: int
    bounds: Bounds

    def to_sql(self, column: str) -> str:
        """Returns the condition on a column as SQL."""
        return " AND ".join(f"{column} {sign} {number.normalize():f}" for sign, number in self.bounds)


def find_amounts(text: str) -> list[Comparison]:
    """Finds the comparisons of a folded text, in which blanks stand for other things with numbers (dates, models)."""
    kept: list[Comparison] = []
    covered = bytearray(len(text))
    for pattern, bounds in _FORMS:
        for match in pattern.finditer(text):
            start, end = match.span()
            if not any(covered[start:end]) and (found := bounds(match)):
                covered[start:end] = bytes([1]) * (end - start)
                kept.append(Comparison(start, end, found))
    return sorted(kept, key=lambda comparison: comparison.start)


def _parse_number(number: str) -> Decimal:
    return Decimal(parse_amount(number))


def _read_range(match: re.Match[str]) -> Bounds:
    low, high = _parse_number(match["low"]), _parse_number(match["high"])
    scale = match["high"][-1]
    if low < 10 <= high and scale in _ROUND:  # 一到两百
        low *= _ROUND[scale]
    return ((_ATLEAST, min(low, high)), (_ATMOST, max(low, high)))


def _read_some_more(match: re.Match[str]) -> Bounds:
    """三百多: up to the next of its last place."""
    number = match["number"]
    value = _parse_number(number)
    step = _ROUND.get(number[-1]) or 10 ** (len(number) - len(number.rstrip("0")))
    return ((_ATLEAST, value), ("<", value + step)) if step > 1 else ()


def _read_some(match: re.Match[str]) -> Bounds:
    """几百: of that many digits."""
    scale = Decimal(_ROUND[match["scale"]])
    return ((_ATLEAST, scale), ("<", scale * 10))


def _read_over(match: re.Match[str]) -> Bounds:
    return ((_ATLEAST, Decimal(_ROUND[match["scale"]])),)


def _read_two(match: re.Match[str]) -> Bounds:
    """两三百."""
    scale = match["scale"]
    return ((_ATLEAST, _parse_number(match["low"] + scale)), (_ATMOST, _parse_number(match["high"] + scale)))


def _build_signed_reader(signs: dict[str, str]) -> Callable[[re.Match[str]], Bounds]:
    def read_signed(match: re.Match[str]) -> Bounds:
        value = _parse_number(match["number"])
        sign = next(sign for words, sign in signs.items() if re.fullmatch(words, match["word"]))
        if sign == "~":
            return ((_ATLEAST, value * (1 - NEAR)), (_ATMOST, value * (1 + NEAR)))
        return ((sign, value),)

    return read_signed


def _read_equal(match: re.Match[str]) -> Bounds:
    return (("=", _parse_number(match["number"])),)


def _list_forms() -> Iterator[tuple[str, Callable[[re.Match[str]], Bounds]]]:
    number, digit = f"(?P<number>{_NUMBER})", "[一二两三四五六七八九]"
    between = rf"(?:{_MONEY}(?:之间)?|{_NO_MONEY}(?:之?间|(?=的)))"
    yield rf"(?P<low>{_NUMBER})(?:{_MONEY})?(?:到|至|-|~)(?P<high>{_NUMBER}){between}", _read_range
    yield rf"{number}多{_UNIT}", _read_some_more
    yield rf"(?<!百)(?:好?几)(?P<scale>[十百千万])(?:{_MONEY}|(?<!几十)(?=的|那))", _read_some
    yield rf"(?<![以之马晚早])[上过破](?P<scale>[百千万])(?:{_MONEY})?(?![一二三四五六七八九])", _read_over
    yield rf"(?P<low>{digit})(?P<high>{digit})(?P<scale>[十百千万]){_UNIT}", _read_two
    yield (
        rf"(?P<word>{'|'.join(_BEFORE)})\s?{number}(?!\s?减){_UNIT}(?:以[上下内]|之内)?",
        _build_signed_reader(_BEFORE),
    )
    yield rf"比\s?{number}{_UNIT}(?:还|要|更)?(?P<word>{'|'.join(_THAN)})", _build_signed_reader(_THAN)
    yield rf"{number}(?:{_MONEY})?(?P<word>{'|'.join(_AFTER)})(?:的)?", _build_signed_reader(_AFTER)
    yield rf"(?!{digit}块(?!钱|的|那)|(?<=[买拍订][过了]){digit}块(?!钱)){number}{_MONEY}", _read_equal
    yield rf"[¥￥]\s?{number}", _read_equal
    yield r"(?<![\d.a-z-])(?P<number>\d{2,6}(?:\.\d+)?)(?=的?[那这]|的(?!时))", _read_equal


_FORMS = tuple((re.compile(pattern), bounds) for pattern, bounds in _list_forms())
