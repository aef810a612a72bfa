"""Numbered articles of rules and contracts: 第十二条, 第 12 条 and Article 12 are the same."""

from __future__ import annotations

import re

_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_TENS = {"十": 10, "百": 100, "千": 1000}
_MYRIADS = {"万": 10**4, "亿": 10**8}
_NUMBER = rf"\d{{1,4}}|[{''.join((*_DIGITS, *_TENS))}]{{1,9}}"
_PART = re.compile(rf"第\s?({_NUMBER})\s?([编章节条款项])")
_ENGLISH = re.compile(r"(?<![a-z])art(?:icle|\.)\s?(\d{1,4})(?![\d.]*\d)")
_ARTICLE = re.compile(rf"\s*(第\s?(?:{_NUMBER})\s?[条條]|Article\s\d{{1,4}})(?=$|[\s：:.【（(])(?![.]\d)")
# A pattern of what `normalize_numbers` writes.
CANONICAL = r"第[0-9]+[编章节条款项]"


def normalize_numbers(folded: str) -> str:
    """Rewrites every such number of a folded text (simplified, lower case) as 第12条."""
    if "第" in folded:
        folded = _PART.sub(lambda found: f"第{parse_number(found[1])}{found[2]}", folded)
    return _ENGLISH.sub(r" 第\1条 ", folded) if "art" in folded else folded


def find_article_number(text: str) -> str:
    """Returns the article number that a text begins with, as written; empty if it begins with none."""
    found = _ARTICLE.match(text)
    return found[1] if found else ""


def parse_number(number: str) -> int:
    """Returns the value of a number in digits, or written as 一百二十, 三亿五千万 or 二〇二四."""
    if number.isdecimal():
        return int(number)
    if not set(number) & {*_TENS, *_MYRIADS}:
        return int("".join(str(_DIGITS[digit]) for digit in number))
    total = section = digit = 0
    for character in number:
        if character in _TENS:
            section, digit = section + (digit or 1) * _TENS[character], 0
        elif character in _MYRIADS:
            # 亿 counts all that stands before it, 万 what stands between the two.
            counted = total + section + digit if character == "亿" else section + digit
            total = (total if character == "万" else 0) + (counted or 1) * _MYRIADS[character]
            section = digit = 0
        else:
            digit = _DIGITS[character]
    return total + section + digit
