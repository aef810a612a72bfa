"""Numbers with their units in one form: 七天 and 7 天, 1,000 元 and ¥1000, 下午三点 and 15:00, 百分之五 and 5%."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from knowledge.numbering import parse_number

# Value and unit; the unit is empty where the text gives none, and COUNT for mere classifiers (个, 台, 位).
Quantity = tuple[str, str]

COUNT = "count"
DATE = "date"
_PLAIN = frozenset({"", COUNT})
# A bare number is not found in a date: 10 is not said by 10 月.
_CALENDAR = frozenset({DATE, "time", "year", "month"})

_DIGITS = dict(zip("零〇一二两三四五六七八九", (0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9), strict=True))
_MYRIADS = {"万": 10**4, "亿": 10**8}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_UNITS: dict[str, tuple[str, Decimal]] = {
    r"个?工作日|business days?|working days?": ("workday", Decimal(1)),
    r"个?小时|个?钟头|hours?|hrs?": ("second", Decimal(3600)),
    r"分钟|minutes?|mins?": ("second", Decimal(60)),
    r"秒钟?|seconds?": ("second", Decimal(1)),
    r"个?(?:自然日|天)|日内|days?": ("second", Decimal(86400)),
    r"个?(?:周(?!年|岁)|星期|礼拜)|weeks?": ("second", Decimal(86400 * 7)),
    r"个月|months?": ("months", Decimal(1)),
    r"周?年|years?": ("year", Decimal(1)),
    r"月": ("month", Decimal(1)),
    r"[日号](?!码)": ("second", Decimal(86400)),
    r"周?岁": ("岁", Decimal(1)),
    r"美元|美金|usd|dollars?": ("usd", Decimal(1)),
    r"元|块钱?|圆|人民币|yuan|rmb|cny": ("元", Decimal(1)),
    r"%": ("%", Decimal(1)),
    r"折": ("折", Decimal(1)),
    r"次|遍|回|times": ("次", Decimal(1)),
    r"倍": ("倍", Decimal(1)),
    r"摄氏度|°c?|度(?!假)": ("°c", Decimal(1)),
    r"公斤|千克|kg": ("kg", Decimal(1)),
    r"克|g(?![a-z])": ("g", Decimal(1)),
    r"公里|千米|km": ("km", Decimal(1)),
    r"厘米|公分|cm": ("cm", Decimal(1)),
    r"毫米|mm": ("mm", Decimal(1)),
    r"平方米|平米|平方|m2": ("m2", Decimal(1)),
    r"米|m(?![a-z])": ("m", Decimal(1)),
    r"毫安时?|mah": ("mah", Decimal(1)),
    r"瓦|w(?![a-z])": ("w", Decimal(1)),
    r"分贝|db": ("db", Decimal(1)),
    r"级": ("级", Decimal(1)),
    r"[个台部位人名件张条款支只双套份种项页期楼层家辆门块瓶盒枚字]": (COUNT, Decimal(1)),
}
_ANY_UNIT = "|".join(f"(?P<u{number}>{pattern})" for number, pattern in enumerate(_UNITS))
_MEASURES = tuple(_UNITS.values())
_NUMBER = re.compile(
    rf"(?P<money>[¥$]\s*)?(?P<value>(?:(?<![\w)])-)?\d+(?:,\d{{3}}(?!\d))*(?:\.\d+)?)\s*"
    rf"(?P<scale>[万亿]|千(?![克米瓦卡]))?[多余几]?\s*(?:{_ANY_UNIT}|(?P<latin>[a-z]{{1,4}})(?![a-z\d-]))?"
)
_DATES = (
    re.compile(r"(?:(?P<y>\d{4})\s*年\s*)?(?<!\d)(?P<m>\d{1,2})\s*月\s*(?P<d>\d{1,2})\s*[日号]?"),
    re.compile(r"(?<!\d)(?P<y>\d{4})(?P<by>[-/.])(?P<m>\d{1,2})(?P=by)(?P<d>\d{1,2})(?!\d)"),
    re.compile(rf"(?P<m>{'|'.join(_MONTHS)})[a-z]*\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})"),
    re.compile(rf"(?<!\d)(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?P<m>{'|'.join(_MONTHS)})[a-z]*\.?,?\s+(?P<y>\d{{4}})"),
)
_TIME = re.compile(
    r"(?P<late>下午|晚上?|傍晚|夜里)?\s*(?<!\d)(?P<h>\d{1,2})"
    r"(?::(?P<m>[0-5]\d)(?::\d\d)?(?!\d)|点(?![击选按赞数评])(?:(?P<half>半)|(?P<n>\d{1,2})分?)?)"
)
_PERCENT = re.compile(r"百分之([零〇一二两三四五六七八九十百点\d.]+)")
_NUMERAL = re.compile(r"[零〇一二两三四五六七八九十百千万亿]+")
_FOLLOWED = re.compile(rf"\s*个?半?(?:{'|'.join(_UNITS)}|点)")
_HALF = re.compile(r"半(?=个?(?:小时|钟头|天|月|年))|(?P<whole>\d+)个?半(?=(?:个?(?:小时|钟头|月)|天|年))")
_SPAN = re.compile(r"\s*(?:~|-|–|—|到|至|或|、|/)\s*")


@dataclass(frozen=True, slots=True)
class Quantities:
    """`stated`: as a claim has to be found; `known`: what a text that says so also says (the year of a date); `rest`:
    the text without them.
    """

    stated: frozenset[Quantity]
    known: frozenset[Quantity]
    rest: str


def find_quantities(folded: str) -> Quantities:
    """Finds all quantities of a folded text."""
    text = convert_numerals(
        _PERCENT.sub(lambda match: _evaluate_numeral(match.group(1).replace("点", ".")) + "%", folded)
    )
    stated: set[Quantity] = set()
    known: set[Quantity] = set()
    for pattern in _DATES:
        for match in pattern.finditer(text):
            whole, parts = _parse_date(match)
            stated.add(whole)
            known |= {whole, *parts}
        text = pattern.sub(" ; ", text)
    stated |= {_parse_time(match) for match in _TIME.finditer(text)}
    text = _TIME.sub(" ; ", text)
    stated |= set(_find_plain_numbers(text))
    return Quantities(frozenset(stated), frozenset(known | stated), _NUMBER.sub(" ", text))


def convert_numerals(folded: str) -> str:
    """Converts numerals that count something in a folded text to digits: 七天 -> 7天, 半年 -> 0.5年."""
    return _HALF.sub(lambda match: (match["whole"] or "0") + ".5", _NUMERAL.sub(_convert_numeral, folded))


def is_known(quantity: Quantity, known: frozenset[Quantity]) -> bool:
    """Whether a text that says `known` says this too: a unit has to be the same, unless one side gives none."""
    value, unit = quantity
    if quantity in known or (value, "") in known:
        return True
    return unit in _PLAIN and any(value == other and kind not in _CALENDAR for other, kind in known)


def is_same_kind(one: Quantity, other: Quantity) -> bool:
    """Whether two answer the same question: dates with a year, prices, durations; mere counts may be of anything."""
    unit = one[1]
    return unit == other[1] and unit not in _PLAIN and (unit != DATE or one[0].count("-") == other[0].count("-"))


def _find_plain_numbers(text: str) -> Iterator[Quantity]:
    """Finds plain numbers; one without a unit before one that has one shares it: 1～5 天."""
    matches = list(_NUMBER.finditer(text))
    for index, match in enumerate(matches):
        holder = match
        for following in matches[index + 1 :]:
            if _find_unit(holder)[0] or not _SPAN.fullmatch(text[holder.end() : following.start()]):
                break
            holder = following
        unit, factor = _find_unit(holder)
        scale = match["scale"] or (holder["scale"] if holder is not match else None)
        value = Decimal(match["value"].replace(",", "")) * _MYRIADS.get(scale or "", 1000 if scale else 1)
        if unit == "year" and value < 1000:
            unit, factor = "months", Decimal(12)
        yield _format_value(value * factor), unit


def _find_unit(match: re.Match[str]) -> tuple[str, Decimal]:
    for number, measure in enumerate(_MEASURES):
        if match[f"u{number}"]:
            return measure
    if match["money"]:
        return ("usd" if match["money"][0] == "$" else "元"), Decimal(1)
    return match["latin"] or "", Decimal(1)


def _parse_date(match: re.Match[str]) -> tuple[Quantity, set[Quantity]]:
    month = _MONTHS.index(match["m"]) + 1 if match["m"] in _MONTHS else int(match["m"])
    day = int(match["d"])
    short = (f"{month}-{day}", DATE)
    parts = {short, (str(month), "month"), (str(day * 86400), "second")}
    if not match["y"]:
        return short, parts
    return (f"{match['y']}-{month}-{day}", DATE), parts | {(match["y"], "year")}


def _parse_time(match: re.Match[str]) -> Quantity:
    hour, minute = int(match["h"]), int(match["m"] or match["n"] or (30 if match["half"] else 0))
    return f"{hour + 12 if match['late'] and hour < 12 else hour}:{minute:02}", "time"


def _convert_numeral(match: re.Match[str]) -> str:
    """Converts a numeral that counts something; 一般, 十分 and 万一 stay words, and so does the 一 of 一个."""
    numeral, rest = match.group(), match.string[match.end() :]
    before = match.string[: match.start()].rstrip()[-1:]
    followed = _FOLLOWED.match(rest)
    if numeral in _MYRIADS and before.isdigit():
        return numeral
    if numeral == "一" and (followed is None or _is_article(rest)) and before != "第":
        return numeral
    if followed or before == "第" or (len(numeral) > 1 and numeral[0] in _DIGITS):
        return _evaluate_numeral(numeral)
    return numeral


def _is_article(rest: str) -> bool:
    """Whether 一 is an article before this text: 一个 and 一次 do not count."""
    return re.match(r"[个台部位人名件张条款支只双套份种项家次块遍回](?!月|小时|工作日|钱)", rest) is not None


def _evaluate_numeral(numeral: str) -> str:
    """Returns the digits of a numeral, of 三.五 3.5; digits stay."""
    whole, point, fraction = numeral.partition(".")
    if _NUMERAL.fullmatch(whole):
        whole = str(parse_number(whole))
    return whole + point + "".join(str(_DIGITS.get(character, character)) for character in fraction)


def _format_value(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
