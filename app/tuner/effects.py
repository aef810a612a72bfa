"""What the last measurements of this base say about each parameter one step up and one step down. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from app.settings import Settings
from app.tuner.grid import locate_settings
from app.tuner.ranges import RANGES
from app.tuner.report_schemas import MeasuredPointOut, ParameterEffectOut
from app.tuner.types import TuningReport

CALIBRATION: Final = "calibration"
SWEEP: Final = "sweep"
THRESHOLD = "similarity_threshold"
# Of the threshold: a calibration knows its curve at every hundredth.
STEP = 0.05
NEARLY = 1e-6
Point = Mapping[str, Any]


def find_report_kind(name: str) -> Literal["calibration", "sweep", ""]:
    """Returns the kind of report that varies a parameter; empty where none does."""
    if name == THRESHOLD:
        return CALIBRATION
    return SWEEP if name in _COORDINATE else ""


def find_effects(
    reports: Mapping[str, TuningReport], settings: Settings, revision: int, version: int
) -> dict[str, ParameterEffectOut]:
    """Finds the measured effect of each parameter.

    Args:
        reports: By kind, the last finished one.
        settings: With the parameters in force.
        revision: Of the knowledge base now.
        version: Of the parameters in force.

    Returns:
        By parameter; without those that were not measured.
    """
    found: dict[str, ParameterEffectOut] = {}
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
        now, down, up = points
        found[name] = ParameterEffectOut(
            report_id=report.id,
            measured_at=report.finished_at,
            questions=questions,
            outdated=outdated,
            now=now,
            down=down,
            up=up,
        )
    return found


Neighbours = tuple[MeasuredPointOut, MeasuredPointOut | None, MeasuredPointOut | None]


def _find_on_curve(result: Mapping[str, Any], settings: Settings) -> Neighbours | None:
    """Finds the threshold in force and its neighbours on the curve of a calibration; None where it is not on it."""

    def find_point(threshold: float) -> MeasuredPointOut | None:
        nearby = (point for point in result["curve"] if abs(point["threshold"] - threshold) < STEP / 10 + NEARLY)
        point = next(nearby, None)
        if point is None:
            return None
        uncounted = {"right": None, "hit1": None}
        return MeasuredPointOut.model_validate({**point, "value": point["threshold"]} | uncounted)

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


def _build_measured_point(name: str, coordinate: str, point: Point) -> MeasuredPointOut:
    value = 1 - point[coordinate] if name == "rrf_keyword_weight" else point[coordinate]
    return MeasuredPointOut.model_validate({**point, "value": round(value, 4)})
