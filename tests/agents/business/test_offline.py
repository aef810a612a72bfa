from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from agents.business.database import BusinessDatabase, BusinessOptions
from agents.business.offline.queries import load_queries
from agents.business.sample.database import seed_database
from agents.business.schema import load_schema
from agents.understanding.followups import rewrite_by_rules
from agents.understanding.state import Turn
from agents.understanding.utterance import Utterance
from knowledge.errors import InvalidConfiguration
from tests.acceptance import part
from tests.agents.business.asking import SHOP, TODAY, cases, wrong
from tests.agents.business.shop import shop_queries
from tests.services import postgres_database

MIN_RIGHT = 0.77
MAX_WRONG = 0.06
# Of all questions: rows that are not right are worse than none.
FRESH_RIGHT, FRESH_WRONG = 0.5, 0.1
QUERIES = shop_queries()


async def test_questions_get_the_right_rows_and_rather_none_than_wrong_ones(
    database: BusinessDatabase, seeded: Path
) -> None:
    failed, right = await wrong("questions.jsonl", QUERIES, database, seeded)
    assert right >= MIN_RIGHT, failed
    plans = {text: QUERIES.plan(text, TODAY) for text in failed}
    answered = [text for text, plan in plans.items() if plan is not None and "unread" not in plan.words]
    assert len(answered) <= MAX_WRONG * len(cases("questions.jsonl")), answered


async def test_questions_of_an_author_who_saw_the_tables_alone(database: BusinessDatabase, seeded: Path) -> None:
    failed, right = await wrong("fresh.jsonl", QUERIES, database, seeded)
    assert right >= FRESH_RIGHT, failed
    assert len([text for text in failed if QUERIES.plan(text, TODAY)]) <= FRESH_WRONG * 100, failed


@pytest.mark.acceptance
async def test_postgresql_gives_the_same_rows(seeded: Path) -> None:
    async with postgres_database() as url:
        await seed_database(url, TODAY)
        database = BusinessDatabase(BusinessOptions(url, SHOP))
        try:
            failed, right = await wrong("questions.jsonl", QUERIES, database, seeded, every=part(4, 1))
        finally:
            await database.close()
    assert right >= MIN_RIGHT, failed


def test_most_questions_are_understood_to_the_last_word() -> None:
    plans = [plan for case in cases("questions.jsonl") if (plan := QUERIES.plan(case.text, TODAY))]
    assert sum(plan.certain for plan in plans) / len(plans) > 0.8


@pytest.mark.parametrize(
    "text",
    [
        "退货运费谁出",
        "怎么退货",
        "运费怎么算",
        "发票多久能开出来",
        "保修多久",
        "你好",
        "今天天气怎么样",
        "",
        "？？",
        "1",
    ],
)
def test_what_asks_for_no_data_has_no_plan(text: str) -> None:
    assert QUERIES.plan(text, TODAY) is None


@pytest.mark.parametrize(
    "text", ["我的订单到哪了 顺便讲个笑话给大家听", "我买的投影幕布到哪了", "我最近买的耳机和手表哪个更划算"]
)
def test_what_was_not_understood_to_the_last_word_is_not_certain(text: str) -> None:
    plan = QUERIES.plan(text, TODAY)
    assert plan is None or not plan.certain


def test_two_questions_about_different_tables_are_two_statements() -> None:
    plan = QUERIES.plan("我的订单到哪了，退款到账了吗", TODAY)
    assert plan is not None
    assert [part.subject for part in (plan, *plan.also)] == ["delivery", "refunds"]


async def test_two_things_that_are_compared_are_both_listed(database: BusinessDatabase) -> None:
    plan = QUERIES.plan("我买的充电宝和摄像头哪个更贵", TODAY)
    assert plan is not None
    rows = await database.query(plan.sql, "M0001")
    told = " ".join(str(row) for row in rows.values)
    assert "充电宝" in told and "摄像头" in told


async def test_words_of_the_question_are_values_never_sql(database: BusinessDatabase) -> None:
    for text in ("我买过' OR 1=1 --吗", "我买过%吗", "尾号ab'--的订单", "我买的x'); DROP TABLE orders; --到哪了"):
        plan = QUERIES.plan(text, TODAY)
        if plan is not None:
            rows = await database.query(plan.sql, "M0001")
            assert len({row[0] for row in rows.values}) <= 30


def test_times_move_with_today() -> None:
    plans = [QUERIES.plan("我上个月花了多少钱", day) for day in (date(2026, 1, 31), date(2026, 3, 31))]
    first, second = (plan.sql for plan in plans if plan is not None)
    assert "'2025-12-01'" in first
    assert "'2026-02-01'" in second
    assert "'2026-03-01'" in second


SUBJECT = "    table: orders\n    examples: [我的订单]\n    reply: {head: '{order_id}'}"


@pytest.mark.parametrize(
    ("before", "text", "same_as"),
    [
        ("我上个月花了多少钱", "那今年的呢", "我今年花了多少钱"),
        ("我上个月的订单有哪些", "那这个月的呢", "我这个月的订单有哪些"),
        ("我的耳机到哪了", "那手表呢", "我的手表到哪了"),
    ],
)
def test_a_follow_up_completed_by_rules_means_what_is_new_in_it(before: str, text: str, same_as: str) -> None:
    rewritten = rewrite_by_rules(text, [Turn(Utterance(before), "")])
    assert rewritten is not None
    plan, wanted = QUERIES.plan(rewritten, TODAY), QUERIES.plan(same_as, TODAY)
    assert plan is not None
    assert wanted is not None
    assert plan.sql == wanted.sql


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("    reply: {head: a}", "lost"),
        ("    table: orders\n    reply: {head: a}", "examples"),
        (SUBJECT.replace("order_id", "order_idd"), "order_idd"),
        (SUBJECT.replace("[我的订单]", "[]"), "examples"),
        (SUBJECT + "\n    colour: red", "colour"),
        (SUBJECT + "\n    where: orders.id = = 1", "read"),
        (SUBJECT + "\n    searched: nothing", "nothing"),
    ],
)
def test_a_broken_description_names_the_question(tmp_path: Path, broken: str, message: str) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(
        "tables:\n  orders: {description: 订单, owner: id, columns: {id: {type: text, description: 编号}}}\n"
        f"questions:\n  lost:\n{broken}\n",
        encoding="utf-8",
    )
    with pytest.raises(InvalidConfiguration, match="lost") as caught:
        load_queries(path, load_schema(path))
    assert message in str(caught.value)
