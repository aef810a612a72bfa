"""Exported conversations in plain text."""

from __future__ import annotations

import pytest

from knowledge.parsing.registry import parse

_LONG = "我昨天在你们店里买的那个云笙耳机今天早上才收到结果发现左边没有声音右边声音也很小"
SAID = [
    ("张三", _LONG),
    ("客服小李", "您好，请先把两只耳机放回充电盒里，盖上盖子等十秒钟以后再取出来重新配对试一下看看"),
    ("张三", "1.2 版本的固件 配对还是不行"),
    ("客服小李", "那可以换货的，七天内免费"),
    ("张三", "好的"),
]


def texts(content: str) -> list[str]:
    return [block.text for block in parse("聊天记录.txt", content.encode()).blocks]


@pytest.mark.parametrize(
    "form",
    [
        "{name} 2024-03-01 10:21:3{n}\n{text}\n",
        "2024-03-01 10:21:3{n} {name}\n{text}",
        "{name} 2024/3/1 下午 10:2{n}\n{text}\n",
        "[2024-03-01 10:21:3{n}] {name}：{text}",
        "{name}(10:21:3{n})：{text}",
        "{name}：{text}",
        "{name}: {text}\n",
    ],
)
def test_every_message_keeps_its_speaker(form: str) -> None:
    shown = [form.format(name=name, text=text, n=n) for n, (name, text) in enumerate(SAID)]
    assert texts("\n".join(shown)) == [message.strip() for message in shown]


def test_a_message_of_several_lines_is_one_and_a_time_alone_belongs_to_nobody() -> None:
    log = "2024年3月1日 10:21\n客户：能退吗？\n收到就坏了。\n客服：可以的。\n10:30\n客户：运费谁出？\n客服：我们承担。"
    assert texts(log) == [
        "2024年3月1日 10:21",
        "客户：能退吗？\n收到就坏了。",
        "客服：可以的。",
        "10:30",
        "客户：运费谁出？",
        "客服：我们承担。",
    ]


def test_fields_of_records_and_timetables_are_no_conversation() -> None:
    fields = "一、型号\n型号：H30\n价格：399\n型号：H10\n价格：199\n"
    assert parse("a.txt", fields.encode()).blocks[0].heading_path == ("一、型号",)
    shops = ("杭州", "北京", "上海", "广州", "成都")
    hours = "一、营业时间\n" + "\n".join(f"{shop}店 09:00-21:00，节假日照常营业。" for shop in shops)
    assert parse("a.txt", hours.encode()).blocks[0].heading_path == ("一、营业时间",)
