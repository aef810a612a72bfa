"""The gate: one threshold on the calibrated probability, after all scoring, once. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.errors import InvalidConfiguration
from knowledge.types import GateVerdict


@dataclass(frozen=True, slots=True)
class EvidenceGate:
    """Decides by calibrated probability which candidates may be answered from.

    threshold: candidates below it are not answered from; 0 is valid and lets everything pass. clarify: from here up to
    the threshold the assistant asks back instead of refusing. min_surviving: with fewer passing candidates none passes
    (2 = strict).
    """

    threshold: float = 0.6
    clarify: float = 0.4
    min_surviving: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1 or not 0 <= self.clarify <= 1:
            raise InvalidConfiguration("SIMILARITY_THRESHOLD 与 CLARIFY_THRESHOLD 须在 0 到 1 之间")
        if self.min_surviving < 1:
            raise InvalidConfiguration("MIN_SURVIVING_CHUNKS 至少为 1")

    def judge_all(self, probabilities: Sequence[float]) -> list[GateVerdict]:
        """Returns the verdict on each candidate, in the order of the probabilities."""
        passing = sum(probability >= self.threshold for probability in probabilities)
        return [self._judge_candidate(probability, passing) for probability in probabilities]

    def choose_verdict(self, verdicts: Sequence[GateVerdict]) -> GateVerdict:
        """Returns the verdict on a result: the best one of its candidates, REFUSE if there are none."""
        return next((verdict for verdict in GateVerdict if verdict in verdicts), GateVerdict.REFUSE)

    def _judge_candidate(self, probability: float, passing: int) -> GateVerdict:
        if probability >= self.threshold and passing >= self.min_surviving:
            return GateVerdict.PASS
        return GateVerdict.CLARIFY if probability >= min(self.clarify, self.threshold) else GateVerdict.REFUSE
