"""Recommends the threshold of the gate from labelled questions. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.settings import Settings
from app.tuner.ranges import RANGES
from knowledge.evaluation.cutoffs import Probabilities
from knowledge.evaluation.significance import compare_pair

STEP = 0.01
RESAMPLES = 300
_SEED = 20260301
Floats = NDArray[np.float64]
# The probabilities of the answerable questions, and those of the others.
Kinds = tuple[Floats, Floats]


def calibrate_threshold(scored: Probabilities, settings: Settings, refusal: float | None) -> dict[str, Any]:
    """Computes the curve over all thresholds in the range, and recommends one of them.

    Args:
        scored: The probabilities that decide whether questions pass the gate, 0 where nothing was found.
        settings: In force now.
        refusal: The least share of unanswerable questions that has to be refused; of the thresholds that reach it, the
            lowest answers most. None: the mean of both shares decides.

    Returns:
        The result of the report, as JSON.
    """
    kinds = np.asarray(scored.answerable), np.asarray(scored.open_ones)
    probabilities, answerable = np.concatenate(kinds), np.repeat((True, False), tuple(map(len, kinds)))
    thresholds = np.round(np.arange(RANGES["similarity_threshold"].low, RANGES["similarity_threshold"].high, STEP), 2)
    current = settings.similarity_threshold
    chosen = _choose_threshold(thresholds, current, kinds, refusal)
    recommended = _build_point(chosen, kinds)
    low, high = _estimate_interval(thresholds, current, kinds, refusal)
    right, now = (np.equal(probabilities >= threshold, answerable) for threshold in (chosen, current))
    # Both kinds weigh the same, as they do in the choice: of 210 and 35 questions the few would count for nothing.
    halves = np.where(answerable, 1 / answerable.mean(), 1 / (~answerable).mean()) / 2
    return {
        "answerable": len(kinds[0]),
        "unanswerable": len(kinds[1]),
        "curve": [_build_point(float(threshold), kinds) for threshold in thresholds],
        "current": _build_point(current, kinds),
        "recommended": recommended,
        "interval": {"low": low, "high": high},
        "refusal": refusal,
        "reached": refusal is None or recommended["refused"] >= refusal,
        "difference": compare_pair(now, right, halves).to_json(),
        "values": _build_values(chosen, settings) if chosen != current else {},
    }


def _choose_threshold(thresholds: Floats, current: float, kinds: Kinds, refusal: float | None) -> float:
    """Returns the current threshold where no other does better, since what makes no difference to these questions is no
    reason to change what customers get; otherwise the middle of the first run of thresholds that do best, so that not
    a single question decides.
    """
    *merits, now = _score_thresholds(np.append(thresholds, current), kinds, refusal)
    merit = np.array(merits)
    if now >= merit.max() - 1e-9:
        return current
    best = np.flatnonzero(merit >= merit.max() - 1e-9)
    end = 0
    while end + 1 < len(best) and best[end + 1] == best[end] + 1:
        end += 1
    return float(thresholds[best[end // 2]])


def _score_thresholds(thresholds: Floats, kinds: Kinds, refusal: float | None) -> Floats:
    right, wrong = kinds
    answered: Floats = (right >= thresholds[:, np.newaxis]).mean(axis=1)
    refused: Floats = (wrong < thresholds[:, np.newaxis]).mean(axis=1)
    return answered + refused if refusal is None else np.where(refused >= refusal, 1 + answered, refused)


def _estimate_interval(thresholds: Floats, current: float, kinds: Kinds, refusal: float | None) -> tuple[float, float]:
    """Returns the 95 % interval of the recommendation, by resampling either kind of question by itself."""
    generator = np.random.default_rng(_SEED)
    found = []
    for _ in range(RESAMPLES):
        right, wrong = (kind[generator.choice(len(kind), len(kind))] for kind in kinds)
        found.append(_choose_threshold(thresholds, current, (right, wrong), refusal))
    low, high = np.percentile(found, (2.5, 97.5))
    return round(float(low), 2), round(float(high), 2)


def _build_point(threshold: float, kinds: Kinds) -> dict[str, float]:
    right, wrong = kinds
    answered, refused = float((right >= threshold).mean()), float((wrong < threshold).mean())
    return {"threshold": threshold, "answered": round(answered, 4), "refused": round(refused, 4)}


def _build_values(threshold: float, settings: Settings) -> dict[str, float]:
    """Returns the parameters to set: the other two thresholds move too where they would be out of order."""
    values = {"similarity_threshold": threshold}
    if settings.confident_threshold < threshold:
        values["confident_threshold"] = threshold
    if settings.clarify_threshold > threshold:
        values["clarify_threshold"] = threshold
    return values
