"""Checks the unpacked size of DOCX, XLSX (ZIP archives) and PDF (compressed streams) before a library opens them."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator

from knowledge.errors import EncryptedDocument, HostileDocument
from knowledge.parsing.base import SourceFile

_STEP = 2**16
# Bytes; below this a high ratio is harmless and usual (a sheet of equal rows).
_SMALL = 10 * 2**20
# Office never writes one; it is how XML is made to unfold without end.
_ENTITY = b"<!ENTITY"
_STREAM = re.compile(rb"(?<!end)stream\r?\n")
# Bytes before a stream in which its dictionary stands.
_DICTIONARY = 512


def check_archive(source: SourceFile) -> None:
    """Unpacks every entry step by step, keeping nothing.

    Raises:
        HostileDocument: For a zip bomb or entity definitions.
        EncryptedDocument: If an entry needs a password.
        Exception: Whatever zipfile raises on broken input.
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


def check_streams(source: SourceFile) -> None:
    """Unpacks every compressed stream of a PDF except its images: PDFium alone would take 2 GB for 1 MB. PDFium reports
    broken streams itself.

    Raises:
        HostileDocument: If they are too large.
    """
    unpacked = 0
    for match in _STREAM.finditer(source.content):
        dictionary = source.content[max(0, match.start() - _DICTIONARY) : match.start()].rpartition(b" obj")[2]
        if b"/Image" in dictionary:
            continue
        try:
            for size in _measure_inflated(source.content, match.end()):
                unpacked += size
                _check_size(source, unpacked)
        except zlib.error:
            continue


def _measure_inflated(content: bytes, start: int) -> Iterator[int]:
    """Yields the sizes of the steps in which the zlib stream at `start` unpacks.

    Raises:
        zlib.error: If there is none.
    """
    stream = zlib.decompressobj()
    for start_of_part in range(start, len(content), _STEP):
        packed = content[start_of_part : start_of_part + _STEP]
        while packed and not stream.eof:
            yield len(stream.decompress(packed, _STEP))
            packed = stream.unconsumed_tail
        if stream.eof:
            return


def _check_size(source: SourceFile, unpacked: int) -> None:
    ratio = unpacked / len(source.content)
    if unpacked > source.limits.max_unpacked_bytes or (
        unpacked > _SMALL and ratio > source.limits.max_compression_ratio
    ):
        raise HostileDocument(source.name, "解压后的体积异常（疑似压缩炸弹），已拒绝")
