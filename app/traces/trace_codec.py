"""How a trace is kept: JSON, compressed."""

from __future__ import annotations

import zlib
from typing import Any

import orjson

# Compression level: half the size for a tenth of a millisecond.
FASTEST = 1


def compress_body(body: dict[str, Any]) -> bytes:
    """For the table."""
    return zlib.compress(orjson.dumps(body), FASTEST)


def decompress_body(body: bytes | None) -> dict[str, Any]:
    """Empty for a turn without a trace."""
    read: dict[str, Any] = orjson.loads(zlib.decompress(body)) if body else {}
    return read
