"""How a trace is kept: JSON, compressed."""

from __future__ import annotations

import zlib
from typing import Any

import orjson

# Compression level: half the size for a tenth of a millisecond.
FASTEST = 1


def compress_body(body: dict[str, Any]) -> bytes:
    """Compresses the body of a trace for the table."""
    return zlib.compress(orjson.dumps(body), FASTEST)


def decompress_body(body: bytes | None) -> dict[str, Any]:
    """Decompresses the body of a trace; empty for a turn without one."""
    read: dict[str, Any] = orjson.loads(zlib.decompress(body)) if body else {}
    return read
