"""Places in an order that a question names: 最近三笔, 第二贵, 倒数第二单, 头一次, 金额前五."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from agents.understanding.amounts import parse_amount


class End(StrEnum):
    """From which end of which order is counted."""

    LATEST = "latest"
    EARLIEST = "earliest"
    MOST = "most"
    LEAST = "least"


@dataclass(frozen=True, slots=True)
class Ranking:
    """Where it stands; `number` rows from the place `skip` on; 0: it does not say how many."""

    start: int
    end: int
    by: End
    number: int = 1
    skip: int = 0


_N = r"(?:\d{1,2}|[一二两三四五六七八九十]{1,2})"
_UNIT = r"(?:[笔单张次件样条回趟家份款]|个(?!多?月|星期|礼拜|周|季|小时|工作日|人))"
_HIGH, _LOW = "[贵高大多狠]", "(?:便宜|低|小|少)"
_FORMS = tuple(
    (re.compile(pattern), by)
    for pattern, by in (
        (rf"倒数第(?P<nth>{_N})的?{_UNIT}?", End.LATEST),
        (rf"上上(?P<second>一?){_UNIT}", End.LATEST),
        (rf"第(?P<nth>{_N}){_HIGH}的?|(?P<second>次){_HIGH}的", End.MOST),
        (rf"第(?P<nth>{_N}){_LOW}的?", End.LEAST),
        (rf"[最顶]{_HIGH}的?前?(?P<n>{_N}){_UNIT}|(?:得|的)?最多的?前?(?P<n2>{_N}){_UNIT}", End.MOST),
        (rf"(?:金额|花费|消费|价格|总价)(?:排)?前(?P<n>{_N})|前(?P<n2>{_N}){_HIGH}|top ?(?P<n3>{_N})", End.MOST),
        (rf"最{_LOW}的?前?(?P<n>{_N}){_UNIT}", End.LEAST),
        (rf"(?:[最顶]{_HIGH}|最贵重)的?(?!的?时候)|most expensive", End.MOST),
        (rf"最{_LOW}的?|cheapest", End.LEAST),
        (rf"(?:最近|最新|最后|近|前|后)的?(?:买|下|拍|订)?的?(?P<n>{_N}){_UNIT}", End.LATEST),
        (rf"(?:最早|最初|头|最先)的?(?:买|下|拍|订)?的?(?P<n>{_N}){_UNIT}", End.EARLIEST),
        (rf"(?<!一)第(?P<nth>{_N}){_UNIT}|最早|最初|头一?{_UNIT}|首[笔单次]|第一次", End.EARLIEST),
        (
            rf"(?:最近|最新|最后)[^,? ]{{1,3}}的那?一?{_UNIT}"
            rf"|(?:最近|最新|最后|(?<![以之马晚早])上|刚刚?|刚才)的?(?:那|这|一|下|买|拍|订)?一?的?{_UNIT}"
            "|最新|最后一?个?|刚刚?(?:下|买|拍|订|付)的",
            End.LATEST,
        ),
    )
)


def find_ranks(text: str) -> list[Ranking]:
    """Finds the ranks of a folded text, in which blanks stand for times and amounts; of two that overlap the
    longer form.
    """
    found: list[Ranking] = []
    for pattern, by in _FORMS:
        for match in pattern.finditer(text):
            if all(match.end() <= other.start or other.end <= match.start() for other in found):
                found.append(_build_ranking(match, by))
    return sorted(found, key=lambda rank: rank.start)


def _build_ranking(match: re.Match[str], by: End) -> Ranking:
    groups = match.groupdict()
    many = next((int(parse_amount(groups[name])) for name in ("n", "n2", "n3") if groups.get(name)), 1)
    skip = int(parse_amount(groups["nth"])) - 1 if groups.get("nth") else int(groups.get("second") is not None)
    return Ranking(match.start(), match.end(), by, many, skip)
