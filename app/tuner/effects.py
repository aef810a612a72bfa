"""What the last measurements of this base say about each parameter one step up and one step down. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.settings import Settings
from app.tuner.grid import locate_settings
from app.tuner.ranges import RANGES
from app.tuner.types import TuningReport

CALIBRATION, SWEEP = "calibration", "sweep"
THRESHOLD = "similarity_threshold"
# Of the threshold: a calibration knows its curve at every hundredth.
STEP = 0.05
NEARLY = 1e-6
Point = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MeasuredPoint:
    """The result of labelled questions at one value of a parameter. Shares; None where no question counts. answered: of
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


def find_report_kind(name: str) -> str:
    """Returns the kind of report that varies a parameter; empty where none does."""
    if name == THRESHOLD:
        return CALIBRATION
    return SWEEP if name in _COORDINATE else ""


def find_effects(
    reports: Mapping[str, TuningReport], settings: Settings, revision: int, version: int
) -> dict[str, ParameterEffect]:
    """Finds the measured effect of each parameter.

    Args:
        reports: By kind, the last finished one.
        settings: With the parameters in force.
        revision: Of the knowledge base now.
        version: Of the parameters in force.

    Returns:
        By parameter; without those that were not measured.
    """
    found: dict[str, ParameterEffect] = {}
    for name in RANGES:
        report = reports.get(find_report_kind(name))
        if report is None or report.result is None or report.finished_at is None:
            continue
        result = report.result
        points = _find_on_curve(result, settings) if name == THRESHOLD else _find_in_grid(name, result, settings)
        if points is None:
            continue
        outdated = (result["revision"], result["params_version"]) != (revision, version)
        questions = result.get("questions") or result["answerable"] + result["unanswerable"]
        found[name] = ParameterEffect(report.id, report.finished_at, questions, outdated, *points)
    return found


Neighbours = tuple[MeasuredPoint, MeasuredPoint | None, MeasuredPoint | None]


def _find_on_curve(result: Mapping[str, Any], settings: Settings) -> Neighbours | None:
    """Finds the threshold in force and its neighbours on the curve of a calibration; None where it is not on it."""

    def find_point(threshold: float) -> MeasuredPoint | None:
        near = (point for point in result["curve"] if abs(point["threshold"] - threshold) < STEP / 10 + NEARLY)
        point = next(near, None)
        return MeasuredPoint(point["threshold"], point["answered"], point["refused"]) if point else None

    threshold = settings.similarity_threshold
    now = find_point(threshold)
    return None if now is None else (now, find_point(threshold - STEP), find_point(threshold + STEP))


# Of a sweep's grid, by parameter.
_COORDINATE = {
    "rrf_vector_weight": "alpha",
    "rrf_keyword_weight": "alpha",
    "rrf_k": "k",
    "vector_top_k": "width",
    "bm25_top_k": "width",
}


def _find_in_grid(name: str, result: Mapping[str, Any], settings: Settings) -> Neighbours | None:
    """Finds the points on either side that differ in this parameter alone; None where the sweep began from others."""
    coordinate, here = _COORDINATE[name], locate_settings(settings)
    if any(abs(result["current"][other] - here[other]) > NEARLY for other in here):
        return None
    line = [point for point in result["points"] if _is_on_line(coordinate, point, here)]
    below = [point for point in line if point[coordinate] < here[coordinate] - NEARLY]
    above = [point for point in line if point[coordinate] > here[coordinate] + NEARLY]
    down, up = _find_nearest(coordinate, below, 1), _find_nearest(coordinate, above, -1)
    if name == "rrf_keyword_weight":
        down, up = up, down
    beside = [None if point is None else _build_measured_point(name, coordinate, point) for point in (down, up)]
    return _build_measured_point(name, coordinate, result["current"]), beside[0], beside[1]


def _is_on_line(coordinate: str, point: Point, here: Point) -> bool:
    return all(abs(point[other] - here[other]) <= NEARLY for other in here if other != coordinate)


def _find_nearest(coordinate: str, points: Sequence[Point], sign: int) -> Point | None:
    return max(points, key=lambda point: sign * point[coordinate], default=None)


def _build_measured_point(name: str, coordinate: str, point: Point) -> MeasuredPoint:
    value = 1 - point[coordinate] if name == "rrf_keyword_weight" else point[coordinate]
    return MeasuredPoint(round(value, 4), point["answered"], point["refused"], point["right"], point["hit1"])
