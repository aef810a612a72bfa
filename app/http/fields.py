"""What fields of several bodies have in common."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import BeforeValidator, Field

from knowledge.text import clean


def _cleaned(value: object) -> object:
    return clean(value).strip() if isinstance(value, str) else value


CLEANED = BeforeValidator(_cleaned)
"""Before its length is looked at, a text loses what nobody sees and the white space around it."""
Offset = Annotated[int, Query(ge=0, le=10_000_000)]
"""Rows before a page; SQL does not take every integer."""
MAX_TOKEN_CHARS = 256
"""Of the secret of a session."""
SessionId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:@-]{1,64}$")]
