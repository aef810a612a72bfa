"""The server as a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[3]
ONE_CHAT = """
import asyncio, sys
from app.main import open_container
from app.turns.types import Message
from app.settings import Settings

async def main():
    async with open_container(Settings(data_dir=sys.argv[1], embedder="hash", samples_enabled=False)) as container:
        await container.ingestion.add("default", [("a.md", "退款三天到账。".encode())])
        print((await container.chat.answer_message(Message("default", "s", "退款多久到账"))).answer.outcome)

asyncio.run(main())
print(sorted({"torch", "transformers"} & sys.modules.keys()))
"""


def environment(data_dir: Path, **settings: str) -> dict[str, str]:
    defaults = {"EMBEDDER": "hash", "SAMPLES_ENABLED": "false", "PORT": "0", "DATA_DIR": str(data_dir)}
    return os.environ | defaults | settings | {"PYTHONPATH": str(ROOT)}


def test_a_chat_loads_neither_torch_nor_transformers(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ONE_CHAT, str(tmp_path)], cwd=tmp_path, env=environment(tmp_path), capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().splitlines()[-1] == "[]"


def test_it_prints_where_it_answers_refuses_a_second_server_on_its_data_and_stops_on_a_signal(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "app"], cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        try:
            match = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
            assert match
            assert match.group() in server.stdout.readline()
            assert "curl" in server.stdout.readline()
            assert httpx.get(f"{match.group()}/api/v1/health/ready", timeout=60).status_code == 200
            answer = httpx.post(f"{match.group()}/api/v1/chat", json={"message": "你好"}, timeout=60).json()
            assert answer["outcome"] == "answered"
            second = subprocess.run(
                [sys.executable, "-m", "app"], cwd=tmp_path, env=environment(tmp_path), capture_output=True, timeout=300
            )
            assert second.returncode != 0
            assert "DATA_DIR" in second.stderr.decode()
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(20) in (0, -signal.SIGTERM)  # uvicorn raises the signal again once all is closed


@pytest.mark.acceptance(only=True)
def test_listening_to_others_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "app"],
        cwd=tmp_path,
        env=environment(tmp_path / "data", HOST="0.0.0.0"),
        capture_output=True,
        timeout=300,
    )
    assert done.returncode == 2
    assert "HOST" in done.stderr.decode() and "API_KEY" in done.stderr.decode()
    assert not (tmp_path / "data").exists()
