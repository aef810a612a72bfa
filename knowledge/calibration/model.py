"""What the gate learnt of one scorer on one knowledge base: from raw scores to probabilities."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from knowledge.errors import InvalidConfiguration

CUTOFF_PROBABILITY = 0.6
"""The probability that a raw score on the cutoff gets: the default of SIMILARITY_THRESHOLD."""
_UNRELATED_PROBABILITY = 0.05
_TYPICAL_PROBABILITY = 0.9


@dataclass(frozen=True, slots=True)
class Calibration:
    """Three points on the raw scale, rising: the typical best score of a question on something else entirely
    (probability 0.05), the cutoff (0.6) and the typical best score of a question that the base answers (0.9).

    Between and beyond them the log-odds are linear, so that the probability rises strictly with the score.
    """

    scorer: str
    unrelated: float
    cutoff: float
    typical: float

    def __post_init__(self) -> None:
        if not self.unrelated < self.cutoff < self.typical:
            raise InvalidConfiguration(f"calibration points must rise: {self}")

    def probability(self, score: float) -> float:
        """In (0, 1)."""
        below = (_log_odds(CUTOFF_PROBABILITY) - _log_odds(_UNRELATED_PROBABILITY)) / (self.cutoff - self.unrelated)
        above = (_log_odds(_TYPICAL_PROBABILITY) - _log_odds(CUTOFF_PROBABILITY)) / (self.typical - self.cutoff)
        slope = below if score < self.cutoff else above
        exponent = _log_odds(CUTOFF_PROBABILITY) + slope * (score - self.cutoff)
        return float(1 / (1 + np.exp(-np.clip(exponent, -50, 50))))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, parameters: dict[str, Any]) -> Self:
        return cls(**parameters)


def _log_odds(probability: float) -> float:
    return math.log(probability / (1 - probability))
