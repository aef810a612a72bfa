"""Uploads that are followed until they are over."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx

from scripts.harness.servers import DOCUMENTS, wait_until

JOBS = "/api/v1/knowledge/jobs"
_STEP = 0.2


async def upload_files(client: httpx.AsyncClient, files: Sequence[tuple[str, bytes]]) -> list[dict[str, Any]]:
    """Uploads names and contents. Returns what became of each; raises httpx.HTTPStatusError where none was taken."""
    response = await client.post(DOCUMENTS, files=[("files", file) for file in files])
    reports: list[dict[str, Any]] = (await follow_job(client, response.raise_for_status().json()))["files"]
    return reports


def upload_all(client: httpx.Client, files: Sequence[tuple[str, bytes]], at_once: int) -> None:
    """Uploads names and contents, so many in a request; returns once they are found. Raises OSError."""
    for start in range(0, len(files), at_once):
        part = [("files", file) for file in files[start : start + at_once]]
        client.post(DOCUMENTS, params={"wait": 0}, files=part).raise_for_status()
    wait_until("文档没有全部就绪", lambda: not client.get(JOBS, params={"unfinished": True}).json()["total"], step=1.0)


async def follow_job(client: httpx.AsyncClient, upload: dict[str, Any]) -> dict[str, Any]:
    """Returns the last state of an upload, of which the answer to it was the first."""
    while upload["job"]["finished_at"] is None:
        await asyncio.sleep(_STEP)
        upload = (await client.get(f"{JOBS}/{upload['job']['id']}")).raise_for_status().json()
    return upload


async def is_text_found(client: httpx.AsyncClient, query: str, text: str, **body: Any) -> bool:
    """Whether a search finds a chunk with this text. body: further fields of the request."""
    response = await client.post("/api/v1/knowledge/search", json={"query": query, **body})
    return any(text in item["text"] for item in response.raise_for_status().json()["candidates"])


async def read_events(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    """The data of the events of a stream."""
    async for line in response.aiter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))
