"""The versions of products that a conversation names: who said once that they use V2.2 goes on meaning it."""

from __future__ import annotations

from knowledge.versions import versions_in

MAX_VERSIONS = 3


def merge_named_versions(question: str, before: tuple[str, ...]) -> tuple[str, ...]:
    """Of a question and of what was said before it, the last first."""
    return tuple(dict.fromkeys((*reversed(versions_in(question)), *before)))[:MAX_VERSIONS]
