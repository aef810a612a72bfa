"""Programs that are called as `soffice` is, and what they do."""

from __future__ import annotations

import io
from pathlib import Path

import docx

_HEAD = '#!/bin/sh\nwhile [ "$1" != --outdir ]; do shift; done\nout="$2/document.docx"; given="$3"\n'


def program(folder: Path, does: str) -> str:
    """The path of a program. Its shell script finds `$given`, the old file, and writes `$out`."""
    path = folder / "soffice"
    path.write_text(_HEAD + does)
    path.chmod(0o755)
    return str(path)


def modern(*paragraphs: str) -> bytes:
    """A DOCX file."""
    made, buffer = docx.Document(), io.BytesIO()
    for paragraph in paragraphs:
        made.add_paragraph(paragraph)
    made.save(buffer)
    return buffer.getvalue()
