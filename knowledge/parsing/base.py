"""The common part of all parsers: limits, the checks before parsing, and the mapping of library errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loguru import logger

from knowledge.errors import (
    BrokenDocument,
    DocumentTooLarge,
    EmptyDocument,
    EncryptedDocument,
    KnowledgeError,
    ParserFault,
)
from knowledge.parsing.assembly import assemble
from knowledge.parsing.faults import is_fault, list_frames
from knowledge.parsing.limits import ParsingLimits
from knowledge.parsing.office_kinds import ENCRYPTED_PACKAGE, OLD_OFFICE, describe_disguise
from knowledge.parsing.pieces import Piece
from knowledge.types import FaqColumns, ParsedDocument

if TYPE_CHECKING:
    from knowledge.parsing.recognition import Recogniser

_SIGNATURES = {
    b"%PDF-": "PDF",
    b"PK\x03\x04": "ZIP 或 Office",
    OLD_OFFICE: "旧版或加密的 Office",
    b"\x89PNG\r\n": "PNG 图片",
    b"\xff\xd8\xff": "JPEG 图片",
    b"GIF8": "GIF 图片",
    b"\x1f\x8b\x08": "GZIP 压缩",
    b"Rar!\x1a\x07": "RAR 压缩",
    b"7z\xbc\xaf\x27\x1c": "7Z 压缩",
    b"\x7fELF": "可执行",
}
# A PDF may begin with rubbish: readers look for its signature in the first kilobyte.
_HEAD = 1024


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file to be parsed: its checked name, its bytes, the limits in force, the columns of questions and answers."""

    name: str
    content: bytes
    limits: ParsingLimits
    columns: FaqColumns | None = None
    # Reads pictures; None leaves them unread.
    recogniser: Recogniser | None = None


class Parser(ABC):
    """Base of the parsers. A provider writes `_read_pieces`, which may raise anything; callers of `parse` see only
    InvalidDocument and MemoryError.

    `signature`: how the bytes of this format begin; empty for text formats.
    """

    signature: bytes = b""

    @abstractmethod
    def _read_pieces(self, source: SourceFile) -> Iterator[Piece]:
        """Yields the document in reading order. `source.content` is not empty and has the signature of the format."""

    def parse(self, source: SourceFile) -> ParsedDocument:
        """Parses one file. Blocking and CPU bound.

        Raises:
            InvalidDocument: By its subclasses.
            MemoryError: If memory runs out.
        """
        if len(source.content) > source.limits.max_bytes:
            raise DocumentTooLarge(source.name, f"超过 {source.limits.max_bytes / 2**20:.3g} MB 的大小上限")
        if not source.content.strip():
            raise EmptyDocument(source.name, "是空文件")
        self._check_signature(source)
        try:
            return assemble(source.name, self._read_pieces(source), source.limits, source.columns)
        except (KnowledgeError, MemoryError):
            raise
        except Exception as error:  # a library may raise anything on a broken file; the caller knows one reaction
            if is_fault(error):
                logger.exception("a parser of ours failed at a file")
                reason = "没能读完：解析程序自身出错，不一定是文件的问题，请把文件反馈给技术支持"
                raise ParserFault(source.name, reason, list_frames(error)) from error
            raise BrokenDocument(source.name, "无法解析，文件可能已损坏，或内容与扩展名不符") from error

    def _check_signature(self, source: SourceFile) -> None:
        head = source.content[:_HEAD]
        if self.signature and self.signature not in head and ENCRYPTED_PACKAGE in source.content:
            raise EncryptedDocument(source.name, "有密码保护，请去掉密码后再上传")
        if reason := describe_disguise(source.name, source.content):
            raise BrokenDocument(source.name, reason)
        if self.signature and self.signature in head:
            return
        found = next((kind for signature, kind in _SIGNATURES.items() if head.startswith(signature)), "")
        if found:
            raise BrokenDocument(source.name, f"的内容是{found}文件，与扩展名不符")
        if self.signature:
            raise BrokenDocument(source.name, "的内容与扩展名不符，或文件开头已损坏")
