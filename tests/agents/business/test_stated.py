"""What a generated statement says by itself is no fact; what it reads is."""

from __future__ import annotations

import pytest

from agents.business.engines.base import StatementFailed
from agents.business.guard import UnsafeQuery
from agents.types import Outcome, RowSource
from tests.agents.business.shop import CALLER, NoQueries, Twins
from tests.agents.business.test_agent import answer_of, asking, say, twin
from tests.agents.models import scripted

__all__ = ["twin"]

AGGREGATES = "SELECT SUM", "SELECT MAX"
INVENTED = "您的余额是 9999"
FROM = "FROM orders AS o"
STATED = [
    f"SELECT '{INVENTED}' AS x {FROM}",
    f"SELECT 9999 AS x {FROM}",
    f"SELECT o.total + 9999 AS x {FROM}",
    f"SELECT o.total - o.total + 9999 AS x {FROM}",
    f"SELECT o.total * 0 * 9999 AS x {FROM}",
    f"SELECT SUM(9999) AS x {FROM}",
    f"SELECT MAX('{INVENTED}') AS x {FROM}",
    f"SELECT COALESCE(o.paid_at, '{INVENTED}') AS x {FROM}",
    f"SELECT CASE WHEN o.id = o.id THEN '{INVENTED}' END AS x {FROM}",
    f"SELECT CASE WHEN o.id <> o.id THEN o.status ELSE '{INVENTED}' END AS x {FROM}",
    f"SELECT '{INVENTED}' || o.id AS x {FROM}",
    f"SELECT UPPER('{INVENTED}') AS x {FROM}",
    f"SELECT TRIM('{INVENTED}') AS x {FROM}",
    f"SELECT (SELECT '{INVENTED}' {FROM} LIMIT 1) AS x {FROM}",
    f"SELECT t.x FROM (SELECT '{INVENTED}' AS x {FROM}) AS t",
    f"SELECT MAX(t.x) FROM (SELECT '{INVENTED}' AS x {FROM}) AS t",
    f"SELECT 1 = 1 AS x {FROM}",
    f"SELECT o.id = o.id AS x {FROM}",
]
READ = [
    f"SELECT COUNT(*) {FROM}",
    f"SELECT COUNT('any') {FROM}",
    f"SELECT SUM(o.total), AVG(o.total), MAX(o.created_at) {FROM}",
    f"SELECT COALESCE(SUM(o.total), 0) {FROM}",
    f"SELECT ROUND(SUM(o.total), 2) {FROM}",
    f"SELECT SUM(CASE WHEN o.status = 'completed' THEN 1 ELSE 0 END) {FROM}",
    f"SELECT o.total * 100 / o.total {FROM}",
    f"SELECT SUBSTRING(o.id, 1, 3) {FROM}",
    f"SELECT (SELECT COUNT(*) {FROM}) {FROM}",
    f"SELECT t.x FROM (SELECT o.total AS x {FROM}) AS t WHERE t.x > 10",
    f"SELECT CASE WHEN o.total > 10 THEN o.id ELSE o.status END {FROM}",
]


@pytest.mark.parametrize("sql", STATED)
async def test_what_a_statement_says_is_not_given_out(twin: Twins, sql: str) -> None:
    with pytest.raises(UnsafeQuery, match="no fact"):
        await twin.database.query(sql, CALLER, facts_only=True)


@pytest.mark.parametrize("sql", [sql for sql in STATED if " AS t" not in sql and not sql.startswith(AGGREGATES)])
async def test_beside_what_is_read_it_is_left_out(twin: Twins, sql: str) -> None:
    try:
        rows = await twin.database.query(sql.replace("SELECT ", "SELECT o.id, ", 1), CALLER, facts_only=True)
    except StatementFailed:
        return
    assert [field.name for field in rows.fields] == ["id"] and rows.values
    assert "9999" not in repr(rows.values)


@pytest.mark.parametrize("sql", READ)
async def test_what_is_read_or_counted_is_a_fact(twin: Twins, sql: str) -> None:
    try:
        rows = await twin.database.query(sql, CALLER, facts_only=True)
    except StatementFailed:  # a type that this database does not take; the guard let it pass
        return
    assert rows.values and len(rows.fields) == len(rows.values[0])


async def test_a_reply_has_facts_only_and_calls_them_what_they_are(twin: Twins) -> None:
    sql = f'SELECT \'{INVENTED}\' AS x, o.id AS "您的余额是9999", COUNT(*) AS "余额9999" {FROM} GROUP BY o.id'
    async with scripted(say(sql)) as llm:
        answer = await answer_of(twin.agent(llm.model, NoQueries()), asking("哪些单子在路上"))
    assert answer.outcome is Outcome.ANSWERED and "[SQL]" in answer.reply
    assert "9999" not in answer.reply + repr(answer.sources)
    assert all(isinstance(source, RowSource) and source.key for source in answer.sources)


@pytest.mark.parametrize("sql", [f"SELECT /*!50000 id */ {FROM}", f"SELECT o.id {FROM} WHERE EXISTS (SELECT {FROM})"])
async def test_a_select_of_nothing_is_refused_and_no_outage(twin: Twins, sql: str) -> None:
    with pytest.raises(UnsafeQuery):
        await twin.database.query(sql, CALLER)
    async with scripted(say(sql)) as llm:
        answer = await answer_of(twin.agent(llm.model, NoQueries()), asking("哪些单子在路上"))
    assert (answer.outcome, answer.sources) == (Outcome.CANNOT_ANSWER, ())
