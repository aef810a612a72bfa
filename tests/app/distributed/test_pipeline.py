"""Ray that does not start, without Ray."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from app.distributed.pipeline import RayOptions, run_ray
from knowledge.errors import MissingDependency, Unavailable


def test_a_ray_that_does_not_start_is_told_and_what_of_it_runs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []

    def init(*_: Any, **__: Any) -> None:
        raise Exception("The current node timed out during startup.")

    fake = SimpleNamespace(init=init, shutdown=lambda: ended.append(True))
    monkeypatch.setitem(sys.modules, "ray", fake)
    with pytest.raises(Unavailable, match="timed out during startup"), run_ray(RayOptions()):
        raise AssertionError("not reached")
    assert ended == [True]


def test_where_ray_is_not_installed_the_command_that_installs_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingDependency, match=r"requirements-ray\.txt"), run_ray(RayOptions()):
        raise AssertionError("not reached")
