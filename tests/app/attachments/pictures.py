"""Pictures and files that customers send, harmless ones and others."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

from PIL import Image, ImageDraw, PngImagePlugin

SCRIPT = b"<script>alert(1)</script>"


def jpeg(size: tuple[int, int] = (640, 480), *, place: str = "", comment: bytes = b"") -> bytes:
    """A photograph. place: told in its EXIF."""
    image = Image.radial_gradient("L").resize(size).convert("RGB")
    kept = io.BytesIO()
    exif = Image.Exif()
    if place:
        exif[0x010E], exif[0x0112], exif[0x8825] = place, 6, {1: "N", 2: (31.0, 13.0, 49.0)}
    image.save(kept, "JPEG", exif=exif, **({"comment": comment} if comment else {}))
    return kept.getvalue()


def png(size: tuple[int, int] = (200, 100), *, text: str = "") -> bytes:
    """A screenshot. text: in a chunk of it that nobody sees."""
    image = Image.new("RGB", size, "white")
    ImageDraw.Draw(image).rectangle((10, 10, 60, 60), fill="red")
    about = PngImagePlugin.PngInfo()
    if text:
        about.add_text("Comment", text)
    kept = io.BytesIO()
    image.save(kept, "PNG", pnginfo=about)
    return kept.getvalue()


def huge_png(width: int, height: int) -> bytes:
    """Says that it has so many pixels; what it holds unpacks to as many bytes as fit into a megabyte."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(bytes(2**20), 9)
    chunks = [(b"IHDR", head), (b"IDAT", data), (b"IEND", b"")]
    packed = [
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def office(part: str = "word/document.xml", *more: str, size: int = 10) -> bytes:
    """A ZIP archive with these parts."""
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in (part, *more):
            archive.writestr(name, b"0" * size)
    return kept.getvalue()


SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>'
PDF = b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer << /Root 1 0 R >>\n%%EOF\n"
