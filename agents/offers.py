"""Chooses the offer for a customer who is about to leave, by rules on the customer's own data. Offers are
never invented.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Protocol

import yaml

from agents.understanding.causes import Cause
from knowledge.errors import InvalidConfiguration

SHIPPED = Path(__file__).with_name("offers.yaml")
_DAYS_A_MONTH = 30.44
_BOUNDS = frozenset({"min", "max", "months_min", "months_max", "days_min", "days_max"})


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known of a member: `value` is compared by rules, `shown` is put into texts."""

    value: str | int | float
    shown: str


class MemberFacts(Protocol):
    """The facts of a member that offers depend on."""

    async def load_facts(self, caller: str) -> Mapping[str, Fact]:
        """Returns the member's facts by name, empty for an unknown member. Raises BusinessUnavailable."""


@dataclass(frozen=True, slots=True)
class Offer:
    """`when`: fact -> a value, several values, or bounds; all conditions have to hold."""

    id: str
    causes: frozenset[Cause]
    when: Mapping[str, Any]
    text: str

    def is_applicable(self, cause: Cause, facts: Mapping[str, Fact], today: date) -> bool:
        """Whether the rules hold, and all facts that the text names are known."""
        names = {name for _, name, _, _ in string.Formatter().parse(self.text) if name}
        if cause not in self.causes or not names <= facts.keys():
            return False
        return all(name in facts and _is_rule_met(facts[name].value, rule, today) for name, rule in self.when.items())


@dataclass(frozen=True, slots=True)
class Offers:
    """`queries`: SELECTs that give the facts; `offers` in order of preference."""

    queries: tuple[str, ...]
    offers: tuple[Offer, ...]

    def choose(self, cause: Cause, facts: Mapping[str, Fact], today: date) -> str | None:
        """Returns the text of the first applicable offer, with the member's own figures."""
        for offer in self.offers:
            if offer.is_applicable(cause, facts, today):
                return offer.text.format_map({name: fact.shown for name, fact in facts.items()})
        return None


def load_offers(path: Path) -> Offers:
    """Reads the offers of a YAML file. Raises InvalidConfiguration, naming the offer."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        offers = tuple(_parse_offer(fields, path) for fields in data["offers"])
        return Offers(tuple(str(query) for query in data["facts"]), offers)
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise InvalidConfiguration(f"挽留方案 {path} 读不懂：{error!r}") from error


def _parse_offer(fields: Mapping[str, Any], path: Path) -> Offer:
    offer = Offer(str(fields["id"]), frozenset(map(Cause, fields["for"])), fields["when"], str(fields["text"]))
    if not offer.when:  # an offer to everybody would not depend on the member's data
        raise InvalidConfiguration(f"挽留方案 {path}：{offer.id} 没有写 when")
    for name, rule in offer.when.items():
        if isinstance(rule, Mapping) and not (rule and rule.keys() <= _BOUNDS):
            raise InvalidConfiguration(f"挽留方案 {path}：{offer.id} 的 {name} 只能用 {'、'.join(sorted(_BOUNDS))}")
    if any(
        spec or conversion or not str(name).isidentifier() for name, spec, conversion in _list_placeholders(offer.text)
    ):
        raise InvalidConfiguration(f"挽留方案 {path}：{offer.id} 的 text 里，花括号中只能写数据名")
    return offer


def _list_placeholders(text: str) -> Sequence[tuple[str, str | None, str | None]]:
    parsed = string.Formatter().parse(text)
    return [(name, spec, conversion) for _, name, spec, conversion in parsed if name is not None]


def _is_rule_met(value: str | int | float, rule: Any, today: date) -> bool:
    if isinstance(rule, Mapping):
        return all(_is_within_bound(value, kind, float(bound), today) for kind, bound in rule.items())
    wanted = rule if isinstance(rule, list) else [rule]
    return value in wanted


def _is_within_bound(value: str | int | float, kind: str, bound: float, today: date) -> bool:
    unit, _, side = kind.rpartition("_")
    if unit:
        number = _count_days(value, today)
        if number is None:
            return False
        number = number / _DAYS_A_MONTH if unit == "months" else number
    elif isinstance(value, str):
        return False
    else:
        number = float(value)
    return number >= bound if side == "min" else number <= bound


def _count_days(value: str | int | float, today: date) -> float | None:
    try:
        return float((today - date.fromisoformat(str(value)[:10])).days)
    except ValueError:
        return None
