"""The result of inspecting a customer's file, and the known types of files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# What pictures are written anew as: media type -> extension.
PICTURES: Mapping[str, str] = {"image/jpeg": "jpg", "image/png": "png"}
# Media type -> extensions that a file of this type may have; nothing else is taken. The bytes have to agree.
FILE_TYPES: Mapping[str, tuple[str, ...]] = {
    "application/pdf": ("pdf",),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ("docx",),
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ("xlsx",),
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ("pptx",),
    "text/plain": ("txt", "log"),
    "text/csv": ("csv",),
    "video/mp4": ("mp4", "m4v"),
    "video/quicktime": ("mov",),
    "audio/mp4": ("m4a",),
    "audio/mpeg": ("mp3",),
    "audio/wav": ("wav",),
    "audio/amr": ("amr",),
}
# Of pictures that are taken, whichever of them the bytes turn out to be.
PICTURE_EXTENSIONS = ("jpg", "jpeg", "png", "webp", "gif", "bmp", "tif", "tiff")


@dataclass(frozen=True, slots=True)
class InspectedFile:
    """A file that may be kept. picture: its bytes written anew, empty for what is no picture; width, height: of it,
    in pixels.
    """

    media_type: str
    picture: bytes = b""
    width: int = 0
    height: int = 0
