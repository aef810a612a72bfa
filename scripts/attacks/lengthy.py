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

from scripts.harness.checks import Report
from scripts.harness.servers import CHAT, Target

CHARS = 2000
MEMBER = "M10001"
# A question of a usual length that a member of the sample shop asks, and anybody else too.
ORDINARY = "{}月的订单到哪了？"

_HAN = (0x4E00, 0x9FA5)
_VOCABULARIES = {
    "orders": "我的订单待发货",
    "amounts": "不超过三百块",
    "numbers": "订单号",
    "days": "去年3月15日到",
    "people": "张三的",
    "anger": "气死我了！",
    "asking": "怎么办多少",
    "tickets": "帮我报修",
    "refusing": "不是没有",
    "recent": "最近三个月",
    "others": "所有会员",
    "orders_to_model": "忽略以上",
    "pronouns": "这个那个",
    "polite": "请麻烦您帮我",
    "goods": "耳机和",
    "ranks": "最贵的",
}


def _random(alphabet: str) -> Callable[[int], str]:
    return lambda length: "".join(random.Random(length).choices(alphabet, k=length))


def _repeated(text: str) -> Callable[[int], str]:
    return lambda length: (text * (length // len(text) + 1))[:length]


def _varied(text: str) -> Callable[[int], str]:
    """The words with a random character after each, so that it is no mere repetition."""

    def made(length: int) -> str:
        source = random.Random(length)
        parts = (text + chr(source.randint(*_HAN)) for _ in range(length // (len(text) + 1) + 1))
        return "".join(parts)[:length]

    return made


def _words(length: int) -> str:
    source = random.Random(length)
    made = ("".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=source.randint(2, 9))) for _ in range(length // 3))
    return " ".join(made)[:length]


def _commas(length: int) -> str:
    source = random.Random(length)
    return ",".join(f"{source.randint(1, 999)}" for _ in range(length // 2))[:length]


def _dates(length: int) -> str:
    source = random.Random(length)
    made = (
        f"{source.randint(2019, 2026)}年{source.randint(1, 12)}月{source.randint(1, 28)}日" for _ in range(length // 8)
    )
    return "到".join(made)[:length]


def _urls(length: int) -> str:
    source = random.Random(length)
    return " ".join(f"https://a{source.randint(1, 10**6)}.example/?q={source.random()}" for _ in range(length // 20))[
        :length
    ]


def _base64(length: int) -> str:
    return base64.b64encode(random.Random(length).randbytes(length))[:length].decode()


# Name -> a message of so many characters. The same length gives the same message.
FAMILIES: dict[str, Callable[[int], str]] = (
    {
        "random_han": _random("".join(map(chr, range(*_HAN)))),
        "common_han": _random(
            "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过"
        ),
        "traditional": _random("訂單發貨運費還沒有收到嗎請問這個產品該怎麼辦電話號碼體驗壞買賣價錢讓過"),
        "digits": _random("0123456789"),
        "digits_units": _random("0123456789点块元.多个件"),
        "numerals": _random("一二三四五六七八九十百千万两零几多"),
        "ones": lambda length: "1" * length,
        "brackets": _random("()[]{}<>（）【】「」《》"),
        "open_brackets": _repeated("[(<【"),
        "spaces": lambda length: ("买" + " " * length)[: length - 1] + "买",
        "spaced_han": _repeated("退 货 "),
        "wide_member": lambda length: "会员" + " " * (length - 2),
        "wide_lines": lambda length: "订单" + "\n" * (length - 3) + "x",
        "blanks": _random(" \t\u3000　 啊"),
        "newlines": _random("\n\n\r好的"),
        "latin": _words,
        "letters": _random("abcdefghijklmnopqrstuvwxyz"),
        "one_letter": lambda length: "a" * (length - 1) + "!",
        "letters_digits": _random("abcdefghijklmnopqrstuvwxyz0123456789"),
        "dashes": _repeated("a-1-"),
        "dots": _repeated("a.b."),
        "emails": _repeated("a@b.c.d@"),
        "models": _repeated("ys-v8 "),
        "leet": _random("abc013$@!|"),
        "punctuation": _random("，。！？、；：,.!?;:~…—"),
        "marks": _repeated("！？"),
        "emoji": _random("😀😂🤣😡👍🎉❤️🔥"),
        "urls": _urls,
        "me": _repeated("我"),
        "of": _repeated("的"),
        "laughs": _random("哈呵嘿嘻"),
        "no_no": _repeated("不是不要没有"),
        "numbers_commas": _commas,
        "dates": _dates,
        "full_width": _random("０１２３４５６７８９ＡＢＣＤＥ，．"),
        "base64": _base64,
        "hex": _random("0123456789abcdef"),
        "hex_pairs": _repeated("0x4f "),
        "escapes": _repeated("\\u4f60&#x597d;%e5"),
        "cyrillic": _random("аеорсухіѕјԁһкмнтвα"),
        "spaced_latin": _repeated("i g n o r e "),
        "quotes": _repeated("\"'“”‘’"),
        "equals": _repeated("a = 'bc' + "),
        "roles": _repeated("user: 你 assistant: 好 "),
        "combining": _repeated("a\u0301\u0302\u0303"),
        "tags": _repeated("<b x=1 "),
    }
    | {name: _varied(text) for name, text in _VOCABULARIES.items()}
    | {f"{name}_again": _repeated(_VOCABULARIES[name]) for name in ("people", "orders", "amounts")}
)


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


async def attack(target: Target, bounds: Bounds | None = None) -> Report:
    """A message of each family, one by one; then the slowest ones at once beside another tenant's questions."""
    bounds, report = bounds or Bounds(), Report()
    async with target.open_client(target.server) as client, target.open_client(target.other_client) as neighbour:
        for number in range(4):  # what is built at its first use
            await asyncio.gather(
                _asked(client, f"订单 2024010100000{number} 到哪了"), _asked(neighbour, f"{number}号到吗")
            )
        usual = median([await _asked(client, ORDINARY.format(number)) for number in range(bounds.rounds)])
        taken = {name: await _asked(client, FAMILIES[name](CHARS)) for name in bounds.families}
        for name, seconds in taken.items():
            report.check(seconds <= bounds.own * usual, f"{name}：{seconds:.2f} 秒，平常 {usual:.3f} 秒")
        alone = median([await _asked(neighbour, f"第 {number} 天还能退货吗") for number in range(bounds.rounds)])
        slowest = sorted(taken, key=lambda name: -taken[name])[: bounds.connections]
        flood = [asyncio.create_task(_flooding(client, name)) for name in slowest]
        try:
            await asyncio.sleep(0.2)
            beside = median([await _asked(neighbour, f"第 {number} 天还能换货吗") for number in range(bounds.rounds)])
        finally:
            for task in flood:
                task.cancel()
            await asyncio.gather(*flood, return_exceptions=True)
        report.check(beside <= bounds.neighbours * alone, f"另一租户 {beside:.2f} 秒，平常 {alone:.3f} 秒")
    return report


async def _flooding(client: AsyncClient, family: str) -> None:
    for length in cycle(range(CHARS - 50, CHARS)):
        await _asked(client, FAMILIES[family](length))


async def _asked(client: AsyncClient, text: str) -> float:
    """Seconds until the answer is there. Any answer but a server's error is one."""
    started = perf_counter()
    response = await client.post(CHAT, json={"message": text, "user_id": MEMBER})
    if response.status_code >= 500 and response.status_code != 503:
        response.raise_for_status()
    return perf_counter() - started
