"""Which test counts for which backend."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.contract_counts import BackendCounts


class ShelfContract:
    """What every shelf keeps."""


class TestWooden(ShelfContract):
    """One of them; no test of its own."""


def item(owner: type | None, **parameters: Any) -> Any:
    callspec = {"callspec": SimpleNamespace(params=parameters)} if parameters else {}
    return SimpleNamespace(nodeid=f"{owner}{parameters}", cls=owner, **callspec)


def counted(*items: Any) -> tuple[list[str], int]:
    """Rows of the table once all of them passed, and how many were left out."""
    counts, left = BackendCounts(), list[Any]()
    hook = SimpleNamespace(pytest_deselected=lambda items: left.extend(items))
    kept = list(items)
    counts.pytest_collection_modifyitems(SimpleNamespace(config=None, hook=hook), kept)  # type: ignore[arg-type]
    for one in kept:
        for when in ("setup", "call", "teardown"):
            report = SimpleNamespace(nodeid=one.nodeid, when=when, outcome="passed")
            counts.pytest_runtest_logreport(report)  # type: ignore[arg-type]
    return counts.table().splitlines()[2:], len(left)


def test_a_class_that_inherits_a_contract_is_a_backend() -> None:
    assert counted(item(TestWooden)) == (["| Shelf | Wooden | 1 | 0 | 0 |"], 0)


def test_a_contract_that_runs_on_two_databases_counts_for_each() -> None:
    rows, _ = counted(item(TestWooden, template="sqlite"), item(TestWooden, template="postgresql"))
    assert rows == ["| Shelf | Wooden, postgresql | 1 | 0 | 0 |", "| Shelf | Wooden, sqlite | 1 | 0 | 0 |"]


@pytest.mark.parametrize(("fixture", "contract"), [("template", "Repository"), ("club", "BusinessDatabase")])
def test_a_fixture_that_names_a_database_is_a_backend(fixture: str, contract: str) -> None:
    assert counted(item(None, **{fixture: "sqlite"})) == ([f"| {contract} | sqlite | 1 | 0 | 0 |"], 0)


def test_what_runs_on_nothing_in_particular_is_left_out() -> None:
    assert counted(item(None), item(int, text="sqlite")) == ([], 2)
