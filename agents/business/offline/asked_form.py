"""What a question wants of rows, by its form: 几笔 counts, 一共多少钱 sums."""

from __future__ import annotations

import re

from agents.business.offline.vocabulary import TermKind
from agents.business.types import Give

_SUMMED = ("多少", "总", "合计", "账单", "花销", "金额", "花")
_TOTALS = (f"{TermKind.TABLE.value}数", "总数", "数量", "how many")
_MEASURES = "个笔单张次件样条回趟台只块副部把双瓶盒家份" + TermKind.TABLE.value + TermKind.GOODS.value
# Asks how many there are: 几笔, 多少个, 多少Ｔ, but not 哪几笔, 几号 or 多少块.
_COUNTING = re.compile(rf"(?<![哪那这好])几[{_MEASURES}]|多少(?!块)[{_MEASURES}]")


def decide_give(give: Give, skeleton: str) -> Give:
    """Returns what a question wants, corrected by its words: only one that explicitly asks how many wants a number.

    give: what the head takes the question for; skeleton: the question without its names and values.
    """
    counted = _COUNTING.search(skeleton) is not None
    if any(word in skeleton for word in _TOTALS):
        return Give.COUNT
    if give is Give.SUM and any(
        f"{that}{unit}" in skeleton for that in "那这" for unit in "笔单张次" + TermKind.TABLE.value
    ):
        return Give.LIST
    if give in (Give.LIST, Give.COUNT):
        return Give.COUNT if counted else Give.LIST
    if give is Give.SUM and counted and not any(word in skeleton for word in _SUMMED):
        return Give.COUNT
    return give
