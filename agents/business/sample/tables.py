"""The tables of the sample business database: what a shop's own system might hold, more than the agent may see."""

from __future__ import annotations

from sqlalchemy import Column, Date, DateTime, Float, ForeignKey, Integer, MetaData, Numeric, String, Table
from sqlalchemy.dialects import sqlite

METADATA = MetaData()
MONEY = Numeric(10, 2).with_variant(Float(), "sqlite")
TIME = DateTime().with_variant(sqlite.DATETIME(truncate_microseconds=True), "sqlite")  # type: ignore[no-untyped-call]


def _build_id_column() -> Column[str]:
    return Column("id", String(32), primary_key=True)


def _build_reference(table: str, column: str) -> Column[str]:
    return Column(column, ForeignKey(f"{table}.id"), nullable=False, index=True)


# Tells a database of samples, which may be made anew, from a company's own, which must not.
MARKER = Table("yingda_sample", METADATA, Column("made_on", Date, nullable=False))

Table(
    "members",
    METADATA,
    _build_id_column(),
    Column("name", String(20), nullable=False),
    Column("phone", String(20), nullable=False, unique=True),
    Column("email", String(60), nullable=False),
    Column("address", String(120), nullable=False),
    Column("level", String(10), nullable=False),
    Column("growth", Integer, nullable=False),
    Column("points", Integer, nullable=False),
    Column("balance", MONEY, nullable=False),
    Column("joined_on", Date, nullable=False),
    Column("password_hash", String(64), nullable=False),
)
Table(
    "orders",
    METADATA,
    _build_id_column(),
    _build_reference("members", "member_id"),
    Column("status", String(16), nullable=False),
    Column("created_at", TIME, nullable=False),
    Column("paid_at", TIME),
    Column("goods_amount", MONEY, nullable=False),
    Column("discount", MONEY, nullable=False),
    Column("shipping_fee", MONEY, nullable=False),
    Column("total", MONEY, nullable=False),
    Column("payment_method", String(16)),
    Column("receiver", String(20), nullable=False),
    Column("receiver_phone", String(20), nullable=False),
    Column("address", String(120), nullable=False),
)
Table(
    "order_items",
    METADATA,
    _build_id_column(),
    _build_reference("orders", "order_id"),
    Column("product", String(60), nullable=False),
    Column("category", String(20), nullable=False),
    Column("quantity", Integer, nullable=False),
    Column("unit_price", MONEY, nullable=False),
    Column("amount", MONEY, nullable=False),
)
Table(
    "shipments",
    METADATA,
    _build_id_column(),
    _build_reference("orders", "order_id"),
    Column("carrier", String(20), nullable=False),
    Column("status", String(16), nullable=False),
    Column("location", String(60), nullable=False),
    Column("last_event", String(120), nullable=False),
    Column("updated_at", TIME, nullable=False),
    Column("shipped_at", TIME, nullable=False),
    Column("expected_on", Date, nullable=False),
    Column("delivered_at", TIME),
    Column("signed_by", String(20)),
)
Table(
    "refunds",
    METADATA,
    _build_id_column(),
    _build_reference("orders", "order_id"),
    Column("kind", String(16), nullable=False),
    Column("status", String(16), nullable=False),
    Column("amount", MONEY, nullable=False),
    Column("reason", String(60), nullable=False),
    Column("applied_at", TIME, nullable=False),
    Column("refunded_at", TIME),
)
Table(
    "invoices",
    METADATA,
    _build_id_column(),
    _build_reference("orders", "order_id"),
    Column("status", String(16), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("title", String(60), nullable=False),
    Column("amount", MONEY, nullable=False),
    Column("email", String(60), nullable=False),
    Column("requested_at", TIME, nullable=False),
    Column("issued_at", TIME),
)
Table(
    "points",
    METADATA,
    _build_id_column(),
    _build_reference("members", "member_id"),
    Column("kind", String(16), nullable=False),
    Column("amount", Integer, nullable=False),
    Column("remaining", Integer, nullable=False),
    Column("reason", String(60), nullable=False),
    Column("created_at", TIME, nullable=False),
    Column("expires_on", Date),
)
Table(
    "coupons",
    METADATA,
    _build_id_column(),
    _build_reference("members", "member_id"),
    Column("name", String(40), nullable=False),
    Column("status", String(16), nullable=False),
    Column("threshold", MONEY, nullable=False),
    Column("amount", MONEY, nullable=False),
    Column("received_at", TIME, nullable=False),
    Column("expires_on", Date, nullable=False),
)
