"""DOCX and XLSX are ZIP archives: what they unpack to is checked before a library opens them."""

from __future__ import annotations

import io
import zipfile

from knowledge.errors import EncryptedDocument, HostileDocument
from knowledge.parsing.base import Source

_STEP = 2**16
_SMALL = 10 * 2**20
"""Bytes; below this a high ratio is harmless and usual (a sheet of equal rows)."""
_ENTITY = b"<!ENTITY"
"""Office never writes one; it is how XML is made to unfold without end."""


def check_archive(source: Source) -> None:
    """Inflates every entry, in steps, and forgets it.

    Raises HostileDocument for a zip bomb or entity definitions, EncryptedDocument, and what zipfile raises on broken
    input.
    """
    limits = source.limits
    with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
        entries = archive.infolist()
        if len(entries) > limits.max_archive_entries:
            raise HostileDocument(source.name, "的压缩包里文件过多，已拒绝")
        if any(entry.flag_bits & 1 for entry in entries):
            raise EncryptedDocument(source.name, "有密码保护，请去掉密码后再上传")
        _check_size(source, sum(entry.file_size for entry in entries))
        unpacked = 0
        for entry in entries:
            tail = b""
            with archive.open(entry) as stream:
                while step := stream.read(_STEP):
                    unpacked += len(step)
                    _check_size(source, unpacked)
                    if _ENTITY in tail + step:
                        raise HostileDocument(source.name, "含有 XML 实体定义，已拒绝")
                    tail = step[-len(_ENTITY) :]


def _check_size(source: Source, unpacked: int) -> None:
    ratio = unpacked / len(source.content)
    if unpacked > source.limits.max_unpacked_bytes or (
        unpacked > _SMALL and ratio > source.limits.max_compression_ratio
    ):
        raise HostileDocument(source.name, "解压后的体积异常（疑似压缩炸弹），已拒绝")
