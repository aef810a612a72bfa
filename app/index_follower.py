"""What callers that wait for an index know of it."""

from __future__ import annotations

from typing import Protocol


class Follower(Protocol):
    """Knows how far a tenant's index followed SQL."""

    async def wait_for_revision(self, tenant: str, revision: int, timeout: float) -> bool:  # noqa: ASYNC109 - not an error
        """Waits until the index answers from `revision` or a later one; False after `timeout` seconds."""

    async def is_keywords_only(self, tenant: str) -> bool:
        """Whether documents are found without embeddings, since nothing of the tenant has any yet."""
