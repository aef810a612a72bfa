"""Uploads to a running server that are followed until they are over."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import httpx

from scripts.harness.servers import DOCUMENTS
from scripts.harness.uploads import JOBS

_STEP = 0.2


async def upload_files(client: httpx.AsyncClient, files: Sequence[tuple[str, bytes]]) -> list[dict[str, Any]]:
    """Uploads names and contents. Returns what became of each; raises httpx.HTTPStatusError where none was taken."""
    response = await client.post(DOCUMENTS, files=[("files", file) for file in files])
    upload = response.raise_for_status().json()
    while upload["job"]["finished_at"] is None:
        await asyncio.sleep(_STEP)
        upload = (await client.get(f"{JOBS}/{upload['job']['id']}")).raise_for_status().json()
    reports: list[dict[str, Any]] = upload["files"]
    return reports
