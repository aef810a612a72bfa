"""A server of this project in a process of its own, for whoever attacks, measures or looks at it from outside."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import httpx

ROOT = Path(__file__).resolve().parents[1]
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


@contextmanager
def run_server(
    arguments: Sequence[str], folder: Path, variables: Mapping[str, str] | None = None
) -> Iterator[tuple[int, str]]:
    """Runs Python with these arguments until the block is left.

    Args:
        arguments: of a program that prints its address in the first line, once it answers.
        folder: where it runs.
        variables: of its environment, besides those of this process.

    Yields: the id of the process, and its address.

    Raises: OSError where it did not start.
    """
    # `env`, because only settings read the environment
    command = ["env", *(f"{name}={value}" for name, value in (variables or {}).items()), sys.executable, *arguments]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = _ADDRESS.search(process.stdout.readline())
            if not found:
                raise OSError(f"{' '.join(arguments)} 没有启动")
            yield process.pid, found.group()
        finally:
            process.terminate()


def wait_until_learnt(address: str, seconds: float) -> None:
    """Returns once the product there has learnt its examples. Raises OSError when that takes longer."""
    deadline = monotonic() + seconds
    while httpx.get(f"{address}/api/v1/health/ready", timeout=30, trust_env=False).json().get("learning", True):
        if monotonic() > deadline:
            raise OSError("例句没有学完")
        sleep(0.2)
