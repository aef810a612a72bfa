"""An embedder for the guarded process that does as the text says: `crash FILE`, `once FILE`, `hang FILE`, `fail`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from knowledge.types import Matrix

DIMENSION = 3


def load() -> Callable[[Sequence[str], str], Matrix]:
    """Vectors of ones."""
    return _encode


def broken() -> Callable[[Sequence[str], str], Matrix]:
    """Weights that are not there."""
    raise FileNotFoundError("no weights")


def _encode(texts: Sequence[str], kind: str) -> Matrix:
    order, _, name = texts[0].partition(" ")
    path = Path(name)
    seen = path.is_file()
    if order in ("crash", "once", "hang"):
        with path.open("a") as log:
            log.write("x")
    if order == "crash" or (order == "once" and not seen):
        os.abort()
    if order == "hang" and not seen:
        time.sleep(600)
    if order == "fail":
        raise ValueError("not this text")
    return np.ones((len(texts), DIMENSION), dtype=np.float32)
