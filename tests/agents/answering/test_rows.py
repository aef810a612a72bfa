from __future__ import annotations

import pytest

from tests.agents.support import quotes, written

CODES = "\n".join(
    f"故障代码：{code}；含义：{meaning}；处理：{cure}"
    for code, meaning, cure in [
        ("E04", "传感器异常", "擦拭底部 4 个传感器"),
        ("E05", "主刷缠绕", "取出滚刷，剪掉毛发；检查两端轴承"),
        ("E06", "边刷缠绕", "拧下边刷螺丝清理"),
    ]
)
LEVELS = "\n".join(
    f"权益：{name}；银笙：{silver}；金笙：{gold}"
    for name, silver, gold in [("生日礼券", "20 元", "50 元"), ("无理由退货期", "7 天", "15 天")]
)
REFUNDS = "\n".join(
    f"支付方式：{name}；到账时间：{time}；备注：{remark}"
    for name, time, remark in [
        ("余额", "即时", "可在我的钱包查看"),
        ("借记卡", "1～5 个工作日", "视发卡行而定"),
        ("信用卡", "3～7 个工作日", "退回信用额度"),
    ]
)


def table(*lines: str) -> str:
    head, *rows = [f"| {line.replace('；', ' | ')} |" for line in lines]
    return "\n".join([head, f"|{' --- |' * (lines[0].count('；') + 1)}", *rows])


async def reply(question: str, *texts: str) -> str:
    return "".join(await written(question, *texts)).strip()


async def test_the_row_that_is_named_stands_under_the_header_and_is_cited_as_it_stands() -> None:
    said = await reply("E05 怎么办", CODES)
    assert said.replace("；", "，") == table("故障代码；含义；处理", "E05；主刷缠绕；取出滚刷，剪掉毛发，检查两端轴承")
    [(_, quote)] = await quotes("E05 怎么办", CODES)
    assert quote == "故障代码：E05；含义：主刷缠绕；处理：取出滚刷，剪掉毛发；检查两端轴承"


async def test_a_level_in_the_question_picks_its_column() -> None:
    assert await reply("金笙的无理由退货期是几天", LEVELS) == table("权益；金笙", "无理由退货期；15 天")


async def test_a_question_about_the_table_gets_every_row_with_the_column_that_answers() -> None:
    rows = ["余额；即时", "借记卡；1～5 个工作日", "信用卡；3～7 个工作日"]
    assert await reply("退款多久到账", REFUNDS) == table("支付方式；到账时间", *rows)


async def test_what_stands_around_a_table_is_apart_from_it_and_marks_in_cells_are_no_separators() -> None:
    said = "".join(
        await written("滤网多少钱", "名称：滤网；价格：39|49 元\n名称：滤芯；价格：59 元", "滤网另加运费 5 元。")
    )
    first, second = said.split("\n\n", 1)
    assert first == table("名称；价格", "滤网；39\\|49 元")
    assert second.strip() == "滤网另加运费 5 元。"


async def test_a_row_without_its_table_stays_as_it_stands() -> None:
    text = "红灯慢闪：没有联网；红灯常亮：硬件故障"
    assert await reply("红灯是什么意思", text) == text


@pytest.mark.parametrize(
    ("question", "expected", "other"),
    [("YS-V8 的滤网价格", "39 元", "49 元"), ("YS-V8 Max 的滤网价格", "49 元", "39 元")],
)
async def test_a_model_is_not_the_longer_one_that_begins_with_it(question: str, expected: str, other: str) -> None:
    table = "适用：YS-V8；名称：滤网；价格：39 元\n适用：YS-V8 Max；名称：滤网；价格：49 元"
    said = await reply(question, table)
    assert expected in said
    assert other not in said
