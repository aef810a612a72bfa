"""The server that the attacks are played against."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.attacks.base import Target
from scripts.attacks.process import alive, process, rss_mb


def test_it_has_a_key_of_each_role_and_is_measured(tmp_path: Path) -> None:
    with process(tmp_path) as target:
        assert all((target.admin, target.server, target.agent, target.client, target.other_client))
        assert alive(target)
        assert rss_mb(target) > 50


@pytest.mark.parametrize("address", ["http://192.0.2.1:8000", "https://example.com"])
def test_nobody_else_is_attacked(address: str) -> None:
    with pytest.raises(ValueError):
        Target(address)
