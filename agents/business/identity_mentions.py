"""Finds whom a question is about, by its words alone: names, numbers and phrases of `strangers.yaml`.

No data is looked up here, so that what is refused is the same whether or not somebody of that name exists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from agents.understanding.entities import load_shipped_extractor
from agents.understanding.parts_of_speech import find_tag, tag_words
from knowledge.text import fold
from knowledge.yaml_files import load_shipped_yaml

_LIST = re.compile(r"\{([a-z]+)\}")
_EMAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+")
_LETTERS = re.compile(r"([A-Za-z]{1,4}[-_]?)(\d{2,})")
_MAX_NAME = 4
_NOT_IN_NAMES = re.compile(r"[我你您他她它的了么吗呢吧查下单]")
# First letters of jieba's tags of words that hold sentences together: no name begins with 何时 or 从来.
_GRAMMAR = frozenset("cdpmqrtuf")


class MentionKind(StrEnum):
    """What a mention names somebody by."""

    NAME = "name"
    PHONE = "phone"
    EMAIL = "email"
    MEMBER = "member"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Mention:
    """`value` is the caller's own, or somebody else's; the database tells whose."""

    about: MentionKind
    value: str


@dataclass(frozen=True, slots=True)
class _Phrases:
    strangers: tuple[re.Pattern[str], ...]
    members: tuple[re.Pattern[str], ...]
    names: tuple[re.Pattern[str], ...]
    surname: re.Pattern[str]
    data: re.Pattern[str]
    brands: frozenset[str]


def is_about_others(text: str) -> bool:
    """Whether a text says that it is about other people's data: 我老婆的订单, 所有会员."""
    for form in {text, fold(text)}:
        for pattern in _load_phrases().strangers:
            if any(not match.groupdict().get("giving") for match in pattern.finditer(form)):
                return True
    return False


def find_mentions(text: str, caller: str) -> frozenset[Mention]:
    """Returns everything in a text that names a person, an account or an order. caller: an example of a member
    number.
    """
    found = load_shipped_extractor().extract(text).certain
    kinds = {"phone": MentionKind.PHONE, "order_number": MentionKind.NUMBER}
    numbers = {Mention(kinds[entity.kind], entity.value) for entity in found if entity.kind in kinds}
    taken = {mention.value for mention in numbers}
    members = {value for value in _find_members(text, caller) if value not in taken}
    emails = {match.group() for match in _EMAIL.finditer(fold(text))}
    return frozenset(
        {
            *numbers,
            *(Mention(MentionKind.MEMBER, value) for value in members),
            *(Mention(MentionKind.EMAIL, value) for value in emails),
            *(Mention(MentionKind.NAME, value) for value in _find_names(text)),
        }
    )


def _find_members(text: str, caller: str) -> Iterator[str]:
    folded = fold(text)
    for pattern in _load_phrases().members:
        yield from (match.group("value").upper() for match in pattern.finditer(folded))
    if shape := _LETTERS.fullmatch(caller):
        prefix, digits = shape.group(1).rstrip("-_"), len(shape.group(2))
        alike = rf"(?i)(?<![A-Za-z0-9-]){re.escape(prefix)}[-_]?\d{{{max(digits - 2, 2)},{digits + 2}}}(?![A-Za-z0-9-])"
        yield from (match.group().upper() for match in re.finditer(alike, folded))


def _find_names(text: str) -> Iterator[str]:
    """Yields names of people, without what cannot be one: 谢谢, 余额够, 何时发."""
    phrases = _load_phrases()
    for name in _find_tagged_names(text):
        first = (find_tag(name[:2]) or "") if len(name) == 3 else ""
        odd = name in phrases.brands or name[0] == name[1] or (first and first[0] in _GRAMMAR)
        if not (odd or _NOT_IN_NAMES.search(name[1:]) or phrases.data.search(name)):
            yield name


def _find_tagged_names(text: str) -> Iterator[str]:
    """Yields what the dictionary tags as a name, and unknown words after a surname where somebody is named."""
    phrases = _load_phrases()
    for word, tag in tag_words(text):
        if tag.startswith("nr") and 2 <= len(word) <= _MAX_NAME and phrases.surname.match(word):
            yield word
    extractor = load_shipped_extractor()
    found = extractor.extract(text)
    for entity in (*found.certain, *found.candidates):
        if entity.kind == "member_name" and not _is_word(entity.text):
            yield entity.text
    for pattern in phrases.names:
        for match in pattern.finditer(text):
            if not _is_word(match.group("value")):
                yield match.group("value")


def _is_word(text: str) -> bool:
    """Whether the dictionary knows it as anything but a name."""
    tag = find_tag(text)
    return tag is not None and not tag.startswith("nr")


@cache
def _load_phrases() -> _Phrases:
    data = load_shipped_yaml("agents.business", "strangers.yaml")
    surname = load_shipped_yaml("agents", "entities.yaml")["lists"]["surname"]
    lists: Mapping[str, str] = {**data["lists"], "surname": surname}

    def fill_lists(text: str) -> str:
        """A list may name another."""
        while _LIST.search(text):
            text = _LIST.sub(lambda match: lists[match.group(1)], text)
        return text

    def compile_patterns(key: str) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(fill_lists(item)) for item in data[key])

    def compile_words(name: str) -> re.Pattern[str]:
        return re.compile(f"(?:{lists[name]})")

    return _Phrases(
        compile_patterns("patterns"),
        compile_patterns("members"),
        compile_patterns("names"),
        compile_words("surname"),
        compile_words("data"),
        frozenset(data["brands"]),
    )
