"""A small cache of recent results: the recalls, the reranker and the explanation of one search need the same
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

# Searches that run at once; one that comes back too late computes again.
SIZE = 8


class RecentResults(Generic[Key, Value]):
    """Safe to use from several threads: at worst two of them compute the same."""

    def __init__(self, size: int = SIZE) -> None:
        """size: results that are kept at most."""
        self._size = size
        self._values: dict[Key, Value] = {}

    def find(self, key: Key) -> Value | None:
        """Returns the result for `key` if it is still there."""
        return self._values.get(key)

    def get(self, key: Key, compute: Callable[[Key], Value]) -> Value:
        """Returns the result for `key`, computing it if needed."""
        value = self._values.get(key)
        if value is None:
            value = compute(key)
            if len(self._values) >= self._size:
                self._values = {}
            self._values[key] = value
        return value
