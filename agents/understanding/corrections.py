"""Finds what a message withdraws: 不是月卡，我问的是临停."""

from __future__ import annotations

import re

# Something has to stand in its place: 不是质量问题，我要退货 and 不是会员，是不是不能买 tell what they ask about.
_WITHDRAWN = re.compile(
    r"(?:^|(?<=[,，。!！;；\s]))(?:我(?:说的|问的|要的)?)?不是(?P<what>[^,，。!！?？;；\s]{1,10})[,，。;；\s]+"
    r"(?=(?:而|应该)?是(?!不是|否|[多几什哪谁怎])|我(?:是|[说问要看讲指]的))"
)


def find_withdrawn_words(text: str) -> tuple[str, ...]:
    """Returns what the message says that it does not mean, where it goes on to say what it means."""
    return tuple(match["what"].removesuffix("的") for match in _WITHDRAWN.finditer(text))


def remove_withdrawn_words(text: str) -> str:
    """Returns the message without the clauses that only withdraw something."""
    return _WITHDRAWN.sub("", text)
