"""What the guide for developers says of the code is so."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.guide import GUIDES
from tests.documents import ROOT

_PART = r"<!-- {0} -->\n(.*?)<!-- /{0} -->"
_STEP = re.compile(r"^\| `([^`]+\.py)` \| `([^`]+)` \|", re.MULTILINE)
_FOLDER = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)
PAGES = pytest.mark.parametrize("page", GUIDES, ids=str)


def parts(page: Path, mark: str) -> list[str]:
    """What stands between the marks, which may come several times."""
    return re.findall(_PART.format(mark), ROOT.joinpath(page).read_text("utf-8"), re.DOTALL)


def defined(path: Path) -> Iterator[str]:
    """Names of the functions of a module and of its classes' methods, as `Class.method`."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef):
            yield from (f"{node.name}.{item.name}" for item in node.body if isinstance(item, FUNCTIONS))
        elif isinstance(node, FUNCTIONS):
            yield node.name


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def folders() -> set[str]:
    """Those of the packages that have modules or texts of their own, down to the second level."""
    found = (path for layer in ("knowledge", "agents", "app") for path in ROOT.joinpath(layer).iterdir())
    kept = {path.relative_to(ROOT).as_posix() for path in found if path.is_dir() and path.name != "__pycache__"}
    return kept | {"scripts", "tests"}


@PAGES
def test_every_step_of_a_walk_is_a_function_that_is_there(page: Path) -> None:
    walks = [_STEP.findall(walk) for walk in parts(page, "walk")]
    assert len(walks) == 4 and all(len(walk) > 8 for walk in walks)
    steps = {step for walk in walks for step in walk}
    assert {(file, name) for file, name in steps if name not in defined(ROOT / file)} == set()


def test_both_languages_walk_the_same_way() -> None:
    chinese, english = ([_STEP.findall(walk) for walk in parts(page, "walk")] for page in GUIDES)
    assert chinese == english


@PAGES
def test_the_map_has_every_folder(page: Path) -> None:
    [told] = parts(page, "map")
    assert set(_FOLDER.findall(told)) == folders()
