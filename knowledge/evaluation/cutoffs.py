"""The error rates of every cutoff over a labelled set, and which cutoff to choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from knowledge.errors import InvalidConfiguration


@dataclass(frozen=True, slots=True)
class Probabilities:
    """The deciding probability of each question, in [0, 1]; `open_ones` are the questions without an answer."""

    answerable: Sequence[float]
    open_ones: Sequence[float]


@dataclass(frozen=True, slots=True)
class Cutoff:
    """Error rates of a threshold, in [0, 1]: answerable questions that it refuses, and unanswerable ones that it
    answers.
    """

    threshold: float
    false_refusal: float
    false_answer: float


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The chosen cutoff."""

    cutoff: Cutoff
    # It keeps the limit on false answers; otherwise it is the one with the fewest of them.
    met: bool


def list_cutoffs(probabilities: Probabilities, step: float = 0.01) -> list[Cutoff]:
    """Returns the error rates of the cutoffs 0, `step`, ... up to 1.

    Raises:
        InvalidConfiguration: If one of the two kinds of question is missing.
    """
    answerable, open_ones = np.asarray(probabilities.answerable), np.asarray(probabilities.open_ones)
    if not len(answerable) or not len(open_ones):
        raise InvalidConfiguration(
            "评测集里要既有能回答的问题，也有不能回答的问题（queries_unanswerable.jsonl，或 --out-of-domain）"
        )
    thresholds = (round(number * step, 4) for number in range(round(1 / step) + 1))
    return [
        Cutoff(threshold, float((answerable < threshold).mean()), float((open_ones >= threshold).mean()))
        for threshold in thresholds
    ]


def choose_cutoff(rates: Sequence[Cutoff], max_false_answer: float | None = None) -> Recommendation:
    """Chooses a cutoff. Among equal ones it takes the highest, which leaves most room for questions outside of the set.

    Args:
        rates: The error rates of the cutoffs.
        max_false_answer: The highest rate of false answers; the cutoff with the fewest false refusals that keeps it is
            chosen. Without it, the cutoff with the lowest mean of both rates.
    """
    if max_false_answer is None:
        mean = min(rates, key=lambda rate: (rate.false_refusal + rate.false_answer, -rate.threshold))
        return Recommendation(mean, met=True)
    allowed = [rate for rate in rates if rate.false_answer <= max_false_answer]
    if allowed:
        return Recommendation(min(allowed, key=lambda rate: (rate.false_refusal, -rate.threshold)), met=True)
    return Recommendation(min(rates, key=lambda rate: (rate.false_answer, rate.false_refusal)), met=False)
