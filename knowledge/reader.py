"""A reader judges whether a passage states the answer: one more scorer kind, which acts on the same gate. Pure.

Ranking tells what is near the question; near is not enough. The judgement is "sufficient context" (arXiv 2411.06037).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from knowledge.gate import EvidenceGate
from knowledge.probability import CalibrationMap
from knowledge.types import Candidate, Retrieval

READER = "reader"
"""The scorer's kind, in calibrations and candidates, and what `degraded` names while it is late or out of reach."""
PRIOR_WEIGHT, READER_WEIGHT, BIAS = 0.4, 0.8, 0.1
"""Of the log-odds of the search's own probability and of the reader's."""


def apply_judgements(
    retrieval: Retrieval, judgements: Sequence[float | None], calibration: CalibrationMap, gate: EvidenceGate
) -> Retrieval:
    """The result of a search as a reader sees it: candidates by what both say, and the gate's verdict on that.

    judgements: the reader's raw log-odds for the first candidates, in their order, None for one that was not judged.
    A candidate that was not judged stays behind the judged ones and gets no probability above theirs. Without any
    judgement of the first candidate the result is returned as it is, marked with READER as out of order.
    """
    if not judgements or judgements[0] is None:
        return replace(retrieval, degraded=tuple(dict.fromkeys((*retrieval.degraded, READER))))
    everything = (*retrieval.candidates, *retrieval.beyond)
    judged = [
        (candidate, odds, _combine(candidate.probability, calibration.probability(odds)))
        for candidate, odds in zip(everything, judgements, strict=False)
        if odds is not None
    ]
    judged.sort(key=lambda item: -item[2])
    ids = {candidate.chunk.id for candidate, _, _ in judged}
    rest = [candidate for candidate in everything if candidate.chunk.id not in ids]
    lowest = judged[-1][2]
    probabilities = [*(item[2] for item in judged), *(min(each.probability, lowest) for each in rest)]
    verdicts = gate.verdicts(probabilities)
    ordered: list[Candidate] = [
        *(replace(candidate, scorer=READER, score=odds) for candidate, odds, _ in judged),
        *rest,
    ]
    candidates = tuple(
        replace(candidate, probability=probability, verdict=verdict)
        for candidate, probability, verdict in zip(ordered, probabilities, verdicts, strict=True)
    )
    shown = len(retrieval.candidates)
    return replace(
        retrieval,
        candidates=candidates[:shown],
        beyond=candidates[shown:],
        verdict=gate.overall(verdicts[: retrieval.top or shown]),
    )


def _combine(prior: float, judged: float) -> float:
    """The probability from the search's own and the reader's, each in (0, 1)."""
    odds = PRIOR_WEIGHT * _log_odds(prior) + READER_WEIGHT * _log_odds(judged) + BIAS
    return 1 / (1 + math.exp(-odds))


def _log_odds(probability: float) -> float:
    bounded = min(max(probability, 0.01), 0.99)
    return math.log(bounded / (1 - bounded))
