"""Every dialect: what the guard writes for it can be read there, and what it alone knows is refused."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from agents.business.engines.dialects import MARK, find_dialect
from agents.business.engines.general import bind_parameters
from agents.business.engines.registry import open_engine
from agents.business.guard import SqlGuard, UnsafeQuery
from agents.business.ownership import build_own_value_counts
from agents.business.schema import load_schema
from knowledge.errors import InvalidConfiguration
from tests.agents.business.mutants import HONEST
from tests.agents.business.shop import SHOP

SCHEMA = load_schema(SHOP)
ALONE = {
    "mysql": (
        "SELECT id INTO OUTFILE '/tmp/x' FROM orders",
        "SELECT id FROM orders PROCEDURE ANALYSE()",
        "SELECT SLEEP(10) FROM orders",
        "SELECT BENCHMARK(1000000, MD5('a')) FROM orders",
        "SELECT LOAD_FILE('/etc/passwd') FROM orders",
        "SELECT GET_LOCK('a', 10) FROM orders",
        "SELECT @@version, @caller FROM orders",
        "SELECT @x := id FROM orders",
        "SELECT id FROM orders PARTITION (p0)",
        "SELECT id FROM orders USE INDEX (x)",
        "SELECT SQL_CALC_FOUND_ROWS id FROM orders",
        "SELECT /*+ MAX_EXECUTION_TIME(0) */ id FROM orders",
        "SELECT id FROM orders LOCK IN SHARE MODE",
        "SELECT id FROM orders o STRAIGHT_JOIN members m ON 1 = 1",
        "SELECT _utf8'abc' FROM orders",
        "SELECT 0x41 FROM orders",
        "SELECT id FROM orders WHERE id = 'a\\'",
        "SELECT id FROM orders WHERE id = '\\\\'",
        "SELECT id FROM orders WHERE id = BINARY 'x'",
        "SELECT id FROM orders WHERE MATCH(id) AGAINST ('x')",
        "SELECT id AS `a``b` FROM orders",
        "SELECT id FROM mysql.user",
        "DO SLEEP(10)",
        "HANDLER members OPEN",
    ),
    "duckdb": (
        "SELECT * FROM 'members.csv'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM glob('/*')",
        "SELECT COLUMNS('.*') FROM members",
        "SELECT * EXCLUDE (id) FROM members",
        "SELECT * REPLACE ('x' AS phone) FROM members",
        "SELECT members FROM members",
        "SELECT id FROM orders USING SAMPLE 10",
        "SELECT id FROM orders QUALIFY 1 = 1",
        "SELECT phone AS p FROM members WHERE p LIKE '138%'",
        "SELECT o.id FROM orders o POSITIONAL JOIN members m",
        "SELECT o.id FROM orders o ASOF JOIN members m ON o.id >= m.id",
        "SELECT o.id FROM orders o SEMI JOIN members m ON m.phone = '13800138000'",
        "SELECT status, count(*) FROM orders GROUP BY ALL",
        "SELECT id FROM orders LIMIT 50%",
        "SELECT getenv('HOME') FROM orders",
        "SELECT [id] FROM orders",
        "SELECT {'a': id} FROM orders",
        "SUMMARIZE members",
        "ATTACH 'x.db'",
        "COPY members TO 'x.csv'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
    ),
}


@pytest.mark.parametrize(("dialect", "sql"), [(dialect, sql) for dialect, all_ in ALONE.items() for sql in all_])
def test_what_one_dialect_alone_knows_is_refused(dialect: str, sql: str) -> None:
    with pytest.raises(UnsafeQuery):
        SqlGuard(SCHEMA, dialect, 20).check(sql)


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "mysql", "duckdb", "trino"])
def test_every_table_stands_for_the_callers_own_rows_in_every_dialect(dialect: str) -> None:
    guard = SqlGuard(SCHEMA, dialect, 20)
    for sql in HONEST:
        written = guard.check(sql, "sqlite")
        tree = sqlglot.parse_one(written.sql, read=dialect)
        assert isinstance(tree, exp.Select) and written.of_caller
        for table in tree.find_all(exp.Table):
            own = table.find_ancestor(exp.Select)
            assert own is not None and own.args.get("where") is not None, sql
            names = [column.name for column in own.args["where"].find_all(exp.Column)]
            owner = SCHEMA.tables[table.name].owner
            assert owner is not None and owner.column in names, sql
    places = {"members": ("phone",), "orders": ("receiver_phone", "id")}
    for at_end in (False, True):
        text = find_dialect(dialect).write(build_own_value_counts(SCHEMA, places, find_dialect(dialect), at_end=at_end))
        assert sqlglot.parse_one(text, read=dialect)


@pytest.mark.parametrize(
    ("dialect", "sql", "part"),
    [
        ("mysql", "SELECT id FROM orders WHERE id IN (SELECT id FROM orders LIMIT 2)", "IN (SELECT * FROM (SELECT"),
        ("mysql", "SELECT id /*! , member_id */ FROM orders # all", "`orders`.`id` AS `id` FROM"),
        ("mysql", 'SELECT id FROM orders WHERE status = "paid"', "= 'paid'"),
        ("mysql", "SELECT id FROM orders WHERE 'a' || 'b'", "'a' OR 'b'"),
        ("mysql", "SELECT id FROM orders LIMIT 2, 500", "LIMIT 20 OFFSET 2"),
    ],
)
def test_a_statement_is_written_as_its_database_wants_it(dialect: str, sql: str, part: str) -> None:
    written = SqlGuard(SCHEMA, dialect, 20).check(sql).sql
    outer = sqlglot.parse_one(written, read=dialect)
    assert part in written and "member_id */" not in written
    assert len(outer.expressions) == 1


def test_the_sign_for_bound_values_cannot_be_forged() -> None:
    guard = SqlGuard(SCHEMA, "mysql", 20)
    for sql in (f"SELECT '{MARK}1' FROM orders", f"SELECT id AS {MARK}1 FROM orders WHERE id = '{MARK}2'"):
        with pytest.raises(UnsafeQuery):
            guard.check(sql)


@pytest.mark.parametrize(
    ("style", "sql", "values"),
    [
        ("qmark", "'100% :p1 ?' = ? OR ? = ?", ("a", "b", "a")),
        ("format", "'100%% :p1 ?' = %s OR %s = %s", ("a", "b", "a")),
        ("pyformat", "'100%% :p1 ?' = %(p1)s OR %(p2)s = %(p1)s", {"p1": "a", "p2": "b"}),
        ("named", "'100% :p1 ?' = :p1 OR :p2 = :p1", {"p1": "a", "p2": "b"}),
        ("numeric", "'100% :p1 ?' = :1 OR :2 = :1", ("a", "b")),
        ("numeric_dollar", "'100% :p1 ?' = $1 OR $2 = $1", ("a", "b")),
    ],
)
def test_values_are_bound_as_each_driver_wants_them(style: str, sql: str, values: object) -> None:
    given = f"'100% :p1 ?' = {MARK}1 OR {MARK}2 = {MARK}1"
    assert bind_parameters(given, ("a", "b"), style) == (sql, values)
    assert bind_parameters("'100%'", (), style) == ("'100%'", None)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("trino://x/y", "trino"),
        ("mysql+nonsense://x/y", "pymysql"),
        ("mysql+aiomysql://x/y", "pymysql"),
        ("firebird://x/y", "不支持 firebird"),
        ("postgresql://x/y?nonsense=1", "nonsense"),
    ],
)
def test_a_missing_driver_or_an_unknown_database_is_named_at_the_start(url: str, told: str) -> None:
    with pytest.raises(InvalidConfiguration, match=told):
        open_engine(url, SCHEMA.list_readable(), 1.0)
