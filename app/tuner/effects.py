"""What the last measurements of this base gave for a parameter a step up and a step down. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.settings import Settings
from app.tuner.grid import standing
from app.tuner.repository_reports import TuningReport
from app.tuner.types import NAMES

CALIBRATION, SWEEP = "calibration", "sweep"
THRESHOLD = "similarity_threshold"
STEP = 0.05
"""Of the threshold: a calibration knows its curve at every hundredth."""
NEARLY = 1e-6
Point = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MeasuredPoint:
    """What came of labelled questions at a value of the parameter. Shares; None where no question tells. answered: of
    the answerable ones; refused: of the others; right: of both, where that was counted.
    """

    value: float
    answered: float | None
    refused: float | None
    right: float | None = None
    hit1: float | None = None


@dataclass(frozen=True, slots=True)
class ParameterEffect:
    """outdated: the knowledge base or a parameter changed after the measurement; down, up: None where no neighbour was
    tried.
    """

    report_id: str
    measured_at: datetime
    questions: int
    outdated: bool
    now: MeasuredPoint
    down: MeasuredPoint | None
    up: MeasuredPoint | None


def measured_by(name: str) -> str:
    """The kind of report that varies a parameter; empty for one that none does."""
    if name == THRESHOLD:
        return CALIBRATION
    return SWEEP if name in _COORDINATE else ""


def effects(
    reports: Mapping[str, TuningReport], settings: Settings, revision: int, version: int
) -> dict[str, ParameterEffect]:
    """By parameter. reports: by kind, the last one that is made; settings, version: of the parameters in force."""
    found: dict[str, ParameterEffect] = {}
    for name in NAMES:
        report = reports.get(measured_by(name))
        if report is None or report.result is None or report.finished_at is None:
            continue
        result = report.result
        points = _on_curve(result, settings) if name == THRESHOLD else _in_grid(name, result, settings)
        if points is None:
            continue
        outdated = (result["revision"], result["params_version"]) != (revision, version)
        questions = result.get("questions") or result["answerable"] + result["unanswerable"]
        found[name] = ParameterEffect(report.id, report.finished_at, questions, outdated, *points)
    return found


Neighbours = tuple[MeasuredPoint, MeasuredPoint | None, MeasuredPoint | None]


def _on_curve(result: Mapping[str, Any], settings: Settings) -> Neighbours | None:
    """The threshold in force among those of a calibration."""

    def at(threshold: float) -> MeasuredPoint | None:
        near = (point for point in result["curve"] if abs(point["threshold"] - threshold) < STEP / 10 + NEARLY)
        point = next(near, None)
        return MeasuredPoint(point["threshold"], point["answered"], point["refused"]) if point else None

    threshold = settings.similarity_threshold
    now = at(threshold)
    return None if now is None else (now, at(threshold - STEP), at(threshold + STEP))


_COORDINATE = {
    "rrf_vector_weight": "alpha",
    "rrf_keyword_weight": "alpha",
    "rrf_k": "k",
    "vector_top_k": "width",
    "bm25_top_k": "width",
}
"""Of a sweep's grid, by parameter."""


def _in_grid(name: str, result: Mapping[str, Any], settings: Settings) -> Neighbours | None:
    """The points on either side that differ in this alone; None where the sweep began from other parameters."""
    coordinate, here = _COORDINATE[name], standing(settings)
    if any(abs(result["current"][other] - here[other]) > NEARLY for other in here):
        return None
    line = [point for point in result["points"] if _differs_in(coordinate, point, here)]
    below = [point for point in line if point[coordinate] < here[coordinate] - NEARLY]
    above = [point for point in line if point[coordinate] > here[coordinate] + NEARLY]
    down, up = _last(coordinate, below, 1), _last(coordinate, above, -1)
    if name == "rrf_keyword_weight":
        down, up = up, down
    beside = [None if point is None else _built(name, coordinate, point) for point in (down, up)]
    return _built(name, coordinate, result["current"]), beside[0], beside[1]


def _differs_in(coordinate: str, point: Point, here: Point) -> bool:
    return all(abs(point[other] - here[other]) <= NEARLY for other in here if other != coordinate)


def _last(coordinate: str, points: Sequence[Point], sign: int) -> Point | None:
    return max(points, key=lambda point: sign * point[coordinate], default=None)


def _built(name: str, coordinate: str, point: Point) -> MeasuredPoint:
    value = 1 - point[coordinate] if name == "rrf_keyword_weight" else point[coordinate]
    return MeasuredPoint(round(value, 4), point["answered"], point["refused"], point["right"], point["hit1"])
