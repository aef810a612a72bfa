"""The product versions that a conversation names: who once said V2.2 goes on meaning it."""

from __future__ import annotations

from knowledge.versions import versions_in

MAX_VERSIONS = 3


def merge_named_versions(question: str, before: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the versions of a question and of earlier ones, the last first."""
    return tuple(dict.fromkeys((*reversed(versions_in(question)), *before)))[:MAX_VERSIONS]
