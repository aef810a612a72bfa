"""Pictures and scanned pages, made when they are asked for."""

from __future__ import annotations

import io

from PIL import Image


def png(width: int, height: int) -> bytes:
    """A white one; sizes in pixels."""
    buffer = io.BytesIO()
    Image.new("1", (width, height), 1).save(buffer, "PNG")
    return buffer.getvalue()
