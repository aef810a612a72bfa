from __future__ import annotations

from pathlib import Path

from scripts.mirror import find_strays, find_untested, get_test_path

TESTS = "tests"


def written(root: Path, *files: str) -> Path:
    for name in files:
        path = root / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return root


def test_the_tests_of_a_module_lie_at_its_path() -> None:
    assert get_test_path(Path("agents/llm/extractive.py")) == Path("tests/agents/llm/test_extractive.py")


def test_modules_without_tests_are_listed(tmp_path: Path) -> None:
    root = written(tmp_path, "house/a", "house/b/c", "house/b/tables", "house/__init__", f"{TESTS}/house/test_a")
    assert list(find_untested(["house"], root)) == [Path("house", "b", "c.py")]


def test_tests_that_lie_elsewhere_are_told(tmp_path: Path) -> None:
    root = written(tmp_path, "house/b/c", "house/b/__init__", f"{TESTS}/house/test_c", f"{TESTS}/house/b/test_b")
    assert list(find_strays(["house"], root)) == [Path("tests", "house", "test_c.py")]
