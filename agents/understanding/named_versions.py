"""The product versions that a conversation names: who once said V2.2 goes on meaning it."""

from __future__ import annotations

from knowledge.versions import find_versions

MAX_VERSIONS = 3


def merge_named_versions(question: str, before: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the versions of a question and of earlier ones, the last first."""
    return tuple(dict.fromkeys((*reversed(find_versions(question)), *before)))[:MAX_VERSIONS]
