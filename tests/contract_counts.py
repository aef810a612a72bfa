"""Runs the contract suites on every backend and counts: `python -m tests.contract_counts [PATH...]`.

A backend is a class that inherits a contract, or a parameter of a fixture that names servers and databases, or both.
Without paths all of `tests/contracts`, of `tests/app` what runs on SQLite and PostgreSQL, of `tests/agents/business`
what runs on every kind of business database; also what is otherwise left to `make acceptance`. A missing server is a
failure; of MySQL, which BUSINESS_MYSQL_URL names, that is told as skipped.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PATHS = ("tests/contracts", "tests/app", "tests/agents/business")
# Fixtures and parameters that run a test once a backend, and of which contract.
FIXTURES = {
    "template": "Repository",
    "address": "Repository",
    "companies": "BusinessDatabase",
    "twin": "BusinessDatabase",
    "club": "BusinessDatabase",
    "business_database": "BusinessDatabase",
    "reranker": "Reranker",
}
OUTCOMES = ("passed", "failed", "skipped")
Backend = tuple[str, str]


class BackendCounts:
    """A plugin of pytest: keeps the tests that have a backend and counts their outcomes."""

    def __init__(self) -> None:
        self._backends: dict[str, Backend] = {}
        self.found: Counter[tuple[Backend, str]] = Counter()

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leaves the other tests out."""
        left = []
        for item in items:
            backend = _backend(item)
            if backend is None:
                left.append(item)
            else:
                self._backends[item.nodeid] = backend
        items[:] = [item for item in items if item.nodeid in self._backends]
        config.hook.pytest_deselected(items=left)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test counts once: when it ran, or where it did not come to that."""
        if report.when == "call" or report.outcome != "passed":
            self.found[self._backends[report.nodeid], report.outcome] += 1

    def table(self) -> str:
        """In Markdown, sorted."""
        lines = ["| contract | backend | " + " | ".join(OUTCOMES) + " |", "| --- | --- | ---: | ---: | ---: |"]
        for contract, name in sorted({backend for backend, _ in self.found}):
            counts = [str(self.found[(contract, name), outcome]) for outcome in OUTCOMES]
            lines.append(f"| {contract} | {name} | " + " | ".join(counts) + " |")
        return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 where everything passed, 1 where something failed or was skipped."""
    parser = argparse.ArgumentParser(prog="tests.contract_counts", description="各种实现各通过多少条契约测试")
    parser.add_argument("paths", nargs="*", default=PATHS, metavar="PATH", help="默认 " + " ".join(PATHS))
    options = parser.parse_args(arguments)
    os.environ |= {"REQUIRE_SERVICES": "1", "ACCEPTANCE": "1"}
    os.chdir(ROOT)
    counts = BackendCounts()
    code = pytest.main([*options.paths, "-q", "--no-header", "-p", "no:cacheprovider"], plugins=[counts])
    sys.stdout.write(counts.table() + "\n")
    complete = all(outcome == "passed" for _, outcome in counts.found)
    return 0 if code == pytest.ExitCode.OK and complete and counts.found else 1


def _backend(item: pytest.Item) -> Backend | None:
    """Which contract a test is of, and on what it runs; None for a test that runs on nothing in particular."""
    owner: Any = getattr(item, "cls", None)
    contracts = [base.__name__ for base in owner.__mro__ if base.__name__.endswith("Contract")] if owner else []
    parameters: dict[str, Any] = item.callspec.params if hasattr(item, "callspec") else {}
    named = [(contract, str(parameters[fixture])) for fixture, contract in FIXTURES.items() if fixture in parameters]
    if contracts:
        names = [owner.__name__.removeprefix("Test"), *(name for _, name in named)]
        return contracts[-1].removesuffix("Contract"), ", ".join(names)
    return named[0] if named else None


if __name__ == "__main__":
    sys.exit(main())
