"""The forms in which one message is read: as it stands, freed from disguises, and with its payloads decoded."""

from __future__ import annotations

import base64
import binascii
import re
from urllib.parse import unquote

from knowledge.text import clean, fold

_SPACED_LATIN = re.compile(r"(?<![a-z0-9])[a-z0-9@$](?:[\s._*|~·•/\\+-]{1,3}[a-z0-9@$]){3,}(?![a-z0-9])")
_SPACED_CHINESE = re.compile(r"(?<=[\u4e00-\u9fff])[\s._*|~·•/\\+=#^`&%@-]{1,3}(?=[\u4e00-\u9fff])")
_SEPARATOR = re.compile(r"[\s._*|~·•/\\+-]")
_LEET_WORD = re.compile(
    r"(?<![a-z0-9@$])(?=[a-z0-9@$!|]*[a-z])(?=[a-z0-9@$!|]*[0-9@$!|])[a-z0-9@$!|]{3,}(?![a-z0-9@$])"
)
_LEET = str.maketrans("0134578@$!|", "oieastbasil")
# Cyrillic and Greek letters that look Latin.
_LOOKALIKE = str.maketrans("аеорсухіѕјԁһкмнтвαοερικνυ", "aeopcyxisjdhkmhtbaoepikvu")
# Soft hyphens, fillers, variation selectors and tags: seen by nobody, and split words.
_HIDDEN = re.compile("[\u00ad\u034f\u061c\u115f\u1160\u180e\u3164\ufe00-\ufe0f\U000e0000-\U000e01ef]")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX = re.compile(r"(?<![0-9a-fA-F])(?:(?:0x|\\x)?[0-9a-fA-F]{2}[\s,]?){10,}")
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})|&#(?:x([0-9a-fA-F]{2,6})|(\d{2,7}));")
_WORDS = re.compile(r"[a-z]{2,}(?: [a-z]+)+|[\u4e00-\u9fff]{4,}", re.IGNORECASE)


def list_views(text: str) -> list[str]:
    """Returns the folded text first, then each further form that differs from it: 1 to 4 strings."""
    folded = fold(clean(text))
    forms = [folded, _remove_disguise(folded)]
    forms += [fold(clean(payload)) for payload in decode_payloads(text)]
    return list(dict.fromkeys(forms))


def decode_payloads(text: str) -> list[str]:
    """Returns what base64, hexadecimal, percent and character escapes in a message say, where it is words; at most 2
    texts.
    """
    found = [payload for run in _BASE64.findall(text) if (payload := _decode_base64(run))]
    found += [payload for run in _HEX.findall(text) if (payload := _decode_hex(run))]
    plain = _ESCAPED.sub(_decode_character, unquote(text) if "%" in text else text)
    if plain != text and _WORDS.search(plain):
        found.append(plain)
    return found[:2]


def _remove_disguise(folded: str) -> str:
    """Returns i g n o r e, 忽*略, 1gn0re and Cyrillic look-alikes as the words they stand for."""
    text = folded if folded.isascii() else _HIDDEN.sub("", folded).translate(_LOOKALIKE)
    text = _SPACED_LATIN.sub(lambda match: _SEPARATOR.sub("", match.group()), text)
    text = _SPACED_CHINESE.sub("", text)
    return _LEET_WORD.sub(lambda match: match.group().translate(_LEET), text)


def _decode_base64(run: str) -> str | None:
    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _decode_words(base64.b64decode(body + "=" * (-len(body) % 4)))
    except binascii.Error:  # a long word or a path, not a payload
        return None


def _decode_hex(run: str) -> str | None:
    digits = re.sub(r"0x|\\x|[\s,]", "", run)
    return _decode_words(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _decode_words(data: bytes) -> str | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:  # bytes that are no text
        return None
    return text if text.isprintable() and _WORDS.search(text) else None


def _decode_character(match: re.Match[str]) -> str:
    unicode, hexadecimal, decimal = match.groups()
    code = int(decimal) if decimal else int(unicode or hexadecimal, 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
