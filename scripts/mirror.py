"""Lists the modules that have no tests at their own path: `python scripts/mirror.py [PACKAGE...]`.

The tests of `agents/llm/extractive.py` belong into `tests/agents/llm/test_extractive.py`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("knowledge", "agents", "app")
# Has nothing to test that migrations do not.
TABLES = "tables.py"


def get_test_path(module: Path) -> Path:
    """Where the tests of a module belong, both relative to the root."""
    return Path("tests") / module.with_name(f"test_{module.name}")


def find_untested(packages: Sequence[str] = PACKAGES, root: Path = ROOT) -> Iterator[Path]:
    """The modules that nothing mirrors, relative to the root."""
    for package in packages:
        for path in sorted(root.joinpath(package).rglob("*.py")):
            module = path.relative_to(root)
            plain = "migrations" not in module.parts and path.name not in ("__init__.py", "__main__.py", TABLES)
            if plain and not root.joinpath(get_test_path(module)).exists():
                yield module


def find_strays(packages: Sequence[str] = PACKAGES, root: Path = ROOT) -> Iterator[Path]:
    """Tests that are called like one module or folder, and lie elsewhere; those of a whole folder may lie in it."""
    homes: dict[str, set[Path]] = {}
    for package in packages:
        for path in root.joinpath(package).rglob("*.py"):
            module = path.relative_to(root)
            module = module.parent.with_suffix(".py") if path.name == "__init__.py" else module
            homes.setdefault(f"test_{module.name}", set()).add(get_test_path(module))
    for package in packages:
        for path in sorted(root.joinpath("tests", package).rglob("test_*.py")):
            known = homes.get(path.name, set())
            whole = path.name == f"test_{path.parent.name}.py"
            if len(known) == 1 and path.relative_to(root) not in known and not whole:
                yield path.relative_to(root)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", default=PACKAGES, metavar="PACKAGE")
    packages = parser.parse_args().packages
    for module in find_untested(packages):
        print(module.as_posix())
    for test in find_strays(packages):
        print(f"{test.as_posix()} lies elsewhere than its module")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
