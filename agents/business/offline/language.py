"""The Chinese of questions about one's own data, whatever the trade: `language.yaml`, compiled."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

NUMBER = r"(?:\d{1,2}|[一二两三四五六七八九十]{1,2})"


@dataclass(frozen=True, slots=True)
class Language:
    """See the comments of the file; every pattern is for folded text."""

    spoken: tuple[tuple[re.Pattern[str], str], ...]
    ranks: tuple[tuple[re.Pattern[str], str], ...]
    own: re.Pattern[str]
    told: re.Pattern[str]
    status: re.Pattern[str]
    policy: re.Pattern[str]
    vague: re.Pattern[str]
    count: re.Pattern[str]
    sum: re.Pattern[str]
    amount: re.Pattern[str]
    money_too: re.Pattern[str]
    count_and_rank: re.Pattern[str]
    details: re.Pattern[str]
    each: re.Pattern[str]
    average: re.Pattern[str]
    per_time: re.Pattern[str]
    exceeds: re.Pattern[str]
    recent: re.Pattern[str]
    tail: re.Pattern[str]
    slot: re.Pattern[str]
    lead: re.Pattern[str]
    head: re.Pattern[str]
    tail_words: re.Pattern[str]
    asks_goods: re.Pattern[str]
    refuses: re.Pattern[str]
    either: re.Pattern[str]
    besides: re.Pattern[str]
    asked: re.Pattern[str]
    exists: re.Pattern[str]
    whether: re.Pattern[str]
    weighty: re.Pattern[str]
    filler: re.Pattern[str]

    def plain(self, text: str) -> str:
        """A folded text with spoken words in their common form: 啥时候 -> 什么时候."""
        for pattern, common in self.spoken:
            text = pattern.sub(common, text)
        return text


@cache
def shipped_language() -> Language:
    """The language that comes with the project."""
    text = (files("agents.business.offline") / "language.yaml").read_text(encoding="utf-8")
    given = yaml.safe_load(text)
    given |= {key: "|".join(given[key]) for key in ("policy", "vague")}
    given["filler"] = re.sub(r"\s+", "", given["filler"]).removesuffix("|")
    spoken = tuple((re.compile(pattern), common) for pattern, common in given.pop("spoken"))
    ranks = tuple((re.compile(pattern.replace("{n}", NUMBER)), give) for give, pattern in given.pop("ranks"))
    return Language(spoken=spoken, ranks=ranks, **{name: re.compile(pattern) for name, pattern in given.items()})
