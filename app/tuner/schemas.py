"""Requests and responses of the parameters."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import Field

from app.http.fields import CLEANED
from app.http.schemas import RequestBody, ResponseBody
from app.settings import Settings
from app.tuner.ranges import RANGES, Range, find_range, read_values
from app.tuner.types import MAX_NOTE_CHARS, Action, Params, TunedSettings


def _describe_range(allowed: Range) -> dict[str, Any]:
    kind = "integer" if allowed.whole else "number"
    return {"type": kind, "minimum": allowed.low, "maximum": allowed.high, "title": allowed.title}


# Parameters and their ranges in the schema of a body. `app.tuner.ranges` refuses the rest, with a code of its own.
NAMED: dict[str, Any] = {
    "properties": {name: _describe_range(allowed) for name, allowed in RANGES.items()},
    "additionalProperties": False,
}
Name = Annotated[str, Field(max_length=64, json_schema_extra={"enum": list(RANGES)})]
Value = Annotated[float, Field(allow_inf_nan=False)]
Note = Annotated[str, CLEANED, Field(max_length=MAX_NOTE_CHARS)]
Version = Annotated[int, Field(ge=0, le=2**31)]


class ParamsIn(RequestBody):
    """What is to change; the others stay as they are."""

    values: dict[str, Value] = Field(
        min_length=1, max_length=len(RANGES), description="参数名 -> 新的值", json_schema_extra=NAMED
    )
    note: Note = Field("", description="为什么改，留在历史里")
    version: Version | None = Field(None, description="改之前看到的版本；已被别人改过则返回 409；不填不检查")


class ResetIn(RequestBody):
    """What goes back to the settings of the installation."""

    names: list[Name] = Field(default=[], max_length=len(RANGES), description="要恢复默认的参数；不填为全部")
    note: Note = Field("", description="为什么改，留在历史里")


class RevertIn(RequestBody):
    """Why."""

    note: Note = Field("", description="为什么改，留在历史里")


class ParamOut(ResponseBody):
    """A parameter as it is in force."""

    name: str
    title: str
    value: float
    default: float = Field(description="安装时的设置，没有调过就用它")
    low: float = Field(description="允许的最小值")
    high: float = Field(description="允许的最大值")
    whole: bool = Field(description="只能是整数")
    tuned: bool = Field(description="与默认不同")


class ParamsOut(ResponseBody):
    """All of them. They hold from the next answer on."""

    version: int = Field(description="第几版；0 为没有调过")
    params: list[ParamOut]
    by: str = Field(description="谁改的：密钥的名字，没有名字时为空")
    note: str
    changed_at: datetime | None = None

    @classmethod
    def from_tuned_settings(cls, tuned: TunedSettings, settings: Settings) -> Self:
        """settings: the defaults."""
        values, default = read_values(tuned.settings), read_values(settings)
        found = []
        for name in RANGES:
            allowed = find_range(name, settings)
            now = {"value": values[name], "default": default[name], "tuned": values[name] != default[name]}
            found.append(ParamOut.build_from(allowed, name=name, **now))
        return cls.build_from(tuned.params, params=found, changed_at=tuned.params.created_at)


class ChangeOut(ResponseBody):
    """One parameter that a version changed."""

    name: str
    before: float
    after: float


class ParamsVersionOut(ResponseBody):
    """Who changed what, when and why."""

    version: int
    action: Action = Field(description="put 修改，reset 恢复默认，revert 恢复旧版，calibration 采用校准")
    by: str
    note: str
    created_at: datetime | None
    changes: list[ChangeOut]
    overrides: dict[str, float] = Field(description="这一版里与默认不同的参数")

    @classmethod
    def from_params(cls, params: Params) -> Self:
        changes = [ChangeOut(name=name, before=old, after=new) for name, (old, new) in params.changes.items()]
        return cls.build_from(params, changes=changes)


class ParamsHistory(ResponseBody):
    """The latest first."""

    items: list[ParamsVersionOut]
    total: int
