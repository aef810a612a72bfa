"""What the two arms of an experiment came to, and what may be concluded. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from enum import StrEnum
from typing import Any

from app.tuner.repository_experiments import ArmCounts
from app.tuner.statistics import ALPHA, holm, proportions
from app.tuner.types import CONTROL, TREATMENT

METRICS: Mapping[str, bool] = {
    "answered": True,
    "refused": False,
    "handoff": False,
    "liked": True,
    "disliked": False,
}
"""What is compared, and whether more of it is better. Refusing more may well be right; that a person has to tell."""


class Conclusion(StrEnum):
    """What may be said by now."""

    TOO_FEW = "too_few"
    NO_DIFFERENCE = "no_difference"
    BETTER = "better"
    WORSE = "worse"
    MIXED = "mixed"


def compared(arms: Mapping[str, ArmCounts], needed: int) -> dict[str, Any]:
    """Every metric with both shares, the difference with its interval, and p before and after the correction for their
    number. Nothing is concluded before both arms have as many units as were asked for beforehand: who looks every day
    and stops when it suits finds a difference where there is none.
    """
    control, treatment = arms.get(CONTROL, ArmCounts()), arms.get(TREATMENT, ArmCounts())
    differences = {
        name: proportions(getattr(control, name), control.units, getattr(treatment, name), treatment.units)
        for name in METRICS
    }
    corrected = holm([difference.p for difference in differences.values()])
    enough = min(control.units, treatment.units) >= needed
    metrics, good = [], []
    for (name, difference), p in zip(differences.items(), corrected, strict=True):
        significant = enough and p < ALPHA
        if significant:
            good.append((difference.value > 0) is METRICS[name])
        told = {"control": _rate(control, name), "treatment": _rate(treatment, name), "more_is_better": METRICS[name]}
        told |= {"difference": difference.value, "low": difference.low, "high": difference.high}
        metrics.append({"name": name, **told, "p": difference.p, "p_corrected": p, "significant": significant})
    return {
        "arms": {CONTROL: asdict(control), TREATMENT: asdict(treatment)},
        "needed": needed,
        "metrics": metrics,
        "conclusion": _conclusion(good, enough=enough).value,
    }


def _conclusion(good: list[bool], *, enough: bool) -> Conclusion:
    if not enough:
        return Conclusion.TOO_FEW
    if not good:
        return Conclusion.NO_DIFFERENCE
    if all(good):
        return Conclusion.BETTER
    return Conclusion.MIXED if any(good) else Conclusion.WORSE


def _rate(arm: ArmCounts, name: str) -> float:
    return getattr(arm, name) / arm.units if arm.units else 0.0
