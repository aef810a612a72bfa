"""The background jobs of tuning."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from app.jobs.types import JobKind
from app.tuner.reports import CALIBRATION, JUDGEMENT, SWEEP, Reports

NAMES = {CALIBRATION: "tuner_calibration", SWEEP: "tuner_sweep", JUDGEMENT: "tuner_judgement"}
"""By kind of report, the job that makes it."""


class ReportOptions(BaseModel):
    """Which report; it is begun by `POST /api/v1/tuner/calibrations`, `/sweeps` and `/judgements`."""

    model_config = ConfigDict(extra="forbid")

    report: str = Field(max_length=32, description="报告的编号")


def tuner_kinds(reports: Reports) -> tuple[JobKind, ...]:
    """On demand."""
    titles = {CALIBRATION: "门槛校准", SWEEP: "参数扫描", JUDGEMENT: "大模型出题校准"}
    return tuple(JobKind(name, titles[kind], reports.make, parameters=ReportOptions) for kind, name in NAMES.items())
