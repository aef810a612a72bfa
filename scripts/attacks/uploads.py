"""Uploads that are followed until they are over."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import httpx

PATH = "/api/v1/knowledge/documents"
_STEP = 0.2


async def upload(client: httpx.AsyncClient, files: Sequence[tuple[str, bytes]]) -> list[dict[str, Any]]:
    """What became of each file. Raises httpx.HTTPStatusError where none was taken at once."""
    response = await client.post(PATH, files=[("files", file) for file in files])
    response.raise_for_status()
    while response.json()["job"]["finished_at"] is None:
        await asyncio.sleep(_STEP)
        response = await client.get(f"/api/v1/knowledge/jobs/{response.json()['job']['id']}")
        response.raise_for_status()
    reports: list[dict[str, Any]] = response.json()["files"]
    return reports
