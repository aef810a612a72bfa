"""What must be the same in a question and in the wording that answers it: negation, numbers, models. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from agents.answering.subjects import names
from agents.verification.names import joined
from agents.verification.polarity import Polarised, contradicts
from agents.verification.quantities import Quantity, quantities
from knowledge.text import fold


@dataclass(frozen=True, slots=True)
class Facts:
    """Of one wording. models: joined, so that YS-V8 and YSV8 are one."""

    polarity: Polarised
    numbers: frozenset[Quantity]
    models: frozenset[str]

    @property
    def denies(self) -> bool:
        """Whether it holds a negation; 能不能 and 有没有 are none."""
        return bool(self.polarity.negations or self.polarity.turned)


@lru_cache(maxsize=4096)
def facts_of(text: str) -> Facts:
    """The facts of a normalised wording."""
    folded = fold(text)
    models = frozenset(joined(name) for name in names(text))
    return Facts(Polarised.of(folded), quantities(folded).said, models)


def same_subject(one: Facts, other: Facts) -> bool:
    """Whether both are of the same numbers and models. V8 is YS-V8, but not V8 Pro; one that names a model does not
    agree with one that names none.
    """
    return one.numbers == other.numbers and _named(one.models, other.models) and _named(other.models, one.models)


def same_polarity(one: Facts, other: Facts) -> bool:
    """Whether neither denies what the other does not, nor says the opposite of it."""
    return one.denies is other.denies and not contradicts(one.polarity, other.polarity)


def _named(models: frozenset[str], others: frozenset[str]) -> bool:
    return all(any(model.endswith(other) or other.endswith(model) for other in others) for model in models)
