"""Long messages of many kinds, each made to cost one reader or another more than its length."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from pathlib import Path

import yaml

_HAN = (0x4E00, 0x9FA5)
_TEXTS = yaml.safe_load(Path(__file__).with_name("long_messages.yaml").read_text("utf-8"))


def _build_shuffled(alphabet: str) -> Callable[[int], str]:
    return lambda length: "".join(random.Random(length).choices(alphabet, k=length))


def _build_repeated(text: str) -> Callable[[int], str]:
    return lambda length: (text * (length // len(text) + 1))[:length]


def _build_varied(text: str) -> Callable[[int], str]:
    """The words with a random character after each, so that it is no mere repetition."""

    def write_message(length: int) -> str:
        source = random.Random(length)
        parts = (text + chr(source.randint(*_HAN)) for _ in range(length // (len(text) + 1) + 1))
        return "".join(parts)[:length]

    return write_message


def _write_words(length: int) -> str:
    source = random.Random(length)
    made = ("".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=source.randint(2, 9))) for _ in range(length // 3))
    return " ".join(made)[:length]


def _write_numbers(length: int) -> str:
    source = random.Random(length)
    return ",".join(f"{source.randint(1, 999)}" for _ in range(length // 2))[:length]


def _write_dates(length: int) -> str:
    source = random.Random(length)
    made = (
        f"{source.randint(2019, 2026)}年{source.randint(1, 12)}月{source.randint(1, 28)}日" for _ in range(length // 8)
    )
    return "到".join(made)[:length]


def _write_urls(length: int) -> str:
    source = random.Random(length)
    return " ".join(f"https://a{source.randint(1, 10**6)}.example/?q={source.random()}" for _ in range(length // 20))[
        :length
    ]


def _write_base64(length: int) -> str:
    return base64.b64encode(random.Random(length).randbytes(length))[:length].decode()


# Name -> a message of so many characters. The same length gives the same message.
FAMILIES: dict[str, Callable[[int], str]] = {
    "random_han": _build_shuffled("".join(map(chr, range(*_HAN)))),
    "ones": lambda length: "1" * length,
    "spaces": lambda length: ("买" + " " * length)[: length - 1] + "买",
    "wide_member": lambda length: "会员" + " " * (length - 2),
    "wide_lines": lambda length: "订单" + "\n" * (length - 3) + "x",
    "latin": _write_words,
    "one_letter": lambda length: "a" * (length - 1) + "!",
    "urls": _write_urls,
    "numbers_commas": _write_numbers,
    "dates": _write_dates,
    "base64": _write_base64,
    **{name: _build_shuffled(alphabet) for name, alphabet in _TEXTS["random"].items()},
    **{name: _build_repeated(text) for name, text in _TEXTS["repeated"].items()},
    **{name: _build_varied(text) for name, text in _TEXTS["varied"].items()},
    **{f"{name}_again": _build_repeated(_TEXTS["varied"][name]) for name in ("people", "orders", "amounts")},
}
