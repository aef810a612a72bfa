"""The product as a process, for a browser."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def serving(data_dir: Path, **settings: str) -> Iterator[str]:
    """The address of a server that is ready; with the shipped samples and embedder unless told otherwise."""
    environment = os.environ | {"PORT": "0", "DATA_DIR": str(data_dir), "PYTHONPATH": str(ROOT)} | settings
    with subprocess.Popen(
        [sys.executable, "-m", "app"], cwd=data_dir, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            started = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
            assert started, "the server did not say where it answers"
            assert httpx.get(f"{started.group()}/api/v1/health/ready", timeout=60).status_code == 200
            yield started.group()
        finally:
            process.send_signal(signal.SIGTERM)
