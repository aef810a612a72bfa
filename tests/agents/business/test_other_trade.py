"""A clinic's database: nothing of the offline layer is about shops."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from agents.business.database import BusinessDatabase, BusinessOptions
from agents.business.offline.queries import load_queries
from agents.business.replies import load_replies
from agents.business.schema import load_schema
from tests.agents.business.asking import HERE, SHOP, TODAY, cases, wrong

CLINIC = HERE / "clinic/clinic.yaml"
OFFLINE = SHOP.parent / "offline"


async def test_another_trade_needs_another_yaml_alone(tmp_path: Path) -> None:
    seeded = tmp_path / "clinic.sqlite3"
    with closing(sqlite3.connect(seeded)) as connection:
        connection.executescript((HERE / "clinic/clinic.sql").read_text("utf-8"))
    schema = load_schema(CLINIC)
    queries, replies = load_queries(CLINIC, schema), load_replies(CLINIC, schema)
    database = BusinessDatabase(BusinessOptions(f"sqlite:///{seeded}", CLINIC))
    try:
        failed, _ = await wrong("clinic/questions.jsonl", queries, database, seeded)
        assert failed == []
        plan = queries.plan("我预约的号是什么时候", TODAY)
        assert plan is not None
        reply = replies.write(await database.query(plan.sql, "7"), plan, TODAY)
    finally:
        await database.close()
    assert reply == "预约 GH20261201001：12月1日 09:30 口腔科 李医生，已预约，候诊 12 号 [SQL]。"


@pytest.mark.parametrize(("name", "least", "most"), [("travel/questions", 0.9, 0.04), ("travel/fresh", 0.45, 0.12)])
async def test_a_travel_agency_needs_another_yaml_alone(tmp_path: Path, name: str, least: float, most: float) -> None:
    seeded, described = tmp_path / "travel.sqlite3", HERE / "travel/travel.yaml"
    with closing(sqlite3.connect(seeded)) as connection:
        connection.executescript((HERE / "travel/travel.sql").read_text("utf-8"))
    database = BusinessDatabase(BusinessOptions(f"sqlite:///{seeded}", described))
    queries = load_queries(described, database.schema)
    try:
        failed, right = await wrong(f"{name}.jsonl", queries, database, seeded)
    finally:
        await database.close()
    answered = [text for text in failed if queries.plan(text, TODAY)]
    assert right >= least, failed
    assert len(answered) <= most * len(cases(f"{name}.jsonl")), answered


def test_no_word_of_a_trade_is_in_the_code() -> None:
    goods = yaml.safe_load(SHOP.read_text("utf-8"))["goods"]
    words = [
        *goods,
        "订单",
        "快递",
        "物流",
        "退款",
        "发票",
        "积分",
        "笙豆",
        "会员",
        "优惠券",
        "挂号",
        "orders",
        "shipments",
    ]
    for path in [*OFFLINE.glob("*.py"), SHOP.parent / "replies.py", SHOP.parent / "wording.py"]:
        code = re.sub(r'"""[\s\S]*?"""', "", path.read_text("utf-8"))
        assert [word for word in words if word in code] == [], path.name
