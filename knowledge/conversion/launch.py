"""Bounds this process and becomes the program: `python -c BOOT ROOT BOUNDS PROGRAM ARGUMENT…`, see `office`."""

from __future__ import annotations

import json
import os
import sys

from knowledge.sandbox.confinement import limit_program

# Of address space, of which LibreOffice maps 1.5 GB before it has seen a file.
_MEMORY_MB = 4096
# Bytes.
_LARGEST_FILE = 256 * 2**20


def main() -> None:
    """Applies the limits, then replaces this process by the program. Does not return."""
    _, bounds, program, *arguments = sys.argv
    seconds, parent = json.loads(bounds)
    limit_program(_MEMORY_MB, seconds, _LARGEST_FILE, parent)
    os.execv(program, [program, *arguments])
