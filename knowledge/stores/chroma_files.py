"""Checks the files of an embedded Chroma before it opens them: its native code reads beyond the end of a truncated
graph, which ends the process.
"""

from __future__ import annotations

import json
from pathlib import Path
from struct import Struct

from knowledge.damage import find_sqlite_damage
from knowledge.stores.base import CHROMA_DATABASE

# How hnswlib's begins: version, offset of level 0, room, elements, bytes of one and offset of its label.
_HEADER = Struct("<i5Q")
_HEADER_BYTES, _VERSION = 100, 1


def find_damage(folder: Path) -> str:
    """Describes the damage in the folder of all collections; empty if there is none, or no folder."""
    if not folder.is_dir():
        return "not a folder" if folder.exists() else ""
    for file in folder.glob("kb-*.json"):
        try:
            recorded = json.loads(file.read_bytes())
            if not {"built_by", "has_rows"} <= recorded.keys():
                raise ValueError("not what was written there")
        except (ValueError, AttributeError) as error:
            return f"{file.name}: {error}"
    if wrong := find_sqlite_damage(folder / CHROMA_DATABASE):
        return f"{CHROMA_DATABASE}: {wrong}"
    return next(
        (f"{header.parent.name}: cut off" for header in folder.glob("*/header.bin") if _is_cut_short(header)), ""
    )


def _is_cut_short(header: Path) -> bool:
    """Returns whether a graph has fewer vectors than its header says; False if another version wrote it."""
    content = header.read_bytes()
    if len(content) < _HEADER_BYTES or not any(content):
        return True
    version, _, _, elements, size, _ = _HEADER.unpack_from(content)
    if len(content) > _HEADER_BYTES or version != _VERSION:
        return False
    vectors, lengths = header.with_name("data_level0.bin"), header.with_name("length.bin")
    return bool(_measure_file(vectors) < elements * size or _measure_file(lengths) < elements * 4)


def _measure_file(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
