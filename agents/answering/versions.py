"""Finds which versions of a manual to choose from, where two differ and neither is known to be newer."""

from __future__ import annotations

from collections.abc import Sequence

from knowledge.types import Candidate, Chunk
from knowledge.versions import compare_versions, format_version, get_series


def find_undecided_versions(found: Sequence[Candidate]) -> tuple[str, ...]:
    """Returns the versions to choose from, as customers read them, that of the best passage first; empty where it is
    decided.

    found: what may be answered from, best first.
    """
    best = found[0].chunk
    rivals = [best, *(candidate.chunk for candidate in found[1:] if _is_rival(best, candidate.chunk))]
    return (
        tuple(dict.fromkeys(format_version(chunk.document.product_version) for chunk in rivals)) if rivals[1:] else ()
    )


def _is_rival(one: Chunk, other: Chunk) -> bool:
    versions = one.document.product_version, other.document.product_version
    return (
        all(versions)
        and compare_versions(*versions) is None
        and get_series(one.document) == get_series(other.document)
        and one.heading_path[-1:] == other.heading_path[-1:]
        and one.text != other.text
    )
