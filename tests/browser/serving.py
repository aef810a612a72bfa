"""The product as a process, for a browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from scripts.harness.servers import run_product

ROOT = Path(__file__).resolve().parents[2]
AS_SHIPPED = {"EMBEDDER": "e5", "VECTOR_STORE": "chroma", "SAMPLES_ENABLED": "true"}


@contextmanager
def serving(data_dir: Path, **settings: str) -> Iterator[str]:
    """The address of a server that has learnt; with the shipped samples and embedder unless told otherwise."""
    with run_product(data_dir, keys=False, **AS_SHIPPED | settings) as target:
        assert httpx.get(f"{target.address}/api/v1/health/ready", timeout=60).status_code == 200
        yield target.address
