from __future__ import annotations

import pytest

from agents.understanding.sub_questions import MAX_PARTS, MAX_STRUCTURED_CHARS, split_questions


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ("窗帘能机洗不？熨斗能不能用？", ("窗帘能机洗不？", "熨斗能不能用？")),
        ("1.快递柜在哪 2.取件码丢了咋办 3.超时收钱不", ("快递柜在哪", "取件码丢了咋办", "超时收钱不")),
        ("①怎么开发票②发票多久到", ("怎么开发票", "发票多久到")),
        ("第一，怎么退；第二，多久到账", ("怎么退", "多久到账")),
        ("想了解两件事：1、押金多少 2、几天退", ("想了解两件事：押金多少", "几天退")),
        ("多少钱？几天到？", ("多少钱？", "几天到？")),
        ("我上周买的台灯。能退吗？保修多久", ("我上周买的台灯。能退吗？", "保修多久")),
        ("运费谁出？几天到？我很急。", ("运费谁出？", "几天到？我很急。")),
        ("柜子和床的安装费分别多少", ("柜子的安装费多少", "床的安装费多少")),
        (
            "东楼和西楼的遛狗时间分别是几点",
            ("东楼的遛狗时间是几点", "西楼的遛狗时间是几点"),
        ),
        ("Is it waterproof? Does it work with my phone?", ("Is it waterproof?", "Does it work with my phone?")),
    ],
)
def test_several_questions_are_told_apart(message: str, parts: tuple[str, ...]) -> None:
    assert split_questions(message) == parts


@pytest.mark.parametrize(
    "message",
    [
        "",
        "？？？",
        "能退吗？",
        "能退吗？能退吗？",
        "耳机左边没声音了，怎么办？是不是坏了？",
        "怎么回事？为什么扣我钱？",
        "要红的好？还是蓝的好？",
        "真的吗？运费要我出吗？",
        "你们管不管？多久能来制止",
        "1.打开应用 2.点击设置 3.没有反应",
        "2.5 米的线够不够长",
        "周末我在家。能送到楼下吗？我不在呢",
        "这一单几天能审完？我是门诊，三千块",
        "柜子、床和桌子分别多少钱",
        "我三月份在你们店里订了一套柜子，说好四月装，拖到现在。师傅来了两次，一次缺板，一次量错。谁管？到底什么时候能装？",
        "？".join("abcdefg"),
    ],
)
def test_one_question_or_a_story_stays_whole(message: str) -> None:
    assert split_questions(message) == ()


def test_neither_a_long_message_nor_many_questions_are_split() -> None:
    two = "运费谁出？几天能到？"
    assert split_questions(two)
    assert split_questions("嗯" * MAX_STRUCTURED_CHARS + two) == ()
    assert split_questions("".join(f"第{number}张券怎么用？" for number in range(MAX_PARTS + 1))) == ()
