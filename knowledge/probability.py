"""Maps raw scores of one scorer on one knowledge base to probabilities."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Self

from knowledge.errors import InvalidConfiguration

# The probability that a raw score on the cutoff gets: the default of SIMILARITY_THRESHOLD.
CUTOFF_PROBABILITY = 0.6
# What a search names as out of order while its gate goes by a few questions only.
PROVISIONAL = "calibration"
_UNRELATED_PROBABILITY = 0.05
_TYPICAL_PROBABILITY = 0.9
# The log-odds of a calibration's three points.
AT_UNRELATED, AT_CUTOFF, AT_TYPICAL = (
    math.log(probability / (1 - probability))
    for probability in (_UNRELATED_PROBABILITY, CUTOFF_PROBABILITY, _TYPICAL_PROBABILITY)
)


@dataclass(frozen=True, slots=True)
class CalibrationMap:
    """Maps raw scores to probabilities by three points, rising.

    They are the typical best score of an off-topic question (probability 0.05), the cutoff (0.6) and the typical best
    score of a question that the base answers (0.9). Between and beyond them the log-odds are linear, so that the
    probability rises strictly with the score. english: by how much off-topic English questions score lower than Chinese
    ones. provisional: fitted with few questions, so that a new base answers at once. most: by how much log-odds a score
    may move the probability of another witness, for a scorer that is a second one.
    """

    scorer: str
    unrelated: float
    cutoff: float
    typical: float
    english: float = 0.0
    provisional: bool = False
    most: float = 0.0

    def __post_init__(self) -> None:
        if not self.unrelated < self.cutoff < self.typical:
            raise InvalidConfiguration(f"calibration points must rise: {self}")

    def compute_probability(self, score: float) -> float:
        """Returns the probability of a raw score, strictly between 0 and 1."""
        if score < self.cutoff:
            slope = (AT_CUTOFF - AT_UNRELATED) / (self.cutoff - self.unrelated)
        else:
            slope = (AT_TYPICAL - AT_CUTOFF) / (self.typical - self.cutoff)
        return 1 / (1 + math.exp(-min(max(AT_CUTOFF + slope * (score - self.cutoff), -50.0), 50.0)))

    def to_json(self) -> dict[str, Any]:
        """Returns the fields as a dictionary that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_json(cls, parameters: dict[str, Any]) -> Self:
        """Creates the calibration from what `to_json` returned."""
        return cls(**parameters)
