"""Keys of a server that is a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[3]
FIRST = "the-first-admin-key"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    settings = {"EMBEDDER": "hash", "SAMPLES_ENABLED": "false", "PORT": "0", "DATA_DIR": str(tmp_path / "data")}
    return os.environ | settings | {"PYTHONPATH": str(ROOT)}


@contextmanager
def server(folder: Path, environment: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Address and the command that it prints to try."""
    command = [sys.executable, "-m", "app"]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            started = re.search(r"http://[\d.]+:(\d+)", process.stdout.readline())
            assert started
            example = next(line for line in process.stdout if "curl" in line)
            yield f"http://127.0.0.1:{started.group(1)}", example
        finally:
            process.send_signal(signal.SIGTERM)


def keys(folder: Path, environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts/keys.py"), *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)


def status(address: str, key: str) -> int:
    return httpx.get(f"{address}/api/v1/profile", headers={"X-API-Key": key}, timeout=60).status_code


def status_becomes(address: str, key: str, expected: int) -> bool:
    """Whether a server that runs notices in time."""
    deadline = time.monotonic() + 60
    while status(address, key) != expected:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


@pytest.mark.acceptance(only=True)
def test_a_key_lets_the_server_listen_to_others_and_is_asked_of_this_machine_too(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    with server(tmp_path, environment | {"HOST": "0.0.0.0", "API_KEY": FIRST}) as (address, example):
        assert "Authorization" in example and FIRST not in example
        assert httpx.get(f"{address}/api/v1/health/ready", timeout=60).status_code == 200
        assert httpx.get(f"{address}/api/v1/profile", timeout=60).status_code == 401
        assert status(address, FIRST) == 200


def test_keys_are_made_and_revoked_while_the_server_runs(tmp_path: Path, environment: dict[str, str]) -> None:
    made = keys(tmp_path, environment, "create", "--role", "admin", "--name", "first")
    with server(tmp_path, environment | {"HOST": "0.0.0.0"}) as (address, _):
        assert status(address, made.stdout.strip()) == 200
        other = keys(tmp_path, environment, "create", "--role", "agent", "--tenant", "acme", "--name", "second")
        key_id = other.stderr.split("密钥 ")[1].split("（")[0]
        assert status_becomes(address, other.stdout.strip(), 200)
        keys(tmp_path, environment, "revoke", key_id)
        assert status_becomes(address, other.stdout.strip(), 401)
        assert status(address, made.stdout.strip()) == 200


@pytest.mark.acceptance(only=True)
def test_a_key_that_was_revoked_does_not_let_the_server_listen_to_others(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    made = keys(tmp_path, environment, "create", "--role", "admin", "--name", "first")
    keys(tmp_path, environment, "revoke", made.stderr.split("密钥 ")[1].split("（")[0])
    command = [sys.executable, "-m", "app"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment | {"HOST": "0.0.0.0"}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 2
    assert "API_KEY" in done.stderr and "scripts/keys.py" in done.stderr
