"""Passages that say themselves until when they hold, and that day is over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from agents.passages.sentences import split_sentences
from app.quality.checks.types import IssueKind, QualityCorpus, QualityIssue, Severity, Steps
from knowledge.text import fold

_DAY = r"(?P<{0}y>\d{{4}})\s*(?:年|[-/.])\s*(?P<{0}m>\d{{1,2}})\s*(?:月|[-/.])\s*(?P<{0}d>\d{{1,2}})\s*[日号]?"
_SHORT = r"(?P<sm>\d{1,2})\s*月\s*(?P<sd>\d{1,2})\s*[日号]"
_TO = r"\s*(?:至|到|~|-|—|–)+\s*"
_RANGE = re.compile(_DAY.format("a") + _TO + rf"(?:{_DAY.format('b')}|{_SHORT})")
_UNTIL = re.compile(
    rf"(?:(?:有效|使用|截止|截至|终止|到期)[^\d。；]{{0,8}}|至|到){_DAY.format('b')}(?!\s*(?:起|开始|之后|以后))"
)
_BY = re.compile(
    _DAY.format("b") + r"\s*(?:\d{1,2}[:点]\d{0,2}分?)?\s*"
    r"(?:为?止|截止|到期|失效|作废|终止|结束|(?:之|以)?前)"
)
# Whom a rule holds for, not until when it holds: those who bought before a day.
_BOUGHT = re.compile(
    r"前[^，。；]{0,4}(?:购买|签收|下单|生产|出厂|注册|办理|开通|激活|签订|入住|投保|发货|付款)"
    r"[^，。；]{0,6}的"
)


def find_expired(corpus: QualityCorpus) -> Steps:
    """Finds the passages described above, without those that also name a day to come."""
    for chunk in corpus.chunks:
        yield None
        for sentence in split_sentences(chunk.text):
            ends = list(find_end_dates(sentence.text))
            if ends and max(ends) < corpus.today:
                last = max(ends)
                detail = f"“{sentence.text.strip()[:80]}”写明的期限是 {last.isoformat()}，已经过去"
                yield QualityIssue(
                    IssueKind.EXPIRED, Severity.HIGH, chunk.document.id, chunk, None, detail, (last.isoformat(),)
                )
                break


def find_end_dates(sentence: str) -> Iterator[date]:
    """Finds the last days on which something holds, according to a sentence."""
    folded = fold(sentence)
    if _BOUGHT.search(folded):
        return
    for match in _RANGE.finditer(folded):
        found = match.groupdict()
        if found["by"]:
            yield from _parse_day(found["by"], found["bm"], found["bd"])
        else:
            yield from _parse_day(found["ay"], found["sm"], found["sd"])
    for pattern in (_UNTIL, _BY):
        for match in pattern.finditer(folded):
            yield from _parse_day(match["by"], match["bm"], match["bd"])


def _parse_day(year: str, month: str, day: str) -> Iterator[date]:
    try:
        yield date(int(year), int(month), int(day))
    except ValueError:  # 2024.13.1 is a version or a mistake, and no day
        return
