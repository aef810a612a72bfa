"""How requests were answered."""

from __future__ import annotations

from collections import Counter

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
UNMATCHED = "(unmatched)"


class Statuses:
    """Counts since the start, by method, route and status: of routes, not of addresses, which anybody can make up."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str, int]] = Counter()

    def add(self, method: str, route: str, status: int) -> None:
        """Counts an answered request. route: its template."""
        self.counts[method if method in METHODS else "other", route, status] += 1
