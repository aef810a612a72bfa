"""Finds which versions of a manual to choose from, where two differ and neither is known to be newer."""

from __future__ import annotations

from collections.abc import Sequence

from knowledge.types import Candidate, Chunk
from knowledge.versions import order, series_of, show_version


def find_undecided_versions(found: Sequence[Candidate]) -> tuple[str, ...]:
    """Returns the versions to choose from, as customers read them, that of the best passage first; empty where it is
    decided.

    found: what may be answered from, best first.
    """
    best = found[0].chunk
    rivals = [best, *(candidate.chunk for candidate in found[1:] if _is_rival(best, candidate.chunk))]
    return tuple(dict.fromkeys(show_version(chunk.document.product_version) for chunk in rivals)) if rivals[1:] else ()


def _is_rival(one: Chunk, other: Chunk) -> bool:
    versions = one.document.product_version, other.document.product_version
    return (
        all(versions)
        and order(*versions) is None
        and series_of(one.document) == series_of(other.document)
        and one.heading_path[-1:] == other.heading_path[-1:]
        and one.text != other.text
    )
