"""Detects the Office format of a file by its bytes, whatever its name says."""

from __future__ import annotations

from pathlib import PurePath

# How OLE files begin, Office files of before 2007 among them.
OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# The stream of an OLE file that holds a password-protected Office document.
ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_ARCHIVE = b"PK\x03\x04"
_PROGRAMS = {".doc": "Word", ".xls": "Excel", ".ppt": "PowerPoint"}
# One of these is in the directory of an OLE file.
_STREAMS = {".doc": ("WordDocument",), ".xls": ("Workbook", "Book"), ".ppt": ("PowerPoint Document",)}
# The part with which a file of the new format begins, mostly; it always lies in that folder of its archive.
_PARTS = {".doc": b"word/document.xml", ".xls": b"xl/workbook.xml", ".ppt": b"ppt/presentation.xml"}
_OTHER_ARCHIVES = frozenset({".epub"})


def has_streams(content: bytes, suffix: str) -> bool:
    """Returns whether an OLE file is of the old format of that suffix."""
    return any(stream.encode("utf-16-le") in content for stream in _STREAMS[suffix])


def describe_disguise(name: str, content: bytes) -> str:
    """Returns what to tell the sender of an Office file with the suffix of another format, to follow its name; else
    empty.
    """
    suffix = PurePath(name.strip()).suffix.lower()
    real = _find_kind(content, suffix)
    if not real or real == suffix:
        return ""
    what = f"其实是{_format_kind(real)}，只是扩展名写成了 {suffix}：" if suffix else f"其实是{_format_kind(real)}："
    return what + _format_advice(real)


def describe_other_kind(content: bytes) -> str:
    """Returns the same for places that read only CSV and XLSX."""
    real = _find_kind(content, ".xlsx")
    if real in ("", ".xlsx"):
        return ""
    saved = "请用 Excel 或 WPS 打开，另存为 .xlsx 再上传" if real == ".xls" else "请把其中的表格另存为 .xlsx 再上传"
    return f"其实是{_format_kind(real)}，这里只读 CSV 和 XLSX：{saved}"


def _format_kind(kind: str) -> str:
    old = kind in _PROGRAMS
    return f"{'旧版' if old else '新版'} {_PROGRAMS[kind if old else kind[:-1]]} 文件（{kind}）"


def _format_advice(real: str) -> str:
    if real in _PROGRAMS:
        return f"请用 Office 或 WPS 打开，另存为 {real}x 再上传，或者把扩展名改回 {real}"
    return f"请把扩展名改为 {real} 再上传"


def _find_kind(content: bytes, suffix: str) -> str:
    """Returns the suffix that the bytes call for; empty for other files. A file that fits its own suffix keeps it."""
    family = suffix.removesuffix("x")
    families = sorted(_PROGRAMS, key=lambda other: other != family)
    if content.startswith(OLD_OFFICE):
        if ENCRYPTED_PACKAGE in content:  # a new one under a password
            return ""
        return next((old for old in families if has_streams(content, old)), "")
    if not content.startswith(_ARCHIVE) or suffix in _OTHER_ARCHIVES:
        return ""
    if family in _PARTS and _PARTS[family].partition(b"/")[0] + b"/" in content:
        return f"{family}x"
    return next((f"{old}x" for old in families if _PARTS[old] in content), "")
