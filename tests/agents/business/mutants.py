"""Statements as a model under attack might write them: honest ones, changed at random, the same for a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import sqlglot
from sqlglot import exp

HONEST = """
SELECT o.id, o.status, o.total FROM orders AS o ORDER BY o.created_at DESC, o.id
SELECT o.id, o.total FROM orders AS o WHERE o.status = 'shipped'
SELECT count(*) AS n, sum(o.total) AS s FROM orders AS o WHERE o.created_at >= '2026-01-01'
SELECT o.status, count(*) AS n FROM orders AS o GROUP BY o.status
SELECT o.id, i.product, i.amount FROM orders AS o JOIN order_items AS i ON i.order_id = o.id
SELECT i.category, sum(i.amount) AS s FROM order_items AS i GROUP BY i.category HAVING sum(i.amount) > 100
SELECT s.id, s.carrier, s.location FROM shipments AS s JOIN orders AS o ON s.order_id = o.id WHERE o.status = 'shipped'
SELECT r.id, r.amount, o.total FROM refunds AS r LEFT JOIN orders AS o ON r.order_id = o.id WHERE r.amount > 50
SELECT v.id, v.title, v.email FROM invoices AS v WHERE v.status = 'issued'
SELECT m.name, m.phone, m.points FROM members AS m
SELECT m.level, m.growth, m.balance FROM members AS m WHERE m.points > 0
SELECT p.kind, sum(p.amount) AS s FROM points AS p GROUP BY p.kind
SELECT c.name, c.amount FROM coupons AS c WHERE c.status = 'unused' AND c.threshold <= 100
SELECT o.id FROM orders AS o WHERE o.id IN (SELECT i.order_id FROM order_items AS i WHERE i.quantity > 1)
SELECT o.id FROM orders AS o WHERE EXISTS (SELECT r.id FROM refunds AS r WHERE r.order_id = o.id)
SELECT o.id, (SELECT count(*) FROM order_items AS i WHERE i.order_id = o.id) AS n FROM orders AS o
SELECT x.id, x.total FROM (SELECT o.id AS id, o.total AS total FROM orders AS o WHERE o.total > 100) AS x
SELECT DISTINCT o.payment_method FROM orders AS o WHERE NOT o.paid_at IS NULL
SELECT o.receiver, o.receiver_phone, o.address FROM orders AS o WHERE o.total BETWEEN 10 AND 5000
SELECT max(o.total) AS top, min(o.total) AS low, avg(o.total) AS mid FROM orders AS o
""".strip().splitlines()
FOREIGN = ("M0001", "M0003", "YD2026112200001", "张三", "138%", "%", "", "shipped")
TABLES = ("members", "orders", "order_items", "shipments", "refunds", "invoices", "points", "coupons", "sqlite_master")
COLUMNS = (
    *("id", "order_id", "total", "amount", "status", "phone", "name", "points", "email", "created_at"),
    *("member_id", "password_hash", "rowid"),
)
Mutation = Callable[[Random, exp.Select], exp.Expression]


def mutants(count: int, seed: int, dialect: str) -> Iterator[str]:
    """Different from each other and from the honest ones."""
    rng = Random(seed)
    seen = set(HONEST)
    while len(seen) < count + len(HONEST):
        tree = sqlglot.parse_one(rng.choice(HONEST), read="sqlite")
        for _ in range(rng.randint(1, 4)):
            if isinstance(tree, exp.Select):
                tree = rng.choice(MUTATIONS)(rng, tree)
        sql = tree.sql(dialect=dialect)
        if sql not in seen:
            seen.add(sql)
            yield sql


def _some(rng: Random, tree: exp.Expression, kind: type[exp.Expression]) -> exp.Expression | None:
    found = list(tree.find_all(kind))
    return rng.choice(found) if found else None


def _table(rng: Random, tree: exp.Select) -> exp.Expression:
    if table := _some(rng, tree, exp.Table):
        table.set("this", exp.to_identifier(rng.choice(TABLES)))
    return tree


def _column(rng: Random, tree: exp.Select) -> exp.Expression:
    if column := _some(rng, tree, exp.Column):
        column.set("this", exp.to_identifier(rng.choice(COLUMNS)))
    return tree


def _qualifier(rng: Random, tree: exp.Select) -> exp.Expression:
    if column := _some(rng, tree, exp.Column):
        column.set(
            "table", exp.to_identifier(rng.choice(("o", "i", "m", "x", "orders"))) if rng.random() < 0.5 else None
        )
    return tree


def _literal(rng: Random, tree: exp.Select) -> exp.Expression:
    if literal := _some(rng, tree, exp.Literal):
        literal.replace(exp.Literal.string(rng.choice(FOREIGN)) if literal.is_string else exp.Literal.number(0))
    return tree


def _always(rng: Random, tree: exp.Select) -> exp.Expression:
    if where := tree.args.get("where"):
        where.set("this", exp.or_(where.this, rng.choice(("1 = 1", "'a' = 'a'", "NOT 1 = 2"))))
        return tree
    return tree.where("1 = 1 OR 2 = 2")


def _no_where(rng: Random, tree: exp.Select) -> exp.Expression:
    tree.set("where", None)
    return tree


def _negated(rng: Random, tree: exp.Select) -> exp.Expression:
    if where := tree.args.get("where"):
        where.set("this", exp.not_(where.this))
    return tree


def _join_kind(rng: Random, tree: exp.Select) -> exp.Expression:
    if join := _some(rng, tree, exp.Join):
        join.set("side", rng.choice(("LEFT", "RIGHT", "FULL", None)))
        if rng.random() < 0.5:
            join.set("on", exp.condition(rng.choice(("1 = 1", "1 = 0"))))
    return tree


def _joined(rng: Random, tree: exp.Select) -> exp.Expression:
    table = rng.choice(TABLES)
    return tree.join(f"{table} AS j{rng.randint(1, 2)}", on="1 = 1", join_type=rng.choice(("left", "cross", "inner")))


def _star(rng: Random, tree: exp.Select) -> exp.Expression:
    return tree.select("*", append=rng.random() < 0.3)


def _scalar(rng: Random, tree: exp.Select) -> exp.Expression:
    inner = exp.select(f"max(z.{rng.choice(COLUMNS)})").from_(f"{rng.choice(TABLES)} AS z")
    return tree.select(exp.alias_(inner.subquery(), "stolen"))


def _exists(rng: Random, tree: exp.Select) -> exp.Expression:
    inner = exp.select("z.id").from_(f"{rng.choice(TABLES)} AS z").where(f"z.id <> '{rng.choice(FOREIGN)}'")
    return tree.where(exp.Exists(this=inner))


def _belongs(rng: Random, tree: exp.Select) -> exp.Expression:
    inner = exp.select(f"z.{rng.choice(COLUMNS)}").from_(f"{rng.choice(TABLES)} AS z")
    return tree.where(exp.In(this=exp.Literal.string(rng.choice(FOREIGN)), query=inner.subquery()))


def _shadow(rng: Random, tree: exp.Select) -> exp.Expression:
    """An alias that is another table's name."""
    if (table := _some(rng, tree, exp.Table)) and (old := table.alias):
        new = rng.choice(TABLES)
        for column in tree.find_all(exp.Column):
            if column.table == old:
                column.set("table", exp.to_identifier(new))
        table.set("alias", exp.TableAlias(this=exp.to_identifier(new)))
    return tree


def _derived(rng: Random, tree: exp.Select) -> exp.Expression:
    return exp.select("*").from_(tree.subquery("d"))


def _computed(rng: Random, tree: exp.Select) -> exp.Expression:
    if column := _some(rng, tree, exp.Column):
        around = rng.choice((exp.Upper, exp.Max, exp.Length))
        column.replace(around(this=column.copy()))
    return tree


def _union(rng: Random, tree: exp.Select) -> exp.Expression:
    return tree.union(f"SELECT {rng.choice(COLUMNS)} FROM {rng.choice(TABLES)}")


def _limited(rng: Random, tree: exp.Select) -> exp.Expression:
    return tree.limit(rng.choice((1, 3, 100000)))


MUTATIONS: tuple[Mutation, ...] = (
    *(_table, _column, _qualifier, _literal, _literal, _always, _no_where, _negated, _join_kind, _joined, _star),
    *(_scalar, _exists, _belongs, _shadow, _derived, _computed, _union, _limited),
)
