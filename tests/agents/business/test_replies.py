from __future__ import annotations

from pathlib import Path

import pytest

from agents.business.database import BusinessDatabase
from agents.business.offline.queries import load_queries
from agents.business.replies import load_replies
from agents.business.schema import load_schema
from agents.business.types import Field, Plan, Rows
from knowledge.errors import InvalidConfiguration
from tests.acceptance import some
from tests.agents.business.asking import SHOP, TODAY, Case, asked, cases
from tests.agents.business.shop import shop_queries

SCHEMA = load_schema(SHOP)
QUERIES, REPLIES = shop_queries(), load_replies(SHOP, SCHEMA)


@pytest.mark.parametrize(
    ("text", "caller", "parts"),
    [
        ("我的订单到哪了", "M0001", ["您在途的订单共有 3 笔 [SQL]：", "1. 订单 YD2026112100002", "预计11月23日送达"]),
        ("我的订单到哪了", "M0015", ["您目前没有在途的订单，最近的一笔是：订单 YD2026081600122", "8月18日签收"]),
        ("我有在路上的包裹吗", "M0001", ["您在途的订单共有 3 笔"]),
        ("我的哪个包裹还没发货", "M0015", ["没有查到您待发货的订单 [SQL]。"]),
        ("我的订单到哪了", "M0040", ["没有查到您的订单 [SQL]。"]),
        ("我上个月花了多少钱", "M0001", ["您上个月一共消费 2128 元（1 笔订单"]),
        ("前年我花了多少钱", "M0001", ["没有查到您前年的订单 [SQL]。"]),
        ("我2025年下了几单", "M0001", ["您 2025年的订单共有 2 笔 [SQL]。"]),
        ("100到300元的订单", "M0001", ["您 100到300元的订单共有 12 笔 [SQL]：", "还有 7 笔"]),
        ("我买过冰箱吗", "M0001", ["没有查到您冰箱的购买记录 [SQL]。"]),
        ("YD2026112100002寄到哪个地址", "M0001", ["收货人 林*（138****1037） [SQL]"]),
        ("我绑定的手机号是多少", "M0001", ["姓名 林*，手机号 138****1037"]),
        ("我有几张优惠券能用", "M0001", ["您可用的优惠券共有 1 张 [SQL]。"]),
        (
            "我的YS-W5是哪天买的",
            "M0001",
            ["2025年12月25日（订单 YD2025122500283）：YS-W5 智能手表，1 件"],
        ),
        ("这个月的积分明细", "M0001", ["您这个月的笙豆明细共有 4 条", "11月20日 晒单评价 +30"]),
        ("我在耳机上总共花了多少钱", "M0001", ["您买耳机一共花了 4291 元"]),
    ],
)
async def test_a_reply_says_what_the_rows_say(
    database: BusinessDatabase, text: str, caller: str, parts: list[str]
) -> None:
    plan, rows = await asked(Case(text, caller, ""), QUERIES, database)
    assert plan is not None
    assert rows is not None
    reply = REPLIES.write(rows, plan, TODAY)
    assert [part for part in parts if part not in reply] == [], reply


@pytest.mark.acceptance
async def test_every_reply_cites_its_rows_once_and_shows_no_code(database: BusinessDatabase) -> None:
    columns = [column for table in SCHEMA.tables.values() for column in table.columns.values()]
    codes = {code for column in columns for code, meaning in column.values.items() if code != meaning}
    for case in some(cases("questions.jsonl"), 60):
        plan, rows = await asked(case, QUERIES, database)
        if plan is None or rows is None:
            continue
        reply = REPLIES.write(rows, plan, TODAY)
        assert reply.count("[SQL]") == 1, reply
        assert not {"None", "{", "}"} & set(reply), reply
        assert [code for code in codes if code in reply and code not in case.text] == [], reply


async def test_no_reply_shows_what_is_masked(database: BusinessDatabase) -> None:
    plan, rows = await asked(Case("我绑定的邮箱和默认收货地址", "M0001", ""), QUERIES, database)
    assert plan is not None
    assert rows is not None
    reply = REPLIES.write(rows, plan, TODAY)
    assert "member1@" not in reply
    assert "梧桐里" not in reply


def rows_of(*fields: Field, values: tuple[tuple[str | float | None, ...], ...], more: bool = False) -> Rows:
    return Rows(fields, values, ("orders",), more)


def test_rows_of_a_generated_statement_are_told_by_the_descriptions_of_their_columns() -> None:
    rows = rows_of(
        Field("id", "orders", "id"),
        Field("status", "orders", "status"),
        Field("when", "orders", "created_at"),
        values=(("YD1", "paid", "2026-11-20 10:00:00"),),
    )
    assert REPLIES.write(rows, None, TODAY) == "查到的结果：订单号 YD1，订单状态 待发货，下单时间 11月20日 [SQL]。"


def test_an_aggregate_is_called_what_it_is() -> None:
    total = Field("x", "orders", "total", "sum")
    assert REPLIES.write(rows_of(total, values=((12.5,),)), None, TODAY) == "查到的结果：实付金额合计 12.50 [SQL]。"
    assert REPLIES.write(rows_of(total, values=((None,),)), None, TODAY) == "没有查到符合条件的记录 [SQL]。"


def test_a_long_list_is_cut_and_says_so() -> None:
    rows = rows_of(Field("id", "orders", "id"), values=tuple((f"YD{n}",) for n in range(8)), more=True)
    reply = REPLIES.write(rows, None, TODAY)
    assert reply.startswith("查到不止 8 条结果 [SQL]：\n1. 订单号 YD0")
    assert reply.endswith("还有 至少 3 条，可以说得再具体些。")


def test_a_plan_of_another_description_is_told_all_the_same() -> None:
    rows = rows_of(Field("id", "orders", "id"), values=(("YD1",),))
    assert REPLIES.write(rows, Plan("", "unknown"), TODAY) == "查到的结果：订单号 YD1 [SQL]。"


@pytest.mark.parametrize(
    ("reply", "message"),
    [("{head: '{order_idd}'}", "order_idd"), ("{head: a, sum: '{total}'}", "total"), ("{}", "head")],
)
def test_a_broken_template_names_the_question(tmp_path: Path, reply: str, message: str) -> None:
    path = tmp_path / "broken.yaml"
    text = f"questions:\n  lost:\n    table: orders\n    examples: [我的订单]\n    reply: {reply}\n"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidConfiguration, match="lost") as caught:
        load_queries(path, SCHEMA)
    assert message in str(caught.value)
