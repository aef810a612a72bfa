"""How much an upload may bring, and where it goes: known before anything else of it is."""

from __future__ import annotations

UPLOADS = "/api/v1/knowledge/documents"
PREVIEWS = f"{UPLOADS}/preview"
# An upload may be as large as this many files of the largest size allowed.
MAX_BATCH = 10
# Names, paths and ids of files, boundaries and other fields, beside the files.
FORM_BYTES = 512 * 1024


def compute_max_bytes(max_file: int) -> int:
    """Bytes of an upload, given those of a file."""
    return max_file * MAX_BATCH + FORM_BYTES
