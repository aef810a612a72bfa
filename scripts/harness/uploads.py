"""What is sent to a server and read from it in the same way by several scripts."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx

from scripts.harness.servers import DOCUMENTS, wait_until

JOBS = "/api/v1/knowledge/jobs"


def upload_all(client: httpx.Client, files: Sequence[tuple[str, bytes]], at_once: int) -> None:
    """Uploads names and contents, so many in a request; returns once they are found. Raises OSError."""
    for start in range(0, len(files), at_once):
        part = [("files", file) for file in files[start : start + at_once]]
        client.post(DOCUMENTS, params={"wait": 0}, files=part).raise_for_status()
    wait_until("文档没有全部就绪", lambda: not client.get(JOBS, params={"unfinished": True}).json()["total"], step=1.0)


async def read_events(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    """The data of the events of a stream."""
    async for line in response.aiter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))
