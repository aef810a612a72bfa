"""The background jobs of tuning."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from app.jobs.types import JobKind
from app.tuner.effects import CALIBRATION, SWEEP
from app.tuner.reports import JUDGEMENT, TITLES, Reports

# By kind of report, the job that makes it.
NAMES = {CALIBRATION: "tuner_calibration", SWEEP: "tuner_sweep", JUDGEMENT: "tuner_judgement"}


class ReportOptions(BaseModel):
    """Which report; it is begun by `POST /api/v1/tuner/calibrations`, `/sweeps` and `/judgements`."""

    model_config = ConfigDict(extra="forbid")

    report: str = Field(max_length=32, description="报告的编号")


def build_tuner_kinds(reports: Reports) -> tuple[JobKind, ...]:
    """Builds the kinds of jobs that make reports, on demand."""
    return tuple(
        JobKind(name, TITLES[kind], reports.make_report, parameters=ReportOptions) for kind, name in NAMES.items()
    )
