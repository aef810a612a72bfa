"""What a message names: order numbers, phones, models, dates ..., by the patterns of `agents/entities.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from agents.routing.amounts import amount
from agents.routing.types import Entity, Intent
from knowledge.errors import InvalidConfiguration
from knowledge.text import fold

_LIST = re.compile(r"\{([a-z]+)\}")
_WORD = re.compile(r"[^\W_]")
_FILLER = re.compile(
    r"请问|你好|您好|这个|那个|是|的|查|看|一下|帮我|号|码|编|订单|型号|错误|报错|怎么|回事|办|呢|吗|啊"
)
"""Words beside an entity that say no more than it does: 报错 E03 怎么办."""
_VALUES = {
    "text": lambda text: text,
    "digits": lambda text: re.sub(r"\D", "", text),
    "upper": lambda text: text.upper(),
    "amount": amount,
}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of entity. `candidates` count only where the business database knows them."""

    name: str
    patterns: tuple[re.Pattern[str], ...]
    candidates: tuple[re.Pattern[str], ...]
    value: str
    suggests: Intent | None
    resolve: bool


@dataclass(frozen=True, slots=True)
class Mentions:
    """`certain` entities in the order of the text, `candidates` that somebody has to confirm; `alone` says that the
    message holds nothing else.
    """

    certain: tuple[Entity, ...]
    candidates: tuple[Entity, ...]
    alone: bool


class EntityExtractor:
    """Thread-safe."""

    def __init__(self, kinds: tuple[Kind, ...]) -> None:
        self.kinds: Mapping[str, Kind] = {kind.name: kind for kind in kinds}

    def extract(self, text: str, named: Iterable[tuple[str, str]] = ()) -> Mentions:
        """Entities of a text; spans do not overlap, earlier kinds and longer spans go first.

        named: kinds and words of it that a model found besides; they are candidates, where the kind has to be known.
        """
        folded = fold(text)
        covered = bytearray(len(folded))
        taken = {
            span: entity
            for kind in self.kinds.values()
            for span, entity in _found(kind, kind.patterns, folded)
            if _take(span, covered)
        }
        rest = "".join(" " if place else character for place, character in zip(covered, folded, strict=True))
        weak = {
            span: entity
            for kind in self.kinds.values()
            for span, entity in _found(kind, kind.candidates, folded)
            if _take(span, covered)
        }
        alone = bool(taken) and not _WORD.search(_FILLER.sub("", rest))
        certain, candidates = _in_order(taken), dict.fromkeys((*_in_order(weak), *self._named(named)))
        return Mentions(certain, tuple(entity for entity in candidates if entity not in certain), alone)

    def _named(self, named: Iterable[tuple[str, str]]) -> Iterator[Entity]:
        for name, words in named:
            kind = self.kinds.get(name)
            if kind is not None and kind.resolve:
                text = fold(words).strip()
                yield Entity(name, text, _VALUES[kind.value](text))


@cache
def shipped_extractor() -> EntityExtractor:
    """The kinds that come with the project."""
    return read_extractor((files("agents") / "entities.yaml").read_text(encoding="utf-8"))


def read_extractor(document: str) -> EntityExtractor:
    """An extractor of a YAML text. Raises InvalidConfiguration."""
    try:
        data = yaml.safe_load(document)
        return EntityExtractor(tuple(_kind(name, given, data["lists"]) for name, given in data["kinds"].items()))
    except (yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError, re.error) as error:
        raise InvalidConfiguration(f"实体声明读不懂：{error}") from error


def _kind(name: str, given: Mapping[str, Any], lists: Mapping[str, str]) -> Kind:
    def compiled(key: str) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(_LIST.sub(lambda m: lists[m.group(1)], item)) for item in given.get(key, ()))

    value = given["value"]
    if value not in _VALUES:
        raise ValueError(f"{name} 的 value 须是 {sorted(_VALUES)} 之一")
    suggests = Intent(given["suggests"]) if "suggests" in given else None
    return Kind(name, compiled("patterns"), compiled("candidates"), value, suggests, bool(given.get("resolve", False)))


def _found(kind: Kind, patterns: tuple[re.Pattern[str], ...], folded: str) -> Iterator[tuple[tuple[int, int], Entity]]:
    for pattern in patterns:
        group = "value" if "value" in pattern.groupindex else 0
        spans = [match.span(group) for match in pattern.finditer(folded)]
        for start, end in sorted(spans, key=lambda span: span[0] - span[1]):
            text = folded[start:end].strip()
            yield (start, end), Entity(kind.name, text, _VALUES[kind.value](text))


def _take(span: tuple[int, int], covered: bytearray) -> bool:
    """Whether a place in the text is free; from now on it is not."""
    start, end = span
    if any(covered[start:end]):
        return False
    covered[start:end] = bytes([1]) * (end - start)
    return True


def _in_order(spans: Mapping[tuple[int, int], Entity]) -> tuple[Entity, ...]:
    return tuple(spans[span] for span in sorted(spans))
