"""The name of a document before customers: never the name of its file.

A document without a title has the name of its file instead, which people wrote for their folders: 退货说明_v2_final.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from agents.verification.names import remove_joints
from knowledge.parsing.registry import LEGACY, PARSERS, PICTURES
from knowledge.text import fold
from knowledge.types import Chunk

_SUFFIXES = frozenset((*PARSERS, *PICTURES, *LEGACY))
# A blank beside a Latin word is a part of a name: X10 说明书.
_SEPARATORS = re.compile(r"[_\-–—+]+|(?<![a-zA-Z]) +(?![a-zA-Z])|\s*[(（\[【]\s*\d+\s*[)）\]】]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_EDITION = re.compile(r"(?<=[\u3400-\u9fff])[vV]\d[\d.]*$")


def find_topic(chunk: Chunk) -> str:
    """Returns what a passage is about: its question, its heading or its document's title; empty where none says it."""
    return chunk.question or format_heading(chunk) or format_title(chunk)


def format_title(chunk: Chunk) -> str:
    """Returns the title of a passage's document; where that is the name of a file, the words in it, empty
    without any.
    """
    return _format_name(chunk.document.title, chunk)


def format_heading(chunk: Chunk) -> str:
    """Returns the nearest heading in the same way."""
    return _format_name(chunk.heading_path[-1], chunk) if chunk.heading_path else ""


def _format_name(text: str, chunk: Chunk) -> str:
    name = PurePath(chunk.document.name)
    path = PurePath(text.strip())
    named = path.suffix.lower() in _SUFFIXES
    if not named and text not in (name.name, name.stem):
        return text
    stem = path.stem if named else path.name
    if not _HAN.search(stem) and remove_joints(fold(stem)) in remove_joints(fold(chunk.text)):
        return stem  # a product's own name: YS-1001
    return _extract_words(stem)


def _extract_words(stem: str) -> str:
    """Returns the words of a file's name, without number or date before them, and without number, date and version
    behind.
    """
    parts = [part.strip(" .") for part in _SEPARATORS.split(stem)]
    parts = [_EDITION.sub("", part) for part in parts if part]
    chinese = any(map(_HAN.search, parts))
    while parts and _is_meaningless(parts[-1], chinese=chinese):
        parts.pop()
    while parts and not any(map(str.isalpha, parts[0])):
        del parts[0]
    if len(parts) == 1 and not chinese and parts[0].isupper() and parts[0] != stem:
        return ""  # IMG_20240101: a code
    return " ".join(parts)


def _is_meaningless(part: str, *, chinese: bool) -> bool:
    if chinese:
        return not _HAN.search(part)
    return any(map(str.isdigit, part)) or not any(map(str.isalpha, part))
