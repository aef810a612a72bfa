"""What is wrong with a value, told to people in Chinese: in requests, and in the configuration."""

from __future__ import annotations

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

FALLBACK = "取值不正确"
_PROBLEMS = {
    "missing": "缺少该字段",
    "json_invalid": "不是合法的 JSON",
    "json_type": "不是合法的 JSON",
    "extra_forbidden": "没有这个字段",
    "string_type": "应为字符串",
    "string_too_long": "最多 {max_length} 个字",
    "string_too_short": "至少 {min_length} 个字",
    "string_pattern_mismatch": "格式不正确",
    "int_parsing": "应为整数",
    "int_type": "应为整数",
    "int_from_float": "应为整数",
    "int_parsing_size": "数字太大",
    "float_parsing": "应为数字",
    "float_type": "应为数字",
    "finite_number": "应为有限的数字",
    "bool_type": "应为 true 或 false",
    "bool_parsing": "应为 true 或 false",
    "list_type": "应为数组",
    "tuple_type": "应为数组",
    "dict_type": "应为 JSON 对象",
    "model_type": "应为 JSON 对象",
    "model_attributes_type": "应为 JSON 对象",
    "path_type": "应为路径",
    "too_long": "最多 {max_length} 项",
    "too_short": "至少 {min_length} 项",
    "less_than_equal": "不能大于 {le}",
    "less_than": "应小于 {lt}",
    "greater_than_equal": "不能小于 {ge}",
    "greater_than": "应大于 {gt}",
    "literal_error": "只能是 {expected}",
    "enum": "只能是 {expected}",
    "datetime_type": "应为时间，例如 2026-12-31T00:00:00+08:00",
    "datetime_parsing": "应为时间，例如 2026-12-31T00:00:00+08:00",
    "datetime_from_date_parsing": "应为时间，例如 2026-12-31T00:00:00+08:00",
    "timezone_aware": "要带时区，例如 2026-12-31T00:00:00+08:00",
    "date_from_datetime_parsing": "应为日期，例如 2026-12-31",
    "date_parsing": "应为日期，例如 2026-12-31",
}
_OWN = "Value error, "


def describe_problem(error: ErrorDetails) -> str:
    """What is wrong, without the field's name and without the value, which may be a secret."""
    if error["type"] == "value_error":
        return error["msg"].removeprefix(_OWN)
    context = {name: _format_bound(value) for name, value in error.get("ctx", {}).items()}
    return _PROBLEMS.get(error["type"], FALLBACK).format(**context)


def describe_problems(error: ValidationError) -> str:
    """The first three of them in one line, each with its place."""
    told = (f"{'.'.join(map(str, item['loc']))} {describe_problem(item)}".strip() for item in error.errors()[:3])
    return "；".join(told)


def describe_setting(error: ErrorDetails, settings: type[BaseModel]) -> str:
    """What is wrong with a variable, by its name, and what it is, unless that is a secret."""
    if not error["loc"]:
        return describe_problem(error)
    name = ".".join(str(part) for part in error["loc"]).upper()
    if len(error["loc"]) > 1:  # inside a value that is JSON, mostly of secrets
        return f"{name}：{describe_problem(error)}"
    if error["type"] == "extra_forbidden":
        return f"{name}：.env 中有不认识的变量，请改正拼写或删掉它"
    field = settings.model_fields.get(str(error["loc"][0]))
    secret = field is None or "SecretStr" in str(field.annotation)
    return f"{name}：{describe_problem(error)}" + ("" if secret else f"（现为 {error.get('input')!r}）")


def _format_bound(value: object) -> str:
    """Bounds without a needless fraction; a list of choices without English words."""
    if isinstance(value, float):
        return f"{value:.15g}"
    return str(value).replace(" or ", "、").replace(", ", "、").replace("'", "")
