"""What fields of several bodies have in common."""

from __future__ import annotations

from pydantic import BeforeValidator

from knowledge.text import clean


def _cleaned(value: object) -> object:
    return clean(value).strip() if isinstance(value, str) else value


CLEANED = BeforeValidator(_cleaned)
"""Before its length is looked at, a text loses what nobody sees and the white space around it."""
