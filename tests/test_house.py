"""The figures of a tree say what they are said to say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture import Module
from tests.house import describe, list_functions, measure, read_modules

SOURCE = """
# Why it is so.
X = 1  # noqa: F841

def build_container(): ...
def told(): ...
class A:
    def __init__(self): ...
    @property
    def index(self): ...
    async def find(self):
        return 1
"""


def test_functions_are_measured_by_their_names_and_lengths() -> None:
    module = Module("app/errors.py", SOURCE)
    assert [function.name for function in list_functions(module)] == ["build_container", "told", "index", "find"]
    figures = measure([module])
    assert (figures["lines"], figures["functions"], figures["median function"]) == (12, 4, 1)
    assert (figures["words per name"], figures["verb first"], figures["one word"]) == (1.25, 0.5, 0.75)
    assert figures["participle"] == 0.25
    assert figures["comments"] == pytest.approx(1000 / 12)


def test_a_tree_is_described_by_layers_and_circles(tmp_path: Path) -> None:
    for layer, other in (("knowledge", "app"), ("agents", "app"), ("app", "knowledge"), ("scripts", "app")):
        (tmp_path / layer).mkdir()
        annotated = "if TYPE_CHECKING:\n    " if layer == "knowledge" else ""
        source = f"{annotated}import {other}.room\ndef get(): ...\ndef put(): ...\n"
        (tmp_path / layer / "room.py").write_text(source, "utf-8")
    told = "\n".join(describe(read_modules(tmp_path)))
    assert "imports for annotations alone: 1\n  of one package by another that leads back: 1" in told
    assert "packages in circles when loaded: 0 ([])\npackages in circles with annotations: 2 ([2])" in told
