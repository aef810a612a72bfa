"""Catalogues of products whose codes differ little, by a seeded generator: documents, and questions that spell them
otherwise.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
NOUNS = [
    "压力变送器",
    "反渗透膜",
    "增压泵",
    "剥线钳",
    "测距模块",
    "密封圈",
    "轴承座",
    "电磁阀",
    "滤芯",
    "继电器",
    "温控器",
    "打印头",
    "扫描枪",
    "网关",
    "摄像机",
]
# How a value is written, and how it is asked for.
FIELDS = {
    "价格": ("{} 元", "{code}的价格是多少", "{code}多少钱", "{code}价格", "请问 {code} 怎么卖，多少钱？"),
    "重量": ("{} 克", "{code}有多重", "{code} 的重量是多少", "{code}重量"),
    "功率": ("{} 瓦", "{code}的功率是多少", "{code}功率多大", "想知道{code}的功率"),
    "质保": ("{} 天", "{code}质保多久", "{code}的质保是多少天", "{code}质保"),
}
GENERAL = (
    "# 售后服务\n\n## 退货\n\n签收后七日内，包装完好的商品可以申请退货，运费由买家承担。\n\n"
    "## 发票\n\n订单完成后可在“我的订单”里申请电子发票，通常当天开具。\n\n"
    "## 发货\n\n每天下午四点前付款的订单当天发出，偏远地区晚两天。\n"
)


@dataclass(frozen=True, slots=True)
class Item:
    """A product: its code as the catalogue has it, its name, and the numbers of its fields."""

    code: str
    name: str
    values: dict[str, int]


@dataclass(frozen=True, slots=True)
class CodeQuestion:
    """item: the product that is asked about, None for a code that the catalogue has not got; field: what of it."""

    text: str
    code: str
    item: Item | None
    field: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """documents: names and texts."""

    documents: tuple[tuple[str, str], ...]
    items: tuple[Item, ...]
    questions: tuple[CodeQuestion, ...]


def plain_form(code: str) -> str:
    """A code without case and separators, versions with their points; not by the product, which it tests."""
    code = "".join(chr(ord(sign) - 0xFEE0) if "！" <= sign <= "～" else sign for sign in code).lower()
    if version := re.fullmatch(r"v?(\d+(?:\.\d+)+)", code):
        return version[1]
    return "".join(filter(str.isalnum, code))


def catalogue(seed: int) -> Catalogue:
    """The catalogue of a seed."""
    rng = random.Random(seed)
    codes = _codes(rng)
    fields = rng.sample(list(FIELDS), 2)
    numbers = iter(rng.sample(range(1201, 9900), 200))
    nouns = rng.sample(NOUNS, 3)
    taken = {digits for code in codes for digits in re.findall(r"\d+", code)}
    values = (number for number in numbers if str(number) not in taken)
    held, unheld = codes[:-2], codes[-2:]
    items = tuple(Item(code, rng.choice(nouns), {field: next(values) for field in fields}) for code in held)
    layout = rng.choice((_table, _sections, _list, _glued))
    text = layout(rng.choice(("产品目录", "配件", "选型手册")), [_printed(item, rng) for item in items], fields)
    asked = [*((item.code, item) for item in rng.sample(items, 4)), *((code, None) for code in unheld)]
    questions = []
    for code, item in asked:
        field = rng.choice(fields)
        spelt = _spelt(code, rng)
        questions.append(CodeQuestion(rng.choice(FIELDS[field][1:]).format(code=spelt), spelt, item, field))
    return Catalogue((("catalogue.md", text), ("service.md", GENERAL)), items, tuple(questions))


# --- Codes -----------------------------------------------------------------------------------


def _codes(rng: random.Random) -> list[str]:
    """Ten codes of one or two families, no two with one form; the last two are near the others and not in the base."""
    families = [rng.choice(SCHEMES)(rng) for _ in range(rng.choice((1, 1, 2)))]
    codes = dict.fromkeys(families)
    while len({plain_form(code) for code in codes}) < 10:
        near = _near(rng.choice(list(codes)), rng)
        if plain_form(near) not in {plain_form(code) for code in codes}:
            codes[near] = None
    return list(codes)


def _near(code: str, rng: random.Random) -> str:
    """A code that differs in a digit, a letter or in length."""
    digits = [place for place, sign in enumerate(code) if sign.isdigit()]
    letters = [place for place, sign in enumerate(code) if sign.isalpha() and sign != "V"]
    place = rng.choice(digits)
    match rng.randrange(5):
        case 0 | 1:
            return code[:place] + rng.choice("123456789") + code[place + 1 :]
        case 2:
            return code[: place + 1] + rng.choice("0123456789") + code[place + 1 :]
        case 3 if letters and "." not in code:
            place = rng.choice(letters)
            return code[:place] + rng.choice(LETTERS) + code[place + 1 :]
        case _:
            runs = list(re.finditer(r"\d{2,}", code))
            if not runs:
                return code[:place] + rng.choice("123456789") + code[place + 1 :]
            run = rng.choice(runs)
            return code[: run.end() - 1] + code[run.end() :]


def _letters(rng: random.Random, least: int, most: int) -> str:
    return "".join(rng.choice(LETTERS) for _ in range(rng.randint(least, most)))


def _number(rng: random.Random, least: int, most: int) -> str:
    return rng.choice("123456789") + "".join(rng.choice("0123456789") for _ in range(rng.randint(least, most) - 1))


SCHEMES: tuple[Callable[[random.Random], str], ...] = (
    lambda rng: f"{_letters(rng, 2, 3)}-{_number(rng, 3, 4)}",
    lambda rng: f"{_letters(rng, 2, 3)}-{_number(rng, 3, 3)}{_letters(rng, 1, 1)}",
    lambda rng: f"{_number(rng, 1, 1)}{_letters(rng, 2, 2)}-{_number(rng, 3, 3)}",
    lambda rng: (
        f"{_letters(rng, 1, 1)}{_number(rng, 1, 1)}{_letters(rng, 1, 1)}-{_letters(rng, 1, 1)}{_number(rng, 1, 2)}"
    ),
    lambda rng: f"{_letters(rng, 2, 2)}_{_letters(rng, 2, 2)}{_number(rng, 2, 2)}",
    lambda rng: f"{_letters(rng, 2, 2)}{_number(rng, 2, 2)}{_letters(rng, 1, 1)}{_number(rng, 2, 2)}",
    lambda rng: f"{_number(rng, 2, 2)}-{_number(rng, 4, 4)}/{_number(rng, 1, 1)}",
    lambda rng: f"{_letters(rng, 2, 2)}-{_letters(rng, 1, 1)}{_number(rng, 2, 3)}",
    lambda rng: f"V{_number(rng, 1, 1)}.{_number(rng, 1, 2)}.{_number(rng, 1, 2)}",
    lambda rng: f"{_letters(rng, 2, 2)}{_number(rng, 4, 4)}",
)


def _spelt(code: str, rng: random.Random) -> str:
    """Another spelling of a code, never its own unless it has but one."""
    if "." in code:
        ways = [code.lower(), _wide(code), code.removeprefix("V")]
    else:
        bare = re.sub(r"[-_/]", "", code)
        blank = re.sub(r"[-_/]", " ", code)
        parted = re.sub(r"(?<=[A-Z])(?=\d)", "-", bare, count=1)
        ways = [bare, bare.lower(), code.lower(), _wide(code), _wide(bare).lower(), blank, blank.lower()]
        ways += [code.replace("-", "_"), code.replace("_", "-"), code.replace("-", "–"), parted, parted.lower()]
    return rng.choice([way for way in ways if way != code])


def _wide(code: str) -> str:
    return "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in code)


# --- Documents -------------------------------------------------------------------------------


def _printed(item: Item, rng: random.Random) -> Item:
    """A document is not in one hand either: now and then a code has another case or width."""
    return Item(
        rng.choice((item.code, item.code, item.code, item.code.lower(), _wide(item.code))), item.name, item.values
    )


def _table(title: str, items: list[Item], fields: list[str]) -> str:
    rows = [f"| 编码 | 名称 | {' | '.join(fields)} |", f"|{'---|' * (2 + len(fields))}"]
    rows += [f"| {item.code} | {item.name} | {' | '.join(_told(item, field) for field in fields)} |" for item in items]
    return f"# {title}\n\n" + "\n".join(rows) + "\n"


def _sections(title: str, items: list[Item], fields: list[str]) -> str:
    return f"# {title}\n" + "".join(
        f"\n## {item.code}\n\n{item.code} {item.name}，{_said(item, fields)}。\n" for item in items
    )


def _list(title: str, items: list[Item], fields: list[str]) -> str:
    return f"# {title}\n\n" + "".join(
        f"- {item.code}：{item.name}，{'，'.join(f'{field} {_told(item, field)}' for field in fields)}\n"
        for item in items
    )


def _glued(title: str, items: list[Item], fields: list[str]) -> str:
    """Codes between Chinese words, each in a paragraph of its own."""
    return f"# {title}\n" + "".join(
        f"\n本店{item.code}{item.name}现货供应。它的{_said(item, fields, '为')}。\n" for item in items
    )


def _said(item: Item, fields: list[str], link: str = "") -> str:
    return "，".join(f"{field}{link} {_told(item, field)}" for field in fields)


def _told(item: Item, field: str) -> str:
    return FIELDS[field][0].format(item.values[field])
