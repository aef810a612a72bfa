"""What a question wants of rows, by its form: 几笔 counts, 一共多少钱 sums."""

from __future__ import annotations

from agents.business.offline.vocabulary import TermKind
from agents.business.types import Give

_SUMMED = ("多少", "总", "合计", "账单", "花销", "金额", "花")
_TOTALS = (f"{TermKind.TABLE.value}数", "总数", "数量", "how many")
_MEASURES = "个笔单张次件样条回趟台只块副部把双瓶盒家份" + TermKind.TABLE.value + TermKind.GOODS.value


def decide_give(asked: Give, skeleton: str) -> Give:
    """Corrects by its words what a head takes the question for: a number of rows is asked for explicitly."""
    counted = _is_counting(skeleton)
    if any(word in skeleton for word in _TOTALS):
        return Give.COUNT
    if asked is Give.SUM and any(
        f"{that}{unit}" in skeleton for that in "那这" for unit in "笔单张次" + TermKind.TABLE.value
    ):
        return Give.LIST
    if asked in (Give.LIST, Give.COUNT):
        return Give.COUNT if counted else Give.LIST
    if asked is Give.SUM and counted and not any(word in skeleton for word in _SUMMED):
        return Give.COUNT
    return asked


def _is_counting(skeleton: str) -> bool:
    """Whether it asks how many there are: 几笔, 多少个, 多少Ｔ, but not 哪几笔 or 几号."""
    for place, character in enumerate(skeleton):
        before, after = skeleton[place - 1 : place], skeleton[place + 1 : place + 2]
        if character == "几" and before not in tuple("哪那这好") and after in tuple(_MEASURES):
            return True
        if character == "少" and before == "多" and after in tuple(_MEASURES.replace("块", "")):
            return True
    return False
