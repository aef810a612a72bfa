"""Whether a question wants the main model, by what it asks: several things, a comparison, a case with conditions."""

from __future__ import annotations

import re

from knowledge.text import fold

LONG_CHARS = 60
"""Customers who write more than this describe a case, not a question."""
_SEVERAL = re.compile(r"[?？].+[?？]|以及|并且|同时|分别|另外|还有.+(?:吗|呢|什么|怎么|多少)")
_COMPARISON = re.compile(r"区别|对比|比较|不同|哪个(?:更|好)|哪款(?:更|好)|还是|优缺点|\bvs\b|compare|difference")
_CONDITION = re.compile(r"如果|假如|要是|万一|但是|不过|除非|的话|情况下|\bif\b")
_REASON = re.compile(r"为什么|为何|原因|怎么回事|\bwhy\b")


def is_complex(question: str) -> bool:
    """True for questions whose answer has to be put together from several statements; cheap, without a model."""
    text = fold(question)
    return len(text) > LONG_CHARS or any(
        pattern.search(text) for pattern in (_SEVERAL, _COMPARISON, _CONDITION, _REASON)
    )
