"""Fits the gate's cutoff from the scores of calibration questions. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from knowledge.probability import CalibrationMap

# Where the cutoff lies between unrelated and typical questions, at least.
POSITION = 0.46
# ...or this many spreads of the unrelated scores below typical ones, when that is higher: where text that has nothing
# to do with the base scores in a narrow band, a smaller shortfall already tells that the answer is missing.
SPREADS = 2.35
# A labelled set refines the cutoff from this many questions of either kind on.
MIN_LABELLED = 20


@dataclass(frozen=True, slots=True)
class Labelled:
    """Best scores of a tenant's own questions, with and without an answer in the base."""

    answerable: Sequence[float] = ()
    unanswerable: Sequence[float] = ()


def fit_calibration(
    scorer: str, unrelated: Sequence[float], typical: Sequence[float], labelled: Labelled | None = None
) -> CalibrationMap:
    """Fits the calibration of a scorer, without labels or with some.

    Without labels the cutoff is the higher of two marks (POSITION, SPREADS); it held on FAQ, case and encyclopaedic
    bases alike, where any fixed one refuses up to 60 % of another base's answerable questions.

    Args:
        scorer: Kind of the scorer.
        unrelated: Best scores of off-topic questions.
        typical: Best scores of questions that were made from the base itself.
        labelled: Best scores of the tenant's own labelled questions, if there are any.
    """
    low = float(np.median(unrelated))
    high = float(np.median(typical)) if typical else low  # a base of signs only has no question of its own
    high = max(high, low + 1e-3)  # a base of a few words: its own questions score no better than others
    spread = float(np.std(unrelated))
    cutoff = max(low + POSITION * (high - low), min(high - SPREADS * spread, low + 0.8 * (high - low)))
    if labelled and min(len(labelled.answerable), len(labelled.unanswerable)) >= MIN_LABELLED:
        cutoff = find_best_split(np.asarray(labelled.answerable), np.asarray(labelled.unanswerable))
        low, high = min(low, cutoff - 1e-3), max(high, cutoff + 1e-3)
    return CalibrationMap(scorer, low, cutoff, high)


def fit_english(calibration: CalibrationMap, unrelated: Sequence[float]) -> CalibrationMap:
    """With what English questions lack on a Chinese base. unrelated: best scores of English off-topic questions.

    Questions that the base answers cannot be made in a language that it is not written in: they are taken to be as far
    from unrelated ones as they are in Chinese. Of 60 other off-topic questions 59 are refused so, on a shop's base and
    on a property company's, and of 80 that these answer 7; without what is added 46.
    """
    return replace(calibration, english=calibration.unrelated - float(np.median(unrelated)))


def find_best_split(answerable: NDArray[np.float64], unanswerable: NDArray[np.float64]) -> float:
    """Returns the cutoff with the highest balanced accuracy, in the middle of the gap that it falls into."""
    scores = np.unique(np.concatenate([answerable, unanswerable]))
    cuts = (scores[1:] + scores[:-1]) / 2 if len(scores) > 1 else scores
    accuracy = [(answerable >= cut).mean() + (unanswerable < cut).mean() for cut in cuts]
    return float(cuts[int(np.argmax(accuracy))])


def measure_auroc(higher: NDArray[np.float64], lower: NDArray[np.float64]) -> float:
    """Returns the share of pairs in the right order (area under the ROC curve); ties count half."""
    return float((higher[:, None] > lower).mean() + (higher[:, None] == lower).mean() / 2)
