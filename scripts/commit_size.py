"""Files that are too large to be committed: `python scripts/commit_size.py FILE…`, as pre-commit calls it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

# A clone stays small: what a model or a data set needs is made, or downloaded by who uses it.
MAX_BYTES = 2_000_000
# Larger on purpose: made by a script of ours, so that the first start embeds nothing.
SHIPPED = frozenset({"app/embeddings/shipped_vectors.npz"})


def find_too_large(names: Sequence[str]) -> list[str]:
    """Those above MAX_BYTES, with their size; files that a commit deletes are not there any more."""
    sizes = {name: Path(name).stat().st_size for name in names if Path(name).is_file() and name not in SHIPPED}
    return [f"{name}：{size / 1e6:.1f} MB" for name, size in sizes.items() if size > MAX_BYTES]


def main(names: Sequence[str]) -> int:
    found = find_too_large(names)
    if found:
        print(f"这些文件超过 {MAX_BYTES / 1e6:.0f} MB，不应提交：", *found, sep="\n", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
