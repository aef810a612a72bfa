"""Bodies of background jobs."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, Field

from app.db.base import now
from app.http.schemas import Page, RequestBody, ResponseBody
from app.jobs.schedule import LastTick, PeriodicJob
from app.jobs.types import Daily, Every, JobKind, JobRun, RunState, Schedule

MAX_PARAMETERS = 50


class RunIn(RequestBody):
    """What a run is to be about."""

    parameters: dict[str, Any] = Field(
        {}, max_length=MAX_PARAMETERS, description="参数，见该任务的 parameters；没有时为空"
    )


class JobError(BaseModel):
    """Why a run failed."""

    code: str
    message: str = Field(description="中文说明")


class JobRunOut(ResponseBody):
    """A run of a job."""

    id: str
    kind: str = Field(description="任务名")
    parameters: dict[str, Any]
    state: RunState = Field(description="queued：排队；running：进行中；done：完成；failed：失败；cancelled：已取消")
    done: int = Field(description="已完成的份数，单位由任务决定")
    total: int = Field(description="总份数；还不知道时为 0")
    result: dict[str, Any] | None = Field(description="完成后的摘要，内容由任务决定")
    error: JobError | None = Field(description="失败的原因")
    scheduled: datetime | None = Field(description="定时运行的应到时间；手动触发的为空")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    duration: float | None = Field(description="用时，秒；还没开始时为空")

    @classmethod
    def from_run(cls, run: JobRun) -> Self:
        duration = run.compute_duration(now())
        return cls.build_from(run, error=run.error or None, duration=None if duration is None else round(duration, 3))


class ScheduleOut(BaseModel):
    """When a job runs by itself."""

    type: Literal["daily", "every"] = Field(description="daily：每天；every：每隔一段时间")
    hour: int | None = Field(description="每天几点，按租户设定的时区；每隔一段时间的为空")
    seconds: float | None = Field(description="间隔，秒；每天的为空")

    @classmethod
    def from_schedule(cls, schedule: Schedule) -> Self:
        if isinstance(schedule, Daily):
            return cls(type="daily", hour=schedule.hour, seconds=None)
        assert isinstance(schedule, Every)
        return cls(type="every", hour=None, seconds=schedule.period.total_seconds())


class JobKindOut(BaseModel):
    """A job that can be triggered."""

    name: str = Field(description="任务名")
    title: str = Field(description="中文名")
    schedule: ScheduleOut | None = Field(description="何时自动运行；只能手动触发的为空")
    parameters: dict[str, Any] | None = Field(description="参数的 JSON Schema；没有参数时为空")
    last: JobRunOut | None = Field(description="最近一次运行；从没运行过时为空")

    @classmethod
    def from_kind(cls, kind: JobKind, last: JobRun | None) -> Self:
        return cls(
            name=kind.name,
            title=kind.title,
            schedule=ScheduleOut.from_schedule(kind.schedule) if kind.schedule else None,
            parameters=kind.parameters.model_json_schema() if kind.parameters else None,
            last=JobRunOut.from_run(last) if last else None,
        )


class HousekeepingOut(BaseModel):
    """What the server does for all tenants by itself. The last run is that of the process that answers."""

    name: str = Field(description="任务名")
    title: str = Field(description="中文名")
    schedule: ScheduleOut
    started_at: datetime | None = Field(description="最近一次开始的时间；本进程还没运行过时为空")
    duration: float | None = Field(description="最近一次的用时，秒")
    error: JobError | None = Field(description="最近一次失败的原因")

    @classmethod
    def from_job(cls, job: PeriodicJob, last: LastTick | None) -> Self:
        failure = last.error if last else None
        return cls(
            name=job.name,
            title=job.title,
            schedule=ScheduleOut.from_schedule(Every(job.every)),
            started_at=last.started_at if last else None,
            duration=round(last.duration, 3) if last else None,
            error=JobError(code=failure.code, message=failure.message) if failure else None,
        )


class JobKindList(BaseModel):
    """All there are."""

    kinds: list[JobKindOut] = Field(description="可以触发的任务")
    housekeeping: list[HousekeepingOut] = Field(description="服务自己的日常维护，不能触发；记在各进程的内存里")


class JobRunPage(Page[JobRunOut]):
    """One page of runs, the latest first."""
