"""Finds what a message names: order numbers, phones, models, dates ..., by the patterns of `agents/entities.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from agents.understanding.amounts import parse_amount
from knowledge.codes import Code, find_codes, has_one_code, is_code
from knowledge.errors import InvalidConfiguration
from knowledge.text import fold
from knowledge.yaml_files import load_yaml

_LIST = re.compile(r"\{([a-z]+)\}")
_WORD = re.compile(r"[^\W_]")
# Words beside an entity that say no more than it does: 报错 E03 怎么办.
_FILLER = re.compile(
    r"请问|你好|您好|这个|那个|是|的|查|看|一下|帮我|号|码|编|订单|型号|错误|报错|怎么|回事|办|呢|吗|啊"
)
_VALUES = {
    "text": lambda text: text,
    "digits": lambda text: re.sub(r"\D", "", text),
    "upper": lambda text: text.upper(),
    "amount": parse_amount,
}


@dataclass(frozen=True, slots=True)
class Entity:
    """Something that a message names. `text` is its folded form, `value` a normalised one: digits of a phone number,
    `>=200` of 200 元以上.
    """

    kind: str
    text: str
    value: str


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of entity. `candidates` count only where the business database knows them; of `codes` every code is one
    that no other kind has.
    """

    name: str
    patterns: tuple[re.Pattern[str], ...]
    candidates: tuple[re.Pattern[str], ...]
    value: str
    resolve: bool
    codes: bool = False


@dataclass(frozen=True, slots=True)
class Mentions:
    """`certain` entities in the order of the text, `candidates` that somebody has to confirm; `alone` says that the
    message holds nothing else.
    """

    certain: tuple[Entity, ...]
    candidates: tuple[Entity, ...]
    alone: bool

    def add_candidates(self, more: Iterable[Entity]) -> Mentions:
        """Returns the mentions with more candidates."""
        candidates = dict.fromkeys((*self.candidates, *more))
        return replace(self, candidates=tuple(entity for entity in candidates if entity not in self.certain))

    def add_names(self, text: str, kinds: Mapping[str, str]) -> Mentions:
        """Returns the mentions with the company's own names that a text has. kinds: name, folded -> kind of entity."""
        folded, codes = fold(text), find_codes(text)
        named = [Entity(kind, name, name) for name, kind in kinds.items() if _is_named(name, folded, codes)]
        return replace(self, certain=tuple(dict.fromkeys((*self.certain, *named)))) if named else self


class EntityExtractor:
    """Thread-safe."""

    def __init__(self, kinds: tuple[Kind, ...]) -> None:
        self.kinds: Mapping[str, Kind] = {kind.name: kind for kind in kinds}

    def extract(self, text: str) -> Mentions:
        """Finds the entities of a text. They do not overlap; earlier kinds and longer places go first."""
        folded = fold(text)
        covered = bytearray(len(folded))
        taken = {
            span: entity
            for kind in self.kinds.values()
            for span, entity in _find_entities(kind, kind.patterns, folded)
            if _claim_span(span, covered)
        }
        taken |= {
            span: entity
            for kind in self.kinds.values()
            if kind.codes
            for span, entity in _find_code_entities(kind, folded)
            if _claim_span(span, covered)
        }
        rest = "".join(" " if is_taken else character for is_taken, character in zip(covered, folded, strict=True))
        weak = {
            span: entity
            for kind in self.kinds.values()
            for span, entity in _find_entities(kind, kind.candidates, folded)
            if _claim_span(span, covered)
        }
        alone = bool(taken) and not _WORD.search(_FILLER.sub("", rest))
        return Mentions(_sort_entities(taken), (), alone).add_candidates(_sort_entities(weak))

    def convert_slots(self, words_of: Iterable[tuple[str, str]]) -> Iterator[Entity]:
        """Yields entities for what a model found named, given as kinds and words; unknown kinds are skipped."""
        for name, words in words_of:
            kind = self.kinds.get(name)
            if kind is not None and kind.resolve:
                text = fold(words).strip()
                yield Entity(name, text, _VALUES[kind.value](text))


@cache
def load_shipped_extractor() -> EntityExtractor:
    """Returns the extractor of the kinds that come with the project."""
    return read_extractor((files("agents") / "entities.yaml").read_text(encoding="utf-8"))


def read_extractor(document: str) -> EntityExtractor:
    """An extractor of a YAML text. Raises InvalidConfiguration."""
    try:
        data = load_yaml(document)
        return EntityExtractor(tuple(_parse_kind(name, given, data["lists"]) for name, given in data["kinds"].items()))
    except (yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError, re.error) as error:
        raise InvalidConfiguration(f"实体声明读不懂：{error}") from error


def _parse_kind(name: str, given: Mapping[str, Any], lists: Mapping[str, str]) -> Kind:
    def compile_patterns(key: str) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(_LIST.sub(lambda m: lists[m.group(1)], item)) for item in given.get(key, ()))

    value = given["value"]
    if value not in _VALUES:
        raise ValueError(f"{name} 的 value 须是 {sorted(_VALUES)} 之一")
    return Kind(
        name,
        compile_patterns("patterns"),
        compile_patterns("candidates"),
        value,
        bool(given.get("resolve", False)),
        bool(given.get("codes")),
    )


def _find_entities(
    kind: Kind, patterns: tuple[re.Pattern[str], ...], folded: str
) -> Iterator[tuple[tuple[int, int], Entity]]:
    codes = find_codes(folded) if kind.codes else ()
    for pattern in patterns:
        group = "value" if "value" in pattern.groupindex else 0
        spans = [_extend_to_code(match.span(group), codes) for match in pattern.finditer(folded)]
        for start, end in sorted(spans, key=lambda span: span[0] - span[1]):
            text = folded[start:end].strip()
            yield (start, end), Entity(kind.name, text, _VALUES[kind.value](text))


def _find_code_entities(kind: Kind, folded: str) -> Iterator[tuple[tuple[int, int], Entity]]:
    """Finds the codes in a text that may be entities of a kind, whatever its patterns.

    A code counts if it is one word with two digits or more, or with one digit behind the name of a maker or a series.
    A point keeps it out, as does a blank: the names of standards and versions (WiFi6, USB 3.0) are no entities.

    Args:
        kind: The kind of the entities.
        folded: The text, normalised; positions refer to it.

    Yields:
        Start and end of a code in the text, and the code as an entity.
    """
    for code in find_codes(folded):
        digits = sum(map(str.isdigit, code.form))
        if not code.spaced and (digits > 1 or (digits and code.prefix)) and "." not in code.form:
            yield (code.start, code.end), Entity(kind.name, code.text, _VALUES[kind.value](code.text))


def _extend_to_code(span: tuple[int, int], codes: Sequence[Code]) -> tuple[int, int]:
    """Returns a place in a text, or that of the code which contains it: hc_sr04 of sr04."""
    return next(((code.start, code.end) for code in codes if code.start <= span[0] and span[1] <= code.end), span)


def _is_named(name: str, folded: str, codes: Sequence[Code]) -> bool:
    """Whether a text has a name: a code as a whole, in whatever spelling."""
    if is_code(name):
        return has_one_code(find_codes(name), codes)
    return name in folded


def _claim_span(span: tuple[int, int], covered: bytearray) -> bool:
    """Returns whether a place in the text is free, and marks it as taken."""
    start, end = span
    if any(covered[start:end]):
        return False
    covered[start:end] = bytes([1]) * (end - start)
    return True


def _sort_entities(spans: Mapping[tuple[int, int], Entity]) -> tuple[Entity, ...]:
    return tuple(spans[span] for span in sorted(spans))
