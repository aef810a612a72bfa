"""The words that a description gives for its tables, columns, states and goods, and where a question has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from sqlglot import exp

from agents.business.offline.language import Language
from agents.business.schema import Schema
from agents.understanding.parts_of_speech import tag_words


class TermKind(StrEnum):
    """What a word stands for; the value is the letter that replaces it where questions are compared."""

    TABLE = "Ｔ"
    COLUMN = "Ｃ"
    STATE = "Ｓ"
    GOODS = "Ｇ"


@dataclass(frozen=True, slots=True)
class TermMeaning:
    """One meaning of a word."""

    kind: TermKind
    table: str = ""
    column: str = ""
    # SQL of a state.
    where: str = ""
    # Its name in a reply, of goods what is searched for.
    say: str = ""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A word of a question, with all its possible meanings."""

    start: int
    end: int
    terms: tuple[TermMeaning, ...]

    def list_meanings(self, kind: TermKind) -> tuple[TermMeaning, ...]:
        return tuple(term for term in self.terms if term.kind is kind)


class Vocabulary:
    """The words of one description, matched in the spelling of `Language.fold_text`, the longest first."""

    def __init__(self, schema: Schema, goods: Mapping[str, Iterable[str]], language: Language) -> None:
        found: dict[str, list[TermMeaning]] = {}
        for word, term in (*_list_terms(schema), *_list_goods(goods)):
            for way in _list_spellings(word, term):
                entries = found.setdefault(language.fold_text(way), [])
                entries += [term] if term not in entries else []
        self._terms = {word: tuple(terms) for word, terms in found.items() if word}
        self._longest = max(map(len, self._terms), default=0)

    def find_words(self, text: str) -> list[Occurrence]:
        """Returns the words of a text. text: folded by `Language.fold_text`."""
        found, position = [], 0
        alone = _find_single_words(text)
        while position < len(text):
            for end in range(min(position + self._longest, len(text)), position, -1):
                terms = self._terms.get(text[position:end])
                if terms and _is_word(text, position, end) and (end > position + 1 or position in alone):
                    found.append(Occurrence(position, end, terms))
                    position = end - 1
                    break
            position += 1
        return found


# In front of a character, they leave it a word of its own: 下单, 一单.
_LEADING = "那这哪几一两三四五六七八九十每下上首头买"


def quote_literal(text: str) -> str:
    """Returns a text as a SQL literal."""
    return exp.Literal.string(text).sql()


def _list_terms(schema: Schema) -> Iterator[tuple[str, TermMeaning]]:
    for table in schema.tables.values():
        for word in table.words:
            yield word, TermMeaning(TermKind.TABLE, table.name)
        for state in table.states:
            for word in state.words:
                yield word, TermMeaning(TermKind.STATE, table.name, where=state.where, say=state.say)
        for column in table.columns.values():
            for word in column.words:
                yield word, TermMeaning(TermKind.COLUMN, table.name, column.name)
            for code, ways in column.spoken.items():
                where = f"{table.name}.{column.name} = {quote_literal(code)}"
                for word in ways:
                    yield word, TermMeaning(TermKind.STATE, table.name, column.name, where, ways[0])


def _list_goods(goods: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, TermMeaning]]:
    for name, others in goods.items():
        for word in (name, *others):
            yield word, TermMeaning(TermKind.GOODS, say=name)


def _list_spellings(word: str, term: TermMeaning) -> Iterator[str]:
    """Yields other ways to say a state: 待付款 -> 没付款, 已完成 -> 已经完成."""
    yield word
    if term.kind is TermKind.STATE and len(word) > 2:
        if word[0] in "待未":
            yield f"没{word[1:]}"
        if word[0] == "已":
            yield f"已经{word[1:]}"
            yield f"{word[1:]}了的"
        if word[-1] == "中" and len(word) == 3:
            yield f"在{word[:-1]}"


def _find_single_words(text: str) -> set[int]:
    """Returns the positions of characters that are words by themselves: of 那单 and 几张 the last, of 账单 none."""
    positions, position = set(), 0
    for word, tag in tag_words(text):
        if len(word) == 1 or tag in ("m", "r", "mq", "f", "t"):
            positions.add(position + len(word) - 1)
        if word[0] in _LEADING:
            positions.update(range(position + 1, position + len(word)))
        position += len(word)
    return positions


def _is_word(text: str, start: int, end: int) -> bool:
    """Whether a Latin word is not a part of another."""
    word = text[start:end]
    if not word.isascii():
        return True
    return not (_is_latin(text, start - 1) or _is_latin(text, end)) or word.isdigit()


def _is_latin(text: str, position: int) -> bool:
    return 0 <= position < len(text) and text[position].isascii() and text[position].isalpha()
