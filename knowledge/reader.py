"""A reader judges whether a passage states the answer: one more scorer kind, which acts on the same gate. Pure.

Ranking tells what is near the question; near is not enough. The judgement is "sufficient context" (arXiv 2411.06037).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from knowledge.calibration.fit import measure_auroc
from knowledge.gate import EvidenceGate
from knowledge.probability import AT_CUTOFF, AT_TYPICAL, AT_UNRELATED, CalibrationMap
from knowledge.types import Candidate, GateVerdict, Retrieval

# The scorer's kind, in calibrations and candidates, and what `degraded` names while it is late or out of reach.
READER = "reader"
_BEST_FIRST = tuple(GateVerdict)
# Raised where `fit_reader` fits otherwise, so that what was fitted before is measured again.
FIT_VERSION = 2
# What a reader is worth on passages of others, as a share of what it is worth on the shipped examples.
TRUST = 0.75
# Thirty examples prove no more.
BEST_AUROC = 0.99


def apply_judgements(
    retrieval: Retrieval, judgements: Sequence[float | None], calibration: CalibrationMap, gate: EvidenceGate
) -> Retrieval:
    """Combines the judgements of a reader with the result of a search.

    A candidate that was not judged stays behind the judged ones and gets no probability above theirs. Without a
    judgement of the first candidate the result is returned unchanged, with READER marked as out of order.

    Args:
        retrieval: The result of the search.
        judgements: The reader's raw log-odds for the first candidates, in their order; None for one not judged.
        calibration: The reader's calibration.
        gate: Judges the combined probabilities.

    Returns:
        The result with candidates in order of the gate's verdict, those of one verdict as the search had them.
    """
    if not judgements or judgements[0] is None:
        return replace(retrieval, degraded=tuple(dict.fromkeys((*retrieval.degraded, READER))))
    everything = (*retrieval.candidates, *retrieval.beyond)
    judged = [
        replace(
            candidate,
            scorer=READER,
            score=odds,
            searched=candidate.probability,
            probability=_combine_odds(candidate.probability, odds, calibration),
        )
        for candidate, odds in zip(everything, judgements, strict=False)
        if odds is not None
    ]
    lowest, ids = min(each.probability for each in judged), {each.chunk.id for each in judged}
    rest = [
        replace(each, searched=each.probability, probability=min(each.probability, lowest))
        for each in everything
        if each.chunk.id not in ids
    ]
    verdicts = gate.judge_all([each.probability for each in (*judged, *rest)])
    found = [replace(each, verdict=verdict) for each, verdict in zip((*judged, *rest), verdicts, strict=True)]
    # The reader says which passages state an answer, not which of them is nearest: of 36 questions to a help centre and
    # a shop the search had the right passage first for 29, ordered by both probabilities 24, by the reader alone 22.
    candidates = tuple(sorted(found, key=lambda each: _BEST_FIRST.index(each.verdict)))
    shown = len(retrieval.candidates)
    return replace(
        retrieval,
        candidates=candidates[:shown],
        beyond=candidates[shown:],
        verdict=gate.choose_verdict([each.verdict for each in candidates[: retrieval.top or shown]]),
    )


def measure_nearness(candidate: Candidate) -> float:
    """Returns how near a candidate is to the question, in [0, 1], whether or not it states the answer."""
    return candidate.probability if candidate.searched is None else candidate.searched


def fit_reader(answered: NDArray[np.float64], related: NDArray[np.float64], scorer: str = READER) -> CalibrationMap:
    """Fits the calibration of a reader on labelled examples.

    Its judgement counts as much as it tells the two kinds apart: with equal normal spreads, the log of the likelihood
    ratio grows by d'^2 over the distance of their middles, d' being what their AUROC says (Green and Swets, 1966), so
    that it is half of d'^2 at either middle, which is the most that one judgement counts.

    Args:
        answered: Its log-odds for passages that state the answer, shape (examples,).
        related: Its log-odds for passages that are only near, shape (examples,).
        scorer: Name of the scorer.
    """
    high, low = float(np.median(answered)), float(np.median(related))
    separation = math.sqrt(2) * NormalDist().inv_cdf(min(measure_auroc(answered, related), BEST_AUROC))
    weight = TRUST * separation**2
    slope = weight / (high - low)
    # The cutoff of the best accuracy jumps: it goes from .8 to 1.6 where a batch of a local model moves its log-odds by
    # .05, and answers became refusals by that.
    cutoff = (high + low) / 2
    return CalibrationMap(
        scorer,
        cutoff + (AT_UNRELATED - AT_CUTOFF) / slope,
        cutoff,
        cutoff + (AT_TYPICAL - AT_CUTOFF) / slope,
        most=weight / 2,
    )


def _combine_odds(probability: float, odds: float, calibration: CalibrationMap) -> float:
    """Combines the probability of the search with the raw log-odds of the reader, by Bayes' rule; the result is
    strictly between 0 and 1.

    A judgement beyond the middle of its kind counts for no more than one there: a weak reader is at its surest where it
    misreads. On 52 turns of a help centre the 1.5B refused answers that the search was sure of, and .60 were right with
    it as without; bounded so, .64 to .65.
    """
    judged = _compute_log_odds(calibration.compute_probability(odds)) - AT_CUTOFF
    bounded = min(max(judged, -calibration.most), calibration.most)
    return 1 / (1 + math.exp(-(_compute_log_odds(probability) + bounded)))


def _compute_log_odds(probability: float) -> float:
    bounded = min(max(probability, 1e-6), 1 - 1e-6)
    return math.log(bounded / (1 - bounded))
