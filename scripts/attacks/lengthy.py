"""Long messages of many kinds, each made to cost one reader or another more than its length."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable

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
    made = (f"{source.randint(2019, 2026)}年{source.randint(1, 12)}月{source.randint(1, 28)}日" for _ in range(length // 8))
    return "到".join(made)[:length]


def _urls(length: int) -> str:
    source = random.Random(length)
    return " ".join(f"https://a{source.randint(1, 10**6)}.example/?q={source.random()}" for _ in range(length // 20))[
        :length
    ]


def _base64(length: int) -> str:
    return base64.b64encode(random.Random(length).randbytes(length))[:length].decode()


FAMILIES: dict[str, Callable[[int], str]] = {
    "random_han": lambda length: "".join(chr(random.Random(length + i).randint(*_HAN)) for i in range(length)),
    "common_han": _random("的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经"),
    "traditional": _random("訂單發貨運費還沒有收到嗎請問這個產品該怎麼辦電話號碼體驗壞買賣價錢讓過時間點開關雙聽說讀寫"),
    "digits": _random("0123456789"),
    "digits_units": _random("0123456789点块元.多个件"),
    "numerals": _random("一二三四五六七八九十百千万两零几多"),
    "ones": lambda length: "1" * length,
    "brackets": _random("()[]{}<>（）【】「」《》"),
    "open_brackets": _repeated("[(<【"),
    "spaces": lambda length: ("买" + " " * length)[: length - 1] + "买",
    "spaced_han": _repeated("退 货 "),
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
} | {name: _varied(text) for name, text in _VOCABULARIES.items()} | {
    f"{name}_again": _repeated(text) for name, text in _VOCABULARIES.items()
}
"""Name -> a message of so many characters. The same length gives the same message."""
