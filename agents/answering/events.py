"""Finds what happened on the days that a message names: the clause of each day, and what else the message states."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from agents.understanding.dates import DateMention
from agents.understanding.parts_of_speech import find_tag, tag_words
from agents.understanding.periods import move_back_months
from agents.understanding.question_words import is_question, strip_question_words
from knowledge.text import fold

# A day without a year that is so near ahead, of an event that no word calls past, is the coming one.
NEAR_MONTHS = 2
# Letters by which words of one stem are known: receipt, received.
STEM = 4
_BREAK = re.compile(r"[,。;!?\n]|(?<=[一-鿿])\s+(?=[一-鿿])")
_MARKS = ",。;!? \n"
_HAN = re.compile(r"[一-鿿]")
_LATIN = re.compile(r"[a-z]{3,}")
# What follows is asked or wished for, and has not happened.
_MODAL = re.compile(
    r"(?:能|可)(?![^一-鿿]|$|耐)|想|要(?!求)|打算|准备|还来|来得及|应该|是不是|是否|会不会|怎么|如何|什么|啥|哪|几(?!乎)|多久|"
    r"\b(?:can|could|may|will|would|should|do|does|is|am|want|when|how)\b"
)
_NOT = re.compile(r"[没未不]|\b(?:not|never|n't)\b")
_SUPPOSED = re.compile(r"如果|假如|假设|要是|比方|的话|\bif\b")
_FUNCTION = frozenset(
    "的了是在就还能吗呢吧啊那哪这个我你您他们到从自于后前内起之以及或和与按为"
    "天日号月年周时候今昨明上下第什么多久最晚迟早几有没不可要会应当须已被把给对"
)
_FUNCTION_WORDS = frozenset(
    {"the", "and", "for", "was", "can", "may", "you", "your", "afte", "befo", "with", "date", "days"}
)
# Something is done already.
_DONE = re.compile(r"[了过的刚已]|ed\b|bought|got|paid")
# And so it is where a verb has come to its end: 收到书架.
_ENDED = re.compile(r"(?<!^)[到完](?!期)")
# What may stand within a verb: 报了修, 出的院.
_LIGHT = "[的了过完好]{0,2}"


@dataclass(frozen=True, slots=True)
class DatedClause:
    """A single day that a message names, and its clause: the text before and after the day, up to what is only asked or
    wished for.
    """

    mention: DateMention
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.before},{self.after}"

    @property
    def text(self) -> str:
        """The text after the day; without any, the text before it says what happened: 签收时间是 11 月 20 日."""
        return self.after if extract_features(self.after) else self.before

    def is_past(self, today: date) -> bool:
        """Whether its day is over, or its words say so."""
        return self.mention.first <= today and (
            not is_coming(self.mention, today) or bool(_DONE.search(self.text) or _ENDED.search(self.text))
        )

    def begins_with(self, character: str) -> bool:
        """Whether it begins with a character that is a verb by what follows it: 换的胎."""
        return re.match(f"[我就才刚]?{re.escape(character)}[的了过完好错]", self.text) is not None

    def find_verb(self, verb: str) -> int | None:
        """Returns where it has a verb, perhaps in parts; None without."""
        found = re.search(_LIGHT.join(map(re.escape, verb)), self.text)
        return found.start() if found else None

    def split_at(self, position: int) -> tuple[str, str]:
        """Returns the clause's text before a position in `text`, and the rest."""
        before = self.before if self.text is self.after else ""
        return before + self.text[:position], self.text[position:]


def is_coming(mention: DateMention, today: date) -> bool:
    """Whether a day may still be to come: today and later, and a day without a year that is near in the next one."""
    is_near = today < mention.get_coming_days(today)[0] <= move_back_months(today, -NEAR_MONTHS)
    return mention.first >= today or (mention.any_year and is_near)


def extract_features(text: str) -> frozenset[str]:
    """Returns characters that mean something by themselves, and stems of Latin words: 签收 and 收货 share 收."""
    plain = strip_question_words(fold(text))
    stems = {word[:STEM] for word in _LATIN.findall(plain)}
    return frozenset(_HAN.findall(plain)) - _FUNCTION | (stems - _FUNCTION_WORDS)


def find_verbs(text: str) -> list[str]:
    """Returns the verbs of a text in order. What looks like a preposition at the end is a verb too."""
    words = [(word, tag) for word, tag in tag_words(text) if extract_features(word)]
    return [word for at, (word, tag) in enumerate(words, 1) if tag.startswith("v") or (tag == "p" and at == len(words))]


def find_verb_pairs(text: str) -> list[str]:
    """Returns pairs of characters of which the first is a verb, and the last two of the text: 到期 of 会员到期."""
    return [*(pair for pair in map("".join, pairwise(text)) if is_verb(pair[0])), text[-2:]]


def is_verb(character: str) -> bool:
    """Whether a character is a verb by itself, and one that means something."""
    return bool(extract_features(character)) and str(find_tag(character)).startswith("v")


def find_nouns(text: str) -> list[str]:
    """Returns the words of a text that may name things."""
    return [word for word, tag in tag_words(text) if len(word) > 1 and tag.startswith(("n", "vn", "x", "eng"))]


def find_dated_clauses(message: str, mentions: Sequence[DateMention]) -> list[DatedClause]:
    """Returns the clauses of the single days of a message; none for a supposition."""
    text = fold(message)
    if _SUPPOSED.search(text):
        return []
    return [clause for number in range(len(mentions)) if (clause := _find_clause(text, mentions, number)) is not None]


def _find_clause(text: str, mentions: Sequence[DateMention], number: int) -> DatedClause | None:
    mention = mentions[number]
    breaks = [match.span() for match in _BREAK.finditer(text)]
    starts = [end for _, end in breaks if end <= mention.start] + [other.end for other in mentions[:number]]
    ends = [start for start, _ in breaks if start >= mention.end] + [other.start for other in mentions[number + 1 :]]
    before = text[max(starts, default=0) : mention.start].strip()
    after = text[mention.end : min(ends, default=len(text))].strip()
    happened = _keep_happened(after)
    if not mention.is_single_day or after.startswith("的") or _keep_happened(before) != before or happened is None:
        return None
    clause = DatedClause(mention, before, happened)
    return clause if extract_features(clause.text) else None


def is_denied(message: str, event: str) -> bool:
    """Whether a message says that an event has not happened: 我还没取件."""
    verbs = "|".join(_LIGHT.join(map(re.escape, verb)) for verb in find_verbs(event) or [event[-2:]])
    return re.search(f"[没未][^,。;!?]{{0,2}}(?:{verbs})(?!吗|呢)", fold(message)) is not None


def _keep_happened(clause: str) -> str | None:
    """Returns a clause up to what is asked, wished for or denied in it; None for one that only denies."""
    rest = _MODAL.split(clause)[0].strip()
    done = _NOT.split(rest)[0].strip()
    return done if done == rest or _DONE.search(done) else None


def list_statements(message: str, mentions: Sequence[DateMention], event: DateMention | None = None) -> list[str]:
    """Returns what a message states, clause by clause, without times, questions and the clause of an event."""
    text, stated, start = fold(message), [], 0
    for end in (*(match.start() for match in _BREAK.finditer(text)), len(text)):
        if event is None or not start <= event.start < end:
            plain = _remove_times(text, mentions, start, end).lstrip(_MARKS)
            so = _keep_happened(plain)
            if so and (_DONE.search(so) or (so == plain and not is_question(text[start : end + 1]))):
                stated.append(so)
        start = end
    return stated


def _remove_times(text: str, mentions: Sequence[DateMention], start: int, end: int) -> str:
    return "".join(
        text[at] for at in range(start, end) if not any(one.start <= at < one.end for one in mentions)
    ).strip()
