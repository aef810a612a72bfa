"""Servers beside the database: Redis and the vector store, by opening a connection."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from urllib.parse import urlsplit

from app.doctor.types import Diagnosis, report_error, report_fine
from app.settings import Settings

CONNECT_SECONDS = 5.0
_REDIS_PORT = 6379


async def check_servers(settings: Settings) -> Sequence[Diagnosis]:
    """Checks each server that is configured."""
    found = []
    if url := settings.redis_url.get_secret_value():
        found.append(await _check_server("Redis", url, "REDIS_URL", _REDIS_PORT))
    if url := settings.vector_server:
        variable = "MILVUS_URI" if settings.vector_store == "milvus" else "CHROMA_URL"
        found.append(await _check_server("向量库", url, variable, 443 if url.startswith("https") else 80))
    return found


async def _check_server(subject: str, url: str, variable: str, default_port: int) -> Diagnosis:
    parts = urlsplit(url)
    place = parts.path if parts.scheme == "unix" else f"{parts.hostname}:{parts.port or default_port}"
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            if parts.scheme == "unix":
                _, writer = await asyncio.open_unix_connection(parts.path)
            else:
                _, writer = await asyncio.open_connection(parts.hostname, parts.port or default_port)
        writer.close()
    except OSError as problem:  # TimeoutError is one
        fix = f"改正 {variable}，并确认它在运行、这台机器连得上"
        return report_error(subject, f"{variable} 的 {place} 连不上：{problem or type(problem).__name__}", fix)
    return report_fine(subject, f"{place} 连得上")
