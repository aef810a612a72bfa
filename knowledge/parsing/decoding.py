"""Decodes the bytes of a text file, or refuses: a wrong guess would fill the knowledge base with garbled text."""

from __future__ import annotations

import codecs

from knowledge.errors import HostileDocument, WrongEncoding

# Share of GB2312 level-1 characters and punctuation among the non-ASCII ones; Chinese prose has over 0.95, Big5 or
# Shift-JIS bytes read as GB18030 have under 0.5.
_MIN_COMMON = 0.7

# Of a text in UTF-16; bytes of other encodings, or in the wrong order, land all over the table of characters.
_MIN_USUAL = 0.9

# What customers' files are in; among all encodings some mainframe's code page always fits.
_DETECTED = ("big5", "big5hkscs", "gb18030", "cp932", "euc_jp", "cp1252", "cp1251")


def decode(name: str, content: bytes, declared: str = "") -> str:
    r"""Decodes a text and normalises its line ends to "\n".

    It tries UTF-8 or UTF-16 by BOM, then UTF-8, `declared`, GB18030, UTF-16, then detection.

    Args:
        name: Name of the file.
        content: The bytes.
        declared: The encoding that the file declares, if any.

    Raises:
        HostileDocument: If it contains NUL.
        WrongEncoding: If no encoding fits safely.
    """
    bom = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if bom:
        text = _decode_strict(content, "utf-16")
    elif b"\0" in content:  # the other half of an ASCII character, or nothing that a text holds
        text = _decode_utf_16(content)
        if text is None:
            raise HostileDocument(name, "含有 NUL 字节，不是正常的文本文件")
    else:
        text = _decode_guess(content, declared)
    if text is None:
        raise WrongEncoding(name, "的文字编码无法识别，请另存为 UTF-8 后再上传")
    if "\0" in text:
        raise HostileDocument(name, "含有 NUL 字符，不是正常的文本文件")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decode_guess(content: bytes, declared: str) -> str | None:
    text = _decode_strict(content, "utf-8-sig")
    if text is None and declared:
        text = _decode_strict(content, declared)
    if text is None:
        text = _decode_strict(content, "gb18030")
        if text is not None and not _is_chinese(text):
            text = None
    if text is None:
        text = _decode_utf_16(content)
    return text if text is not None else _detect_encoding(content)


def _decode_utf_16(content: bytes) -> str | None:
    """Decodes UTF-16 without BOM in the byte order that gives nearly only common characters, if there is one."""
    readings = [
        text for encoding in ("utf-16-le", "utf-16-be") if (text := _decode_strict(content, encoding)) is not None
    ]
    text = max(readings, key=_measure_common_share, default="")
    return text if _measure_common_share(text) >= _MIN_USUAL else None


def _measure_common_share(text: str) -> float:
    """Returns the share of printable ASCII, line ends and characters of GB2312 level 1; 0.0 for a text with NUL."""
    if not text or "\0" in text:
        return 0.0
    sample = text[:100_000]
    return sum(" " <= character <= "~" or character in "\t\r\n" or _is_common(character) for character in sample) / len(
        sample
    )


def _decode_strict(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except (UnicodeError, LookupError):
        return None


def _is_chinese(text: str) -> bool:
    foreign = [character for character in text[:100_000] if not character.isascii()]
    return sum(map(_is_common, foreign)) >= _MIN_COMMON * len(foreign)


def _is_common(character: str) -> bool:
    lead = character.encode("gb2312", "ignore")[:1]
    return not character.isascii() and (b"\xa1" <= lead <= b"\xa3" or b"\xb0" <= lead <= b"\xd7")


def _detect_encoding(content: bytes) -> str | None:
    from charset_normalizer import from_bytes

    best = from_bytes(content, cp_isolation=list(_DETECTED)).best()
    return _decode_strict(content, best.encoding) if best else None
