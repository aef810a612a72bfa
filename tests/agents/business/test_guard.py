from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from agents.business.guard import CALLER, SqlGuard, UnsafeQuery
from agents.business.schema import load_schema
from knowledge.errors import InvalidConfiguration

SCHEMA = """
tables:
  members:
    description: 会员
    owner: id
    columns:
      id: {type: text, description: 会员编号}
      phone: {type: text, description: 手机号, mask: phone}
  orders:
    description: 订单
    owner: member_id
    columns:
      id: {type: text, description: 订单号}
      status: {type: text, description: 状态, values: {paid: 已付款, sent: 已发货}}
      total: {type: number, description: 实付金额（元）}
  items:
    description: 订单商品
    owner: {column: order_id, table: orders, key: id}
    columns:
      id: {type: text, description: 编号}
      order_id: {type: text, description: 订单号}
      name: {type: text, description: 品名}
  products:
    description: 商品
    columns:
      id: {type: text, description: 编号}
      name: {type: text, description: 品名}
"""
ROWS = """
CREATE TABLE members (id, phone, password); CREATE TABLE orders (id, member_id, status, total);
CREATE TABLE items (id, order_id, name); CREATE TABLE products (id, name);
INSERT INTO members VALUES ('m1', '13800000001', 'own'), ('m2', '13900000002', 'foreign');
INSERT INTO orders VALUES ('o1', 'm1', 'paid', 10), ('o2', 'm2', 'foreign', 99);
INSERT INTO items VALUES ('i1', 'o1', '耳机'), ('i2', 'o2', 'foreign');
INSERT INTO products VALUES ('p1', '耳机'), ('p2', '手表');
"""
FOREIGN = ("m2", "o2", "i2", "foreign", "13900000002", 99)


@pytest.fixture
def guard(tmp_path: Path) -> SqlGuard:
    path = tmp_path / "shop.yaml"
    path.write_text(SCHEMA, encoding="utf-8")
    return SqlGuard(load_schema(path), "sqlite", 20)


def run(guard: SqlGuard, sql: str) -> list[tuple[object, ...]]:
    """The rows that the caller m1 gets."""
    with sqlite3.connect(":memory:") as database:
        database.executescript(ROWS)
        return database.execute(guard.check(sql).sql, {CALLER: "m1"}).fetchall()


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT id, total FROM orders", [("o1", 10)]),
        ("SELECT count(*) FROM orders WHERE status = 'paid' OR 1 = 1", [(1,)]),
        ("SELECT o.id, i.name FROM orders AS o JOIN items i ON i.order_id = o.id", [("o1", "耳机")]),
        ("SELECT name FROM items WHERE order_id IN (SELECT id FROM orders)", [("耳机",)]),
        ("SELECT name FROM products ORDER BY id DESC LIMIT 1", [("手表",)]),
        ("SELECT CASE WHEN total > 5 THEN 'a :b' ELSE '' END FROM Orders -- all", [("a :b",)]),
    ],
)
def test_a_question_about_ones_own_rows_is_answered(guard: SqlGuard, sql: str, rows: list[tuple[object, ...]]) -> None:
    assert run(guard, sql) == rows


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM orders WHERE id = 'o2'",
        "SELECT * FROM orders WHERE 1 = 1 OR 'a' = 'a'",
        "SELECT * FROM items",
        "SELECT (SELECT id FROM members WHERE id = 'm2') FROM orders",
        "SELECT m.phone FROM orders o LEFT JOIN members m ON 1 = 1",
        "SELECT i.name FROM orders o RIGHT JOIN items i ON i.order_id <> o.id",
        "SELECT * FROM orders o FULL JOIN items i ON 1 = 0",
        "SELECT max(id), count(*) FROM members",
        "SELECT name FROM items WHERE EXISTS (SELECT id FROM orders WHERE id = 'o2')",
        "SELECT * FROM (SELECT * FROM orders) AS x, (SELECT * FROM members) AS y",
        "SELECT * FROM orders AS members, members AS orders",
    ],
)
def test_no_row_of_another_member_comes_out_however_it_is_asked_for(guard: SqlGuard, sql: str) -> None:
    assert not [value for row in run(guard, sql) for value in row if value in FOREIGN]


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "DROP TABLE orders",
        "SELECT id FROM orders; DELETE FROM orders",
        "SELECT id FROM orders UNION SELECT phone FROM members",
        "WITH x AS (SELECT id FROM orders) SELECT * FROM x",
        "SELECT * FROM sqlite_master",
        "SELECT * FROM main.orders",
        "SELECT * FROM information_schema.tables",
        "SELECT load_extension('x') FROM orders",
        "SELECT pg_sleep(10) FROM orders",
        "SELECT id FROM orders WHERE member_id = :caller",
        "SELECT id FROM orders LIMIT (SELECT 5)",
        "SELECT id INTO stolen FROM orders",
        "SELECT * FROM generate_series(1, 9)",
        "SELECT 1",
        "PRAGMA table_info(orders)",
        "ATTACH DATABASE 'x' AS y",
        "SELECT CAST(phone AS INTEGER) FROM members",
        "SELECT id FROM orders" + " WHERE 1 = 1" + " AND 1 = 1" * 500,
        "SELECT " + "(" * 5000 + "1" + ")" * 5000 + " FROM orders",
    ],
)
def test_everything_but_one_plain_select_is_refused(guard: SqlGuard, sql: str) -> None:
    with pytest.raises(UnsafeQuery):
        guard.check(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT password FROM members",
        "SELECT member_id FROM orders",
        'SELECT "password" FROM members',
        "SELECT members FROM members",
        "SELECT user FROM members",
        "SELECT rowid FROM members",
        "SELECT x.password FROM (SELECT * FROM members) AS x",
        "SELECT id FROM orders WHERE id IN orders",
        "SELECT id FROM orders WHERE EXISTS (SELECT id FROM items WHERE member_id = 'm2')",
    ],
)
def test_columns_that_are_not_listed_do_not_exist(guard: SqlGuard, sql: str) -> None:
    with pytest.raises(UnsafeQuery):
        guard.check(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT phone FROM members",
        "SELECT m.phone AS id FROM members AS m",
        "SELECT * FROM members",
        "SELECT x.id FROM (SELECT phone AS id FROM members) AS x",
    ],
)
def test_a_masked_column_is_shown_under_its_mask(guard: SqlGuard, sql: str) -> None:
    assert run(guard, sql)[0][-1] == "138****0001"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT substr(phone, 4, 4) FROM members",
        "SELECT phone || '' FROM members",
        "SELECT id FROM members WHERE phone LIKE '138%'",
        "SELECT id FROM members ORDER BY phone",
        "SELECT phone AS p FROM members ORDER BY p",
        "SELECT count(phone) FROM members",
        "SELECT max(phone) FROM members",
        "SELECT CASE WHEN phone > '1380' THEN 1 ELSE 0 END FROM members",
        "SELECT id FROM members WHERE EXISTS (SELECT phone FROM members WHERE phone = '13800000001')",
        "SELECT x.p || '' FROM (SELECT phone AS p FROM members) AS x",
        "SELECT id FROM orders WHERE '13800000001' IN (SELECT phone FROM members)",
        "SELECT m.id FROM members AS m JOIN orders AS o ON m.phone = '13800000001'",
        "SELECT id FROM members GROUP BY id, phone",
    ],
)
def test_nobody_fishes_for_a_masked_value(guard: SqlGuard, sql: str) -> None:
    with pytest.raises(UnsafeQuery, match="masked"):
        guard.check(sql)


@pytest.mark.parametrize(("asked", "limit"), [("", 20), (" LIMIT 3", 3), (" LIMIT 1000", 20), (" LIMIT 5 OFFSET 2", 5)])
def test_no_statement_gives_more_rows_than_the_limit(guard: SqlGuard, asked: str, limit: int) -> None:
    assert f"LIMIT {limit}" in guard.check(f"SELECT id FROM orders{asked}").sql


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("table: orders, key: id", "table: nowhere, key: id"),
        ("table: orders, key: id", "table: products, key: id"),
        ("table: orders, key: id", "table: items, key: id"),
        ("mask: phone", "mask: shoe"),
        (
            "  products:\n    description: 商品\n    columns:\n      id:",
            "  products:\n    description: 商品\n    columns:\n      no:",
        ),
        ("columns:", "columms:"),
    ],
)
def test_a_schema_that_leaves_rows_without_an_owner_is_refused(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text(SCHEMA.replace(old, new), encoding="utf-8")
    with pytest.raises(InvalidConfiguration, match=r"shop\.yaml"):
        load_schema(path)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("mask: phone", "maks: phone", "表 members 的列 phone 里不认识 maks"),
        ("mask: phone", "mask: ", "表 members 的列 phone 的 mask"),
        ("owner: member_id", "onwer: member_id", "表 orders 里不认识 onwer"),
        ("owner: member_id", "owner:", "表 orders 的 owner"),
        ("tables:", "identiy: integer\ntables:", "identiy"),
        ("      status: {type: text,", "      status: {", "表 orders 的列 status 缺 type"),
        ("      status: {", "      on: {", "表 orders 的 columns 里的 True"),
        ("values: {paid: 已付款, sent: 已发货}", "values: [paid]", "表 orders 的列 status 的 values"),
        ("  orders:", "  sales.orders:", "sales.orders"),
        (SCHEMA, "", "顶层"),
        (SCHEMA, "tables:", "tables 是空的"),
    ],
)
def test_a_slip_in_the_schema_is_named_and_opens_nothing(tmp_path: Path, old: str, new: str, told: str) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text(SCHEMA.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InvalidConfiguration, match=told):
        load_schema(path)
