"""What fields of several bodies have in common."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Query
from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from knowledge.text import clean

# One character that is left of a text by `clean` and `strip`, as a pattern of JSON Schema.
VISIBLE = r"[^\s\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]"
_NUMBER = re.compile(r"\s*[-+]?[\d.]+(e[-+]?\d+)?\s*", re.IGNORECASE)


class _Cleaned:
    """Cleans a text before it is looked at, and says so in the schema of one that must not be empty then."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(_clean_text, handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        told = handler(core)
        return told | {"pattern": VISIBLE} if told.get("minLength") and "pattern" not in told else told


def _clean_text(value: object) -> object:
    return clean(value).strip() if isinstance(value, str) else value


def _convert_whole_number(value: object) -> object:
    """JSON has one kind of number: 5.0 is an integer to its schema."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _require_text_time(value: object) -> object:
    """pydantic also takes numbers for times, as seconds since 1970, which the schema does not say."""
    if isinstance(value, datetime) or (isinstance(value, str) and not _NUMBER.fullmatch(value)):
        return value
    raise ValueError("时间要写成 2026-03-02T20:38:27+08:00 这样，带时区")


def _convert_to_utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("超出了能表示的时间：年份要在 1 到 9999 之间") from error


# Before its length is looked at, a text loses what nobody sees and the white space around it. Not for a text with a
# pattern: before it, the pattern would leave the schema; behind it, the schema would refuse what is taken.
CLEANED = _Cleaned()
# The same for a text whose pattern was met as it came.
TIDIED = AfterValidator(_clean_text)
# A time with its zone, in UTC; the last hours of the year 9999 in the west have none.
Moment = Annotated[AwareDatetime, BeforeValidator(_require_text_time), AfterValidator(_convert_to_utc)]
# Stands behind the bounds of a `StrictInt`: before them, they would leave its schema.
WHOLE = BeforeValidator(_convert_whole_number)
# Rows before a page; SQL does not take every integer.
Offset = Annotated[int, Query(ge=0, le=10_000_000)]
# Of the secret of a session.
MAX_TOKEN_CHARS = 256
SessionId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:@-]{1,64}$")]
