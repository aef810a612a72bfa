"""Recognises Office files from before 2007 by their bytes; `knowledge.conversion` has to convert them first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from knowledge.errors import BrokenDocument, EncryptedDocument, ReaderMissing
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.office_kinds import ENCRYPTED_PACKAGE, OLD_OFFICE, has_streams
from knowledge.parsing.pieces import Piece

# The suffix under which the same document is read.
MODERN = {".doc": ".docx", ".xls": ".xlsx", ".ppt": ".pptx"}
INSTALL = "apt-get install libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui"


class LegacyParser(Parser):
    """Reads no file. Raises ReaderMissing for an old Office file."""

    signature = OLD_OFFICE

    def _read_pieces(self, source: SourceFile) -> Iterator[Piece]:
        if ENCRYPTED_PACKAGE in source.content:
            raise EncryptedDocument(source.name, "有密码保护，请去掉密码后再上传")
        if not has_streams(source.content, PurePath(source.name).suffix.lower()):
            raise BrokenDocument(source.name, "的内容与扩展名不符，或文件已损坏")
        fix = f"请管理员安装后重新上传：{INSTALL}；或另存为新版格式再上传"
        raise ReaderMissing(source.name, f"是旧版 Office 文件，服务器上还没有装 LibreOffice，{fix}")
        yield
