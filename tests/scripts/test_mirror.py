from __future__ import annotations

from pathlib import Path

from scripts.mirror import place, strays, without


def written(root: Path, *files: str) -> Path:
    for name in files:
        root.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
        root.joinpath(name).touch()
    return root


def test_the_tests_of_a_module_lie_at_its_path() -> None:
    assert place(Path("agents/llm/units.py")) == Path("tests/agents/llm/test_units.py")


def test_modules_without_tests_are_listed(tmp_path: Path) -> None:
    root = written(tmp_path, "app/a.py", "app/b/c.py", "app/b/tables.py", "app/__init__.py", "tests/app/test_a.py")
    assert list(without(["app"], root)) == [Path("app/b/c.py")]


def test_tests_that_lie_elsewhere_are_told(tmp_path: Path) -> None:
    root = written(tmp_path, "app/b/c.py", "app/b/__init__.py", "tests/app/test_c.py", "tests/app/b/test_b.py")
    assert list(strays(["app"], root)) == [Path("tests/app/test_c.py")]
