"""The parts of a question: times, amounts, ranks, excluded states, and words that nothing explains."""

from __future__ import annotations

import pytest

from agents.business.database import BusinessDatabase
from agents.business.replies import load_replies
from agents.understanding.comparisons import find_amounts
from agents.understanding.entities import load_shipped_extractor
from agents.understanding.times import find_time
from tests.agents.business.asking import TODAY
from tests.agents.business.shop import SHOP, shop_queries


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("上上周", "2026-11-02", "2026-11-09"),
        ("上周一到周三", "2026-11-09", "2026-11-12"),
        ("三月中旬", "2026-03-11", "2026-03-21"),
        ("上个月中旬", "2026-10-11", "2026-10-21"),
        ("国庆那几天", "2026-10-01", "2026-10-08"),
        ("去年双十一", "2025-11-11", "2025-11-12"),
        ("双十二", "2025-12-12", "2025-12-13"),
        ("5到8月", "2026-05-01", "2026-09-01"),
        ("去年12月到今年2月", "2025-12-01", "2026-03-01"),
        ("10月1号到7号", "2026-10-01", "2026-10-08"),
        ("4.1", "2026-04-01", "2026-04-02"),
        ("q3", "2026-07-01", "2026-10-01"),
        ("25年12月", "2025-12-01", "2026-01-01"),
        ("一个礼拜内", "2026-11-15", "2026-11-23"),
        ("上两个月", "2026-09-01", "2026-11-01"),
        ("三天前", "2026-11-19", "2026-11-20"),
        ("年底前", "None", "2027-01-01"),
        ("昨天和前天", "2026-11-20", "2026-11-22"),
    ],
)
def test_a_time_is_read_as_days(text: str, start: str, end: str) -> None:
    dates = [entity.text for entity in load_shipped_extractor().extract(text).certain if entity.kind == "date"]
    found, whole = find_time(text, dates, TODAY)
    assert found is not None
    assert whole
    assert (str(found.period.start), str(found.period.end)) == (start, end)


@pytest.mark.parametrize("text", ["去年这个时候", "五一前后", "双十一期间", "3月和5月", "上半年还有今年10月"])
def test_a_time_of_no_certain_days_is_not_taken_for_another(text: str) -> None:
    dates = [entity.text for entity in load_shipped_extractor().extract(text).certain if entity.kind == "date"]
    assert not find_time(text, dates, TODAY)[1]


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ("三百多的那几单", "x >= 300 AND x < 400"),
        ("一百到两百块之间", "x >= 100 AND x <= 200"),
        ("一到两百块", "x >= 100 AND x <= 200"),
        ("不超过五十的", "x <= 50"),
        ("上千的单子", "x >= 1000"),
        ("几百块的", "x >= 100 AND x < 1000"),
        ("比一千块还便宜的", "x < 1000"),
        ("129那单", "x = 129"),
        ("1000左右", "x >= 900 AND x <= 1100"),
        ("1.5万以上", "x >= 15000"),
    ],
)
def test_an_amount_is_a_comparison(text: str, test: str) -> None:
    assert [found.to_sql("x") for found in find_amounts(text)] == [test]


@pytest.mark.parametrize("text", ["买了两件以上", "最贵的三单", "上个月", "超过3单", "满300减30", "一块到的"])
def test_what_counts_something_else_is_no_amount(text: str) -> None:
    assert find_amounts(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "我便宜的那单是哪个",
        "我买了两件以上的是哪些",
        "上半年花了多少，下半年到现在又花了多少",
        "我这个月比上个月多花了多少",
        "去年这个时候我买了什么",
        "我平均一个月花多少",
        "我的订单到哪了还有发票开了没",
    ],
)
def test_a_question_with_words_that_may_change_the_rows_gets_no_plan(text: str) -> None:
    assert shop_queries().plan(text, TODAY) is None


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("我没取消的订单有几个", "我取消的订单有几个"),
        ("我除了耳机还买过什么", "我买过耳机吗"),
        ("我有没有取消的订单", "我取消的订单"),
        ("我的倒数第二单", "我的最近一单"),
        ("我第二贵的订单", "我最贵的订单"),
    ],
)
async def test_what_is_excluded_or_passed_over_is_not_in_the_rows(
    database: BusinessDatabase, text: str, other: str
) -> None:
    rows = []
    for question in (text, other):
        plan = shop_queries().plan(question, TODAY)
        assert plan is not None
        rows.append(set((await database.query(plan.sql, "M0001")).values))
    same = "有没有" in text
    assert rows[0]
    assert (rows[0] == rows[1]) is same
    assert same or not rows[0] & rows[1]


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("我上周买的耳机到哪了 仓库放假了吗", "仓库"),
    ],
)
async def test_a_list_is_told_with_the_words_that_were_not_understood(
    database: BusinessDatabase, text: str, unread: str
) -> None:
    plan = shop_queries().plan(text, TODAY)
    assert plan is not None
    assert not plan.certain
    assert unread in plan.words["unread"]
    rows = await database.query(plan.sql, "M0001")
    told = load_replies(SHOP, database.schema).write(rows, plan, TODAY)
    assert told.startswith(f"您话里的「{plan.words['unread']}」我没有听懂")
    assert "[SQL]" in told


@pytest.mark.parametrize(
    "text", ["我上个月一共花了多少冤枉钱", "我在途的天蓝色包裹有几个", "我取消的绿色订单一共多少钱", "寒假买了什么"]
)
def test_a_number_or_a_list_of_everything_is_never_told_with_words_left_out(text: str) -> None:
    assert shop_queries().plan(text, TODAY) is None
