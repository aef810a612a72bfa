"""The versions of products that a conversation names: who said once that they use V2.2 goes on meaning it."""

from __future__ import annotations

from knowledge.versions import find_versions

MAX_VERSIONS = 3


def named_versions(question: str, before: tuple[str, ...]) -> tuple[str, ...]:
    """Of a question and of what was said before it, the last first."""
    return tuple(dict.fromkeys((*reversed(find_versions(question)), *before)))[:MAX_VERSIONS]
