"""Parses a question before its subject is known: numbers, times, amounts, ranks, words of the YAML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from agents.business.offline.language import Language
from agents.business.offline.vocabulary import Occurrence, TermKind, Vocabulary
from agents.understanding.comparisons import Comparison, find_amounts
from agents.understanding.entities import Entity, load_shipped_extractor
from agents.understanding.ranks import Ranking, find_ranks
from agents.understanding.times import TimeMention, find_time

# Letters that stand for what differs from question to question of one kind.
NUMBER, DAY, AMOUNT, MODEL = "Ｎ", "Ｄ", "Ａ", "Ｇ"
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """`text` is folded."""

    text: str
    numbers: tuple[tuple[str, Span], ...]
    # Product models, with their places.
    models: tuple[tuple[str, Span], ...]
    time: TimeMention | None
    # Where it names days.
    days: tuple[Span, ...]
    # Its times are one period.
    whole: bool
    amounts: tuple[Comparison, ...]
    ranks: tuple[Ranking, ...]
    mentions: tuple[Occurrence, ...]
    today: date

    def build_skeleton(self, kinds: Iterable[TermKind]) -> str:
        """Returns the text with letters for numbers, times, amounts, goods, and words of these kinds."""
        marks = [(span, _extract_prefix(number) + NUMBER) for number, span in self.numbers]
        marks += [(span, MODEL) for _, span in self.models]
        marks += [((self.time.start, self.time.end), DAY)] if self.time else []
        marks += [(span, DAY) for span in self.days if not self.time or span[1] <= self.time.start]
        marks += [((found.start, found.end), AMOUNT) for found in self.amounts]
        for mention in self.mentions:
            kind = next((kind for kind in kinds if mention.list_meanings(kind)), None)
            marks += [((mention.start, mention.end), kind.value)] if kind else []
        text, end = "", 0
        for (start, stop), mark in sorted(marks):
            if start >= end:
                text, end = text + self.text[end:start] + mark, stop
        return text + self.text[end:]


def parse_question(text: str, vocabulary: Vocabulary, language: Language, today: date) -> ParsedQuestion:
    """Parses a question. text: folded by `Language.fold_text`."""
    certain: Sequence[Entity] = load_shipped_extractor().extract(text).certain
    time, whole = find_time(text, [entity.text for entity in certain if entity.kind == "date"], today)
    rest = blank_spans(text, [(time.start, time.end)] if time else [])
    numbers = (
        *_find_places(rest, [entity for entity in certain if entity.kind == "order_number"]),
        *_find_tail(rest, language),
    )
    rest = blank_spans(rest, [span for _, span in numbers])
    models = tuple(_find_places(rest, [entity for entity in certain if entity.kind == "product_model"]))
    rest = blank_spans(rest, [span for _, span in models])
    numeric = [m for m in vocabulary.find_words(rest) if any(map(str.isdigit, rest[m.start : m.end]))]  # 满300减30
    ranks = tuple(find_ranks(rest))
    taken = [*((rank.start, rank.end) for rank in ranks), *((word.start, word.end) for word in numeric)]
    amounts = tuple(find_amounts(blank_spans(rest, taken)))
    mentions = tuple(vocabulary.find_words(blank_spans(rest, [(found.start, found.end) for found in amounts])))
    last = text.rfind(" ")  # a follow-up that was completed ends with what is new in it
    if any(mention.start > last and mention.list_meanings(TermKind.GOODS) for mention in mentions):
        mentions = tuple(
            mention for mention in mentions if mention.start > last or not mention.list_meanings(TermKind.GOODS)
        )
    days = tuple(span for _, span in _find_places(text, [entity for entity in certain if entity.kind == "date"]))
    return ParsedQuestion(text, numbers, models, time, days if whole else (), whole, amounts, ranks, mentions, today)


def blank_spans(text: str, spans: Iterable[Span]) -> str:
    """Returns a text with blanks in place of its spans."""
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _find_places(text: str, entities: Iterable[Entity]) -> list[tuple[str, Span]]:
    found: list[tuple[str, Span]] = []
    for entity in entities:
        start = text.find(entity.text, max((end for _, (_, end) in found), default=0))
        if start >= 0:
            found.append((entity.value, (start, start + len(entity.text))))
    return found


def _find_tail(text: str, language: Language) -> list[tuple[str, Span]]:
    """Returns the last digits of a number, as a pattern: 尾号 0231."""
    for word in language.tails:
        if found := re.search(rf"{re.escape(word)}[是为的: ]*([a-z0-9]{{3,}})", text):
            return [(f"%{found[1].upper()}", found.span())]
    return []


def _extract_prefix(number: str) -> str:
    """Returns the letters of a number, which tell one kind from another."""
    return "".join(character for character in number.lower() if character.isalpha())
