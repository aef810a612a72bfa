"""Requests and responses of experiments."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt

from app.http.fields import CLEANED, WHOLE
from app.tuner.comparing import Conclusion
from app.tuner.repository_experiments import Experiment
from app.tuner.schemas import NAMED, Note, Value
from app.tuner.types import NAMES

Title = Annotated[str, CLEANED, Field(min_length=1, max_length=100)]


class ExperimentIn(BaseModel):
    """Half of the customers, or as many as you like, meet other parameters."""

    model_config = ConfigDict(extra="forbid")

    name: Title = Field(description="给实验起个名字")
    values: dict[str, Value] = Field(
        min_length=1, max_length=len(NAMES), description="新参数组与现在不同的参数", json_schema_extra=NAMED
    )
    share: Annotated[StrictInt, Field(ge=1, le=99), WHOLE] = Field(50, description="百分之几进新参数组")
    unit: Literal["customer", "conversation"] = Field(
        "customer", description="按顾客还是按会话分组：同一个总在同一组；没有 user_id 的顾客按会话"
    )
    needed: Annotated[StrictInt, Field(ge=20, le=100_000), WHOLE] = Field(
        200, description="每组至少多少位顾客（会话）之后才下结论"
    )


class EndIn(BaseModel):
    """What becomes of the treatment."""

    model_config = ConfigDict(extra="forbid")

    adopt: StrictBool = Field(False, description="true：所有人改用新参数；false：回到原来的")
    note: Note = Field("", description="为什么，留在历史里")


class ArmOut(BaseModel):
    """One arm: units, and those of which a turn came to each."""

    units: int = Field(description="多少位顾客（会话）")
    turns: int
    answered: int
    refused: int
    handoff: int
    liked: int
    disliked: int


class MetricOut(BaseModel):
    """One metric: shares of units."""

    name: Literal["answered", "refused", "handoff", "liked", "disliked"]
    control: float
    treatment: float
    more_is_better: bool
    difference: float = Field(description="新参数组减原参数组")
    low: float = Field(description="差的 95% 区间下限")
    high: float = Field(description="差的 95% 区间上限")
    p: float = Field(description="Fisher 精确检验的 p 值")
    p_corrected: float = Field(description="按指标个数校正后的 p 值（Holm）")
    significant: bool = Field(description="样本够了，且校正后 p 小于 0.05")


class ComparisonOut(BaseModel):
    """Both arms side by side."""

    arms: dict[str, ArmOut]
    needed: int
    metrics: list[MetricOut]
    conclusion: Conclusion = Field(
        description="too_few 样本还不够，no_difference 没有显著差别，better 更好，worse 更差，mixed 有好有坏"
    )


class ExperimentOut(BaseModel):
    """An experiment with what it came to by now, or by its end."""

    id: str
    name: str
    running: bool
    unit: str
    share: int
    needed: int
    values: dict[str, float]
    result: ComparisonOut
    by: str
    ended_by: str
    adopted: int | None = Field(description="采用后成为第几版参数；没有采用为 null")
    created_at: datetime
    ended_at: datetime | None

    @classmethod
    def of(cls, experiment: Experiment, result: dict[str, Any]) -> Self:
        same = ("id", "name", "unit", "share", "needed", "by", "ended_by", "adopted", "created_at", "ended_at")
        own = {name: getattr(experiment, name) for name in same}
        return cls(
            **own,
            running=experiment.open is not None,
            values=experiment.overrides,
            result=ComparisonOut.model_validate(result),
        )


class ExperimentPage(BaseModel):
    """The latest first."""

    items: list[ExperimentOut]
    total: int
