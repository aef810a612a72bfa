"""Paths that documents are filed under: folders and a file name, with slashes, whatever the sender's system uses."""

from __future__ import annotations

from app.documents.types import Filing
from app.errors import Forbidden
from knowledge.errors import HostileDocument
from knowledge.parsing.registry import check_name
from knowledge.text import clean

MAX_PATH_CHARS = 500
MAX_DEPTH = 20
MAX_EXTERNAL_ID_CHARS = 200


def parse_filing(path: str, external_id: str = "") -> Filing:
    """Raises HostileDocument for a path or an id that no honest client sends."""
    parts = [part for part in path.replace("\\", "/").split("/") if part.strip(" ") not in ("", ".")]
    if not parts:
        raise HostileDocument(check_name(path or ""), "没有文件名")
    name = check_name(parts[-1])
    if len(parts) > MAX_DEPTH or len(path) > MAX_PATH_CHARS:
        raise HostileDocument(name, f"的路径过长：最多 {MAX_PATH_CHARS} 个字、{MAX_DEPTH} 层")
    checked = "/".join([*_check_folders(parts[:-1], name), name])
    return Filing(checked, _check_external_id(external_id, name))


def normalize_folder(path: str) -> str:
    """Returns a folder's path in the form that documents have it; empty is the top. Raises HostileDocument."""
    return parse_filing(f"{path}/-").folder


def check_folder(path: str) -> str:
    """Normalises the folder that a request names. Raises Forbidden."""
    try:
        return normalize_folder(path)
    except HostileDocument as error:
        raise Forbidden(f"目录“{path[:50]}”{error.reason}", code="unsafe_path") from error


def _check_folders(parts: list[str], name: str) -> list[str]:
    try:
        return [check_name(part) for part in parts]
    except HostileDocument as error:
        raise HostileDocument(name, "的路径不合规：目录名里不能有上级目录、控制字符或系统保留名") from error


def _check_external_id(external_id: str, name: str) -> str:
    checked = external_id.strip()
    if clean(checked) != checked or not checked.isprintable() or len(checked) > MAX_EXTERNAL_ID_CHARS:
        raise HostileDocument(name, f"的外部编号不合规：最多 {MAX_EXTERNAL_ID_CHARS} 个可见字符")
    return checked
