"""What fields of several bodies have in common."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Query
from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field

from knowledge.text import clean


def _cleaned(value: object) -> object:
    return clean(value).strip() if isinstance(value, str) else value


def _in_utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("超出了能表示的时间：年份要在 1 到 9999 之间") from error


CLEANED = BeforeValidator(_cleaned)
"""Before its length is looked at, a text loses what nobody sees and the white space around it."""
Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
"""A time with its zone, in UTC; the last hours of the year 9999 in the west have none."""
Offset = Annotated[int, Query(ge=0, le=10_000_000)]
"""Rows before a page; SQL does not take every integer."""
MAX_TOKEN_CHARS = 256
"""Of the secret of a session."""
SessionId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:@-]{1,64}$")]
