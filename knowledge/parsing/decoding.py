"""Bytes of a text file to str, or a refusal: a wrong guess would fill the knowledge base with mojibake."""

from __future__ import annotations

import codecs

from knowledge.errors import HostileDocument, WrongEncoding

_MIN_COMMON = 0.7
"""Share of GB2312 level-1 characters and punctuation among the non-ASCII ones; Chinese prose has over 0.95, Big5 or
Shift-JIS bytes read as GB18030 have under 0.5."""

_DETECTED = ("big5", "big5hkscs", "gb18030", "cp932", "euc_jp", "cp1252", "cp1251")
"""What customers' files are in; among all encodings some mainframe's code page always fits."""


def decode(name: str, content: bytes, declared: str = "") -> str:
    """Text with "\\n" line ends: UTF-8 or UTF-16 by BOM, then UTF-8, `declared`, GB18030, then detection.

    Raises HostileDocument for NUL, WrongEncoding when nothing fits safely.
    """
    bom = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if not bom and b"\0" in content:
        raise HostileDocument(name, "含有 NUL 字节，不是正常的文本文件")
    text = _strict(content, "utf-16") if bom else _guess(content, declared)
    if text is None:
        raise WrongEncoding(name, "的文字编码无法识别，请另存为 UTF-8 后再上传")
    if "\0" in text:
        raise HostileDocument(name, "含有 NUL 字符，不是正常的文本文件")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _guess(content: bytes, declared: str) -> str | None:
    text = _strict(content, "utf-8-sig")
    if text is None and declared:
        text = _strict(content, declared)
    if text is None:
        text = _strict(content, "gb18030")
        if text is not None and not _reads_as_chinese(text):
            text = None
    return text if text is not None else _detect(content)


def _strict(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except (UnicodeError, LookupError):
        return None


def _reads_as_chinese(text: str) -> bool:
    foreign = [character for character in text[:100_000] if not character.isascii()]
    common = 0
    for character in foreign:
        lead = character.encode("gb2312", "ignore")[:1]
        common += b"\xa1" <= lead <= b"\xa3" or b"\xb0" <= lead <= b"\xd7"
    return common >= _MIN_COMMON * len(foreign)


def _detect(content: bytes) -> str | None:
    from charset_normalizer import from_bytes

    best = from_bytes(content, cp_isolation=list(_DETECTED)).best()
    return _strict(content, best.encoding) if best else None
