"""Whom the attacks may be played against."""

from __future__ import annotations

import pytest

from scripts.harness.servers import Target


@pytest.mark.parametrize("address", ["http://192.0.2.1:8000", "https://example.com"])
def test_nobody_else_is_attacked(address: str) -> None:
    with pytest.raises(ValueError):
        Target(address)
