from __future__ import annotations

from tests.agents.support import written

TABLE = "\n".join(
    ["项目：续航；P10：8 小时；P20：12 小时；P30：20 小时", "项目：重量；P10：210 克；P20：350 克；P30：500 克"]
)


async def reply(question: str, *texts: str) -> str:
    return "".join(await written(question, *texts)).strip()


async def test_columns_of_a_table() -> None:
    assert (await reply("P10 和 P20 哪个续航长", TABLE)).endswith("| 续航 | 8 小时 | 12 小时 |")


async def test_rows_of_a_table() -> None:
    table = (
        "服务：深度保洁；价格：9 元；起订：80 平方米\n服务：开荒保洁；价格：7 元；起订：90 平方米\n"
        "服务：除螨；价格：150 元；起订：1 张"
    )
    said = await reply("深度保洁和开荒保洁有什么区别", table)
    assert said.endswith("| 深度保洁 | 9 元 | 80 平方米 |\n| 开荒保洁 | 7 元 | 90 平方米 |")
    assert said.count("| 服务 |") == 1


async def test_sentences_of_two_fragments() -> None:
    said = await reply(
        "月卡和年卡哪个划算", "月卡每张 320 元。月卡办卡后三天内可退。", "年卡每张 2680 元。年卡由本人使用。"
    )
    assert said == "月卡每张 320 元。月卡办卡后三天内可退。\n年卡每张 2680 元。年卡由本人使用。"
