"""A second generator of catalogues, of another shape: manuals with a section for each model, comparison tables with a
model in each column, and lines of figures; codes of makers and series. Nothing was fitted to it.
"""

from __future__ import annotations

import random

from tests.agents.catalogues import GENERAL, Catalogue, CodeQuestion, Item, plain_form

MAKERS = ("ABB", "Omron", "SMC", "TP", "XQ", "HW", "DELL", "KBT")
ASPECTS = {
    "续航": ("小时", "{}能用多久", "{}续航多少小时"),
    "噪音": ("分贝", "{}噪音多大", "{}的噪音是多少分贝"),
    "容量": ("毫升", "{}容量多大", "{}的容量是多少"),
}


def catalogue(seed: int) -> Catalogue:
    """The catalogue of a seed."""
    rng = random.Random(f"list {seed}")
    maker, series = rng.choice(MAKERS), "".join(rng.choices("ABCDEFGHKMNPRSTWX", k=rng.choice((1, 2))))
    start, step = rng.randrange(100, 900), rng.choice((1, 5, 10, 11))
    shape = rng.choice(("{m}-{s}{n}", "{s}-{n}", "{m} {s}{n}", "{s}{n}-{t}", "{m}/{s}-{n}{t}", "{s}{n}"))
    tail = rng.choice("ABCDE")
    codes = [shape.format(m=maker, s=series, n=start + step * place, t=tail) for place in range(8)]
    asked_absent = codes.pop(rng.randrange(8))
    numbers = rng.sample(range(10200, 19900), 30)
    aspects = rng.sample(list(ASPECTS), 2)
    items = tuple(Item(code, "机型", {aspect: numbers.pop() for aspect in aspects}) for code in codes)
    text = rng.choice((_columns, _manual, _lines))(items, aspects)
    questions = []
    for code, item in [*((item.code, item) for item in rng.sample(items, 3)), (asked_absent, None)]:
        aspect = rng.choice(aspects)
        written = _respelt(code, rng)
        questions.append(CodeQuestion(rng.choice(ASPECTS[aspect][1:]).format(written), written, item, aspect))
    return Catalogue((("list.md", text), ("service.md", GENERAL)), items, tuple(questions))


def _respelt(code: str, rng: random.Random) -> str:
    ways = {code.lower(), code.upper(), code.replace("-", ""), code.replace("-", " "), code.replace("-", "_").lower()}
    ways.add("".join(chr(ord(sign) + 0xFEE0) if sign.isalnum() else sign for sign in code))
    return rng.choice(sorted(way for way in ways if way != code and plain_form(way) == plain_form(code)))


def _say(item: Item, aspect: str) -> str:
    return f"{item.values[aspect]} {ASPECTS[aspect][0]}"


def _columns(items: tuple[Item, ...], aspects: list[str]) -> str:
    head = f"| 参数 | {' | '.join(item.code for item in items)} |\n|{'---|' * (len(items) + 1)}\n"
    rows = (f"| {aspect} | {' | '.join(_say(item, aspect) for item in items)} |\n" for aspect in aspects)
    return f"# 机型对比\n\n{head}{''.join(rows)}"


def _manual(items: tuple[Item, ...], aspects: list[str]) -> str:
    parts = (
        f"\n## {item.code} 规格\n\n" + "".join(f"{aspect}：{_say(item, aspect)}。\n\n" for aspect in aspects)
        for item in items
    )
    return "# 使用手册\n" + "".join(parts)


def _lines(items: tuple[Item, ...], aspects: list[str]) -> str:
    lines = (f"{item.code}，{'，'.join(f'{aspect}{_say(item, aspect)}' for aspect in aspects)}。" for item in items)
    return "# 参数一览\n\n" + "\n\n".join(lines) + "\n"
