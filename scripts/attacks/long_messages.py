"""Long messages of many kinds, each made to cost one reader or another more than its length."""

from __future__ import annotations

import asyncio
import base64
import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle
from statistics import median
from time import perf_counter

from httpx import AsyncClient

from scripts.attacks.payloads import load_payloads
from scripts.harness.checks import Report
from scripts.harness.servers import CHAT, Target

CHARS = 2000
MEMBER = "M10001"
# A question of a usual length that a member of the sample shop asks, and anybody else too.
ORDINARY = "{}月的订单到哪了？"

_HAN = (0x4E00, 0x9FA5)
_PAYLOADS = load_payloads("long_messages")


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
    **{name: _build_shuffled(alphabet) for name, alphabet in _PAYLOADS["random"].items()},
    **{name: _build_repeated(text) for name, text in _PAYLOADS["repeated"].items()},
    **{name: _build_varied(text) for name, text in _PAYLOADS["varied"].items()},
    **{f"{name}_again": _build_repeated(_PAYLOADS["varied"][name]) for name in ("people", "orders", "amounts")},
}


@dataclass(frozen=True, slots=True)
class Bounds:
    """rounds: ordinary questions before, and of the neighbour during the flood of so many `connections`. A long message
    may take `own` times as long as an ordinary one, and a neighbour's question `neighbours` times as long as before.
    """

    families: tuple[str, ...] = tuple(FAMILIES)

    rounds: int = 12
    connections: int = 8
    own: float = 60.0
    neighbours: float = 300.0


async def run_attack(target: Target, bounds: Bounds | None = None) -> Report:
    """A message of each family, one by one; then the slowest ones at once beside another tenant's questions."""
    bounds, report = bounds or Bounds(), Report()
    async with target.open_client(target.server) as client, target.open_client(target.other_client) as neighbour:
        for number in range(4):  # what is built at its first use
            await asyncio.gather(
                _measure_answer(client, f"订单 2024010100000{number} 到哪了"),
                _measure_answer(neighbour, f"{number}号到吗"),
            )
        usual = median([await _measure_answer(client, ORDINARY.format(number)) for number in range(bounds.rounds)])
        taken = {name: await _measure_answer(client, FAMILIES[name](CHARS)) for name in bounds.families}
        for name, seconds in taken.items():
            report.check(seconds <= bounds.own * usual, f"{name}：{seconds:.2f} 秒，平常 {usual:.3f} 秒")
        alone = median(
            [await _measure_answer(neighbour, f"第 {number} 天还能退货吗") for number in range(bounds.rounds)]
        )
        slowest = sorted(taken, key=lambda name: -taken[name])[: bounds.connections]
        flood = [asyncio.create_task(_send_forever(client, name)) for name in slowest]
        try:
            await asyncio.sleep(0.2)
            beside = median(
                [await _measure_answer(neighbour, f"第 {number} 天还能换货吗") for number in range(bounds.rounds)]
            )
        finally:
            for task in flood:
                task.cancel()
            await asyncio.gather(*flood, return_exceptions=True)
        report.check(beside <= bounds.neighbours * alone, f"另一租户 {beside:.2f} 秒，平常 {alone:.3f} 秒")
    return report


async def _send_forever(client: AsyncClient, family: str) -> None:
    for length in cycle(range(CHARS - 50, CHARS)):
        await _measure_answer(client, FAMILIES[family](length))


async def _measure_answer(client: AsyncClient, text: str) -> float:
    """Seconds until the answer is there. Any answer but a server's error is one."""
    started = perf_counter()
    response = await client.post(CHAT, json={"message": text, "user_id": MEMBER})
    if response.status_code >= 500 and response.status_code != 503:
        response.raise_for_status()
    return perf_counter() - started
