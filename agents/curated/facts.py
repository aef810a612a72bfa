"""Compares the facts of a question and of a wording: negation, numbers, models, and one word in the place of another.
Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from agents.understanding.question_words import strip_question_words
from agents.verification.polarity import Polarity, is_contradiction
from agents.verification.quantities import Quantity, find_quantities
from agents.verification.wording import extract_units
from knowledge.codes import Code, find_codes, has_all_codes
from knowledge.text import fold

# Characters of the longer and of the shorter of two words of which one stands in the place of the other, as
# 增值税专用 of 普通. What is longer is put in other words altogether.
LONGEST, SHORTEST = 5, 3


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of one wording."""

    polarity: Polarity
    numbers: frozenset[Quantity]
    models: tuple[Code, ...]
    # Its characters and Latin words without question words.
    units: tuple[str, ...]

    @property
    def has_negation(self) -> bool:
        """Whether it holds a negation; 能不能 and 有没有 are none."""
        return bool(self.polarity.negations or self.polarity.turned)


@lru_cache(maxsize=4096)
def read_facts(text: str) -> Facts:
    """Returns the facts of a normalised wording."""
    folded = fold(text)
    units = extract_units(strip_question_words(folded))
    return Facts(Polarity.from_text(folded), find_quantities(folded).stated, find_codes(text), units)


def has_same_subject(one: Facts, other: Facts) -> bool:
    """Whether both have the same numbers and models. YS-V8 is YSV8 and V8, but neither V8 Pro nor EV8 is V8; a wording
    with a model does not agree with one without.
    """
    return (
        one.numbers == other.numbers
        and has_all_codes(one.models, other.models)
        and has_all_codes(other.models, one.models)
    )


def has_same_polarity(one: Facts, other: Facts) -> bool:
    """Whether neither denies what the other does not, nor says the opposite of it."""
    return one.has_negation is other.has_negation and not is_contradiction(one.polarity, other.polarity)


def is_one_word_apart(one: Facts, other: Facts) -> bool:
    """Whether both are the same but for one word in the place of another: 怎么绑定手机号 and 怎么解绑手机号.

    An embedder takes such wordings for one; whether they mean the same is not known.
    """
    if abs(len(one.units) - len(other.units)) > LONGEST:
        return False
    apart, same = _find_differences(one.units, other.units)
    return len(apart) == 1 and same > 0 and 0 < min(apart[0]) <= SHORTEST and max(apart[0]) <= LONGEST


def _find_differences(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[list[tuple[int, int]], int]:
    """Returns how many units of either side stand at each place where they differ, and how many are the same.

    A single common unit between two places belongs to them: 绑 is not what 绑定 and 解绑 have in common.
    """
    apart: list[tuple[int, int]] = []
    same, between = 0, 2
    for tag, start, end, other_start, other_end in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        size, other_size = end - start, other_end - other_start
        if tag == "equal":
            same, between = same + size, size
        elif apart and between == 1:
            apart[-1] = apart[-1][0] + size + 1, apart[-1][1] + other_size + 1
            same -= 1
        else:
            apart.append((size, other_size))
    return apart, same
