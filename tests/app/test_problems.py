from __future__ import annotations

import re
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from app.problems import FALLBACK, describe_problem
from app.settings import Settings, load_settings
from knowledge.errors import InvalidConfiguration


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")

    whole: int = Field(1, ge=1, le=50)
    share: float = Field(0.5, gt=0, lt=1, allow_inf_nan=False)
    text: str = Field("ab", min_length=2, max_length=3)
    number: str = Field("TK1", pattern="^TK")
    kind: Literal["a", "b", "c"] = "a"
    size: Size = Size.SMALL
    yes: bool = True
    many: list[int] = Field([1], min_length=1, max_length=2)
    until: AwareDatetime | None = None
    since: datetime | None = None
    inner: Annotated[dict[str, int], Field()] = {}


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("whole", 51, "不能大于 50"),
        ("whole", 0, "不能小于 1"),
        ("whole", "x", "应为整数"),
        ("whole", 1.5, "应为整数"),
        ("share", 0, "应大于 0"),
        ("share", 1, "应小于 1"),
        ("share", "nan", "应为有限的数字"),
        ("text", "a", "至少 2 个字"),
        ("text", "abcd", "最多 3 个字"),
        ("text", 3, "应为字符串"),
        ("number", "1", "格式不正确"),
        ("kind", "d", "只能是 a、b、c"),
        ("size", "huge", "只能是 small、large"),
        ("yes", "perhaps", "应为 true 或 false"),
        ("many", [], "至少 1 项"),
        ("many", [1, 2, 3], "最多 2 项"),
        ("many", 3, "应为数组"),
        ("until", "2026-12-31T00:00:00", "要带时区，例如 2026-12-31T00:00:00+08:00"),
        ("since", "soon", "应为时间，例如 2026-12-31T00:00:00+08:00"),
        ("inner", 3, "应为 JSON 对象"),
        ("other", 3, "没有这个字段"),
    ],
)
def test_a_problem_is_told_in_chinese_with_its_bound(name: str, value: Any, told: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Body.model_validate({name: value})
    assert [describe_problem(error) for error in caught.value.errors()] == [told]


@pytest.mark.parametrize("name", [name for name in Settings.model_fields if name != "offers_file"])
def test_a_setting_out_of_its_range_is_told_without_english(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the setting is: a number far outside, and what is no number."""
    for value in ("-1e9", "\x7f"):
        monkeypatch.setenv(name.upper(), value)
        try:
            load_settings()
        except InvalidConfiguration as error:
            told = str(error).replace(name.upper(), "")
            assert FALLBACK not in told
            assert not re.search(r"\b(?:should|input|valid|value)\b", told, re.IGNORECASE)
