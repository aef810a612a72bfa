"""Which index a tenant's questions are searched in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoredGeneration:
    """The `number`th index since the first, which is 0; embedder: its name, as in EMBEDDER."""

    number: int
    embedder: str
