"""Bodies that no honest client sends, made out of the documented examples: seeded, so that each of them can be had
again.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.app.openapi.document import Operation
from tests.security.leaks import example

_NUMBERS = ("NaN", "Infinity", "-Infinity", "1e999", "-0", "1" * 5000, "1e-400", "0.1e1", "9223372036854775808")
_TEXTS = (
    "\0",
    "a\0b",
    "\ud800",
    "\udfff\ud800",
    "\u202eoof",
    "\ufeff",
    "e" + "\u0301" * 3000,
    "ﷺ" * 500,
    "𝕏" * 2000,
    "🏳️‍🌈" * 300,
    "../../etc/passwd",
    "' OR 1=1 --",
    "{{7*7}}${7*7}%s%n",
    "\r\nSet-Cookie: a=b",
    "x" * 70_000,
    "",
    " \t\n",
)
_KINDS: tuple[Any, ...] = (None, True, False, 0, -1, 1.5, 2**63, -(2**200), [], {}, [[]], {"": None}, "1", "true")
_CHARSETS = "utf-16", "gbk", "utf-7", "latin-1", "no-such-charset", "utf-8; charset=utf-16"


@dataclass(frozen=True, slots=True)
class Hostile:
    """One body. kind: what is wrong with it; headers: beside the key."""

    kind: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def hostile(operation: Operation, dice: random.Random) -> Hostile:
    """A body for an operation that takes one."""
    told = example(operation)
    if "multipart/form-data" not in operation.request:
        return dice.choice(_JSON)(told, dice)
    if dice.random() < 0.3:
        return dice.choice(_BYTES)(told, dice)
    made = dice.choice(_FORMS)(dice)
    return replace(made, body=made.body.replace(b'name="files"', b'name="file"')) if "file" in told else made


def _json(kind: str, text: str | bytes, **headers: str) -> Hostile:
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return Hostile(kind, raw, {"content-type": "application/json"} | headers)


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for name, part in inner for place in _places(part, (*path, name)))]


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _with(value[path[0]], path[1:], new)
    return copy


def _somewhere(value: Any, dice: random.Random, new: Any) -> Any:
    return _with(value, dice.choice(_places(value)), new)


_MARK = "\x7fHERE\x7f"


def _raw(value: Any, dice: random.Random, text: str) -> str:
    """The example with something in it that is perhaps no JSON."""
    return _dumped(_somewhere(value, dice, _MARK)).replace(_dumped(_MARK), text)


def _wrong_type(value: Any, dice: random.Random) -> Hostile:
    return _json("wrong type", _dumped(_somewhere(value, dice, dice.choice(_KINDS))))


def _odd_text(value: Any, dice: random.Random) -> Hostile:
    return _json("odd text", _dumped(_somewhere(value, dice, dice.choice(_TEXTS))))


def _odd_number(value: Any, dice: random.Random) -> Hostile:
    return _json("odd number", _raw(value, dice, dice.choice(_NUMBERS)))


def _deep(value: Any, dice: random.Random) -> Hostile:
    depth = dice.choice((50, 500, 5_000, 100_000))
    opening, closing = dice.choice((("[", "]"), ('{"a":', "}")))
    return _json("deep", _raw(value, dice, opening * depth + "1" + closing * dice.choice((0, depth))))


def _twice(value: Any, dice: random.Random) -> Hostile:
    inner = _dumped(value)[1:-1]
    return _json("duplicate keys", "{" + ",".join([inner, inner, _dumped({"message": 1})[1:-1]]) + "}")


def _keys(value: Any, dice: random.Random) -> Hostile:
    names = [dice.choice(("k" * 60_000, "\0", "__proto__", "constructor", "\ud800", "", "a" * 300)) for _ in range(3)]
    many = {f"{dice.choice(names)[:200]}{number}": number for number in range(dice.choice((1, 50, 2000)))}
    many |= dict.fromkeys(names, 1)
    return _json("odd keys", _dumped((value | many) if isinstance(value, dict) else many))


def _cut(value: Any, dice: random.Random) -> Hostile:
    raw = _dumped(value).encode()
    return _json("cut off", raw[: dice.randrange(len(raw))])


def _noise(value: Any, dice: random.Random) -> Hostile:
    raw = bytearray(_dumped(value).encode())
    for _ in range(dice.choice((1, 5, 50))):
        raw[dice.randrange(len(raw))] = dice.randrange(256)
    return _json("noise", bytes(raw))


def _charset(value: Any, dice: random.Random) -> Hostile:
    name = dice.choice(_CHARSETS)
    try:
        raw = json.dumps(value, ensure_ascii=False).encode(name, "replace")
    except LookupError:
        raw = b"\xff\xfe" + _dumped(value).encode()
    return _json("charset", raw, **{"content-type": f"application/json; charset={name}"})


def _encoded(value: Any, dice: random.Random) -> Hostile:
    raw = dice.choice((b"0" * 4_000_000, _dumped(value).encode()))
    packed = dice.choice((gzip.compress(raw, 1), b"\x1f\x8b\x08broken"))
    return _json("encoded", packed, **{"content-encoding": dice.choice(("gzip", "deflate", "br", "x-none"))})


def _mistyped(value: Any, dice: random.Random) -> Hostile:
    kind = dice.choice(
        ("text/plain", "application/xml", "multipart/form-data", "application/x-www-form-urlencoded", "x")
    )
    return Hostile("wrong content type", _dumped(value).encode(), {"content-type": kind})


def _bytes(value: Any, dice: random.Random) -> Hostile:
    return Hostile(
        "bytes", dice.randbytes(dice.choice((0, 1, 100, 50_000))), {"content-type": "application/octet-stream"}
    )


def _archive(value: Any, dice: random.Random) -> Hostile:
    heads = b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"\xef\xbb\xbf", b"%PDF-1.7"
    raw = dice.choice(heads) + dice.randbytes(2000)
    return Hostile("archive", raw, {"content-type": "application/octet-stream"})


def _table(value: Any, dice: random.Random) -> Hostile:
    cell = dice.choice(('"', ",", "\0", "=cmd|' /C calc'!A0", "x" * 200_000, "\r", "\ud800"))
    raw = f"{value.get('file', '')}\n{cell},{cell}\n".encode("utf-8", "surrogatepass")
    return Hostile("table", raw, {"content-type": "application/octet-stream"})


def _form(body: bytes, boundary: str, kind: str) -> Hostile:
    return Hostile(kind, body, {"content-type": f"multipart/form-data; boundary={boundary}"})


def _part(name: str, content: bytes, boundary: str = "b") -> bytes:
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'
    return head.encode("utf-8", "surrogatepass") + content + b"\r\n"


def _boundary(dice: random.Random) -> Hostile:
    boundary = dice.choice(("", "x" * 5000, '"', "b; boundary=c", "\ta", "a b"))
    return _form(_part("a.md", b"# x") + b"--b--\r\n", boundary, "boundary")


def _filename(dice: random.Random) -> Hostile:
    names = (
        "",
        "../../a.md",
        "a" * 5000 + ".md",
        "con.md",
        "a\0.md",
        "\ud800.md",
        "a.md/",
        ".md",
        "a.MD.exe",
        "\u202eexe.md",
    )
    return _form(_part(dice.choice(names), b"# x\n\ny") + b"--b--\r\n", "b", "file name")


def _many_parts(dice: random.Random) -> Hostile:
    field_ = b'--b\r\nContent-Disposition: form-data; name="tags"\r\n\r\nx\r\n'
    part = dice.choice((field_, _part("a.md", b""), b"--b\r\nContent-Disposition: x\r\n\r\n\r\n", b"--b\r\n\r\n"))
    return _form(part * dice.choice((1, 30, 3000)) + b"--b--\r\n", "b", "many parts")


def _unfinished(dice: random.Random) -> Hostile:
    whole = _part("a.md", b"# x\n\ny") + b"--b--\r\n"
    return _form(whole[: dice.randrange(len(whole))], "b", "unfinished form")


def _contents(dice: random.Random) -> Hostile:
    name = dice.choice(("a.pdf", "a.docx", "a.xlsx", "a.html", "a.csv", "a.json", "a.txt", "a.pptx"))
    heads = b"", b"PK\x03\x04", b"%PDF-1.7", b"<" * 5000, b"[" * 5000, b"\xff\xfe"
    return _form(_part(name, dice.choice(heads) + dice.randbytes(500)) + b"--b--\r\n", "b", "file content")


Maker = Callable[[Any, random.Random], Hostile]
_JSON: tuple[Maker, ...] = (
    *(_wrong_type, _odd_text, _odd_number, _deep, _twice, _keys, _cut, _noise, _charset, _encoded, _mistyped),
)
_BYTES: tuple[Maker, ...] = (_bytes, _archive, _table, _encoded, _mistyped)
_FORMS: tuple[Callable[[random.Random], Hostile], ...] = (_boundary, _filename, _many_parts, _unfinished, _contents)
