"""Generates orders of the sample shop with items, parcels, refunds and invoices, by how long ago they were made."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from random import Random

from agents.business.sample.catalogue import (
    ACCESSORIES,
    CARRIERS,
    CITIES,
    COMPANIES,
    PAYMENTS,
    PRODUCTS,
    REASONS,
    SIGNERS,
    WAREHOUSES,
)
from agents.business.sample.people import Row

DAYS = 365
# Days ago of the orders that the first members have, so that each state of an order is there to ask about.
RECENT = (0, 1, 2, 3, 6, 9, 15)
REFUND_STEPS = ((7, "refunded"), (6, "refunding"), (4, "inspecting"), (1, "returning"), (0, "reviewing"))
PARCELS = {1: "collected", 2: "in_transit", 3: "delivering"}


@dataclass(slots=True)
class Purchases:
    """The rows by table, as they are generated."""

    rng: Random
    today: date
    orders: list[Row] = field(default_factory=list)
    order_items: list[Row] = field(default_factory=list)
    shipments: list[Row] = field(default_factory=list)
    refunds: list[Row] = field(default_factory=list)
    invoices: list[Row] = field(default_factory=list)

    def add_purchase(self, member: Row, age: int, state: str = "") -> None:
        """Adds an order of `age` days ago with all that followed. state: of the order, by its age when empty."""
        order = self._add_order(member, age, state or self._choose_state(age))
        sent = order["status"] in ("shipped", "delivered", "completed")
        parcels = (
            [self._add_parcel(order, age) for _ in range(2 if len(self._list_items(order)) > 2 else 1)] if sent else []
        )
        if order["status"] == "cancelled" and order["paid_at"] is not None:
            self._add_refund(order, "refund", order["total"], order["paid_at"] + timedelta(hours=2))
        arrived = max((parcel["delivered_at"] for parcel in parcels if parcel["delivered_at"]), default=None)
        if arrived is None:
            return
        if age in (6, 9) or self.rng.random() < 0.15:
            item = self.rng.choice(self._list_items(order))
            applied = min(arrived + timedelta(days=self.rng.randint(1, 4), hours=1), self._build_moment(self.today, 0))
            self._add_refund(order, "return", min(item["amount"], order["total"]), applied)
        if self.rng.random() < 0.5:
            self._add_invoice(order, member, arrived + timedelta(hours=self.rng.randint(2, 20)))

    def _list_items(self, order: Row) -> list[Row]:
        return [item for item in self.order_items if item["order_id"] == order["id"]]

    def _choose_state(self, age: int) -> str:
        if age > 1 and self.rng.random() < 0.07:
            return "cancelled"
        return "paid" if age < 2 else "shipped" if age < 5 else "delivered" if age < 13 else "completed"

    def _add_order(self, member: Row, age: int, state: str) -> Row:
        created = self._build_moment(self.today - timedelta(days=age), 0 if age == 0 else self.rng.randint(9, 15))
        number = f"YD{created:%Y%m%d}{len(self.orders) + 1:05d}"
        goods = sum(self._add_item(number, position) for position in range(1, self.rng.choice((1, 1, 1, 2, 2, 3)) + 1))
        discount = self.rng.choice((0, 0, 0, 30)) if goods >= 300 else 0
        fee = 0 if goods >= 99 else 8
        paid = state != "unpaid" and not (state == "cancelled" and self.rng.random() < 0.5)
        order = {
            "id": number,
            "member_id": member["id"],
            "status": state,
            "created_at": created,
            "paid_at": created + timedelta(minutes=self.rng.randint(1, 12)) if paid else None,
            "goods_amount": float(goods),
            "discount": float(discount),
            "shipping_fee": float(fee),
            "total": float(goods - discount + fee),
            "payment_method": self.rng.choice(PAYMENTS) if paid else None,
            "receiver": member["name"],
            "receiver_phone": member["phone"],
            "address": member["address"],
        }
        self.orders.append(order)
        return order

    def _add_item(self, order: str, position: int) -> int:
        """Adds an item and returns its amount."""
        bought = {item["product"] for item in self.order_items if item["order_id"] == order}
        pool = ACCESSORIES if self.rng.random() < 0.3 else PRODUCTS
        product, category, price = self.rng.choice([entry for entry in pool if entry[0] not in bought])
        quantity = self.rng.choice((1, 1, 2)) if price < 300 else 1
        self.order_items.append(
            {
                "id": f"{order}-{position}",
                "order_id": order,
                "product": product,
                "category": category,
                "quantity": quantity,
                "unit_price": float(price),
                "amount": float(price * quantity),
            }
        )
        return price * quantity

    def _add_parcel(self, order: Row, age: int) -> Row:
        carrier, prefix = self.rng.choice(CARRIERS)
        city = next(city for area, city in CITIES if order["address"].startswith(area))
        shipped = self._build_moment(order["created_at"].date(), 18)
        arrives = shipped.date() + timedelta(days=self.rng.randint(2, 4))
        arrived = order["status"] != "shipped"
        delivered = self._build_moment(arrives, self.rng.randint(10, 19)) if arrived else None
        status = "delivered" if arrived else PARCELS.get(age, "failed")
        warehouse = self.rng.choice(WAREHOUSES)
        location, event = {
            "collected": (warehouse, f"{warehouse}已揽收，准备发往{city}"),
            "in_transit": (f"{city}转运中心", f"快件已到达{city}转运中心"),
            "delivering": (f"{city}营业部", f"{city}营业部正在派送，请保持电话畅通"),
            "failed": (f"{city}营业部", "派送时联系不上收件人，明天再次派送"),
            "delivered": (f"{city}营业部", "快件已签收"),
        }[status]
        parcel = {
            "id": f"{prefix}{shipped:%m%d}{len(self.shipments) + 1:06d}{self.rng.randint(100, 999)}",
            "order_id": order["id"],
            "carrier": carrier,
            "status": status,
            "location": location,
            "last_event": event,
            "updated_at": delivered
            or (shipped if age == 1 else self._build_moment(self.today - timedelta(days=1), 21)),
            "shipped_at": shipped,
            "expected_on": arrives if arrived else max(arrives, self.today + timedelta(days=age < 3)),
            "delivered_at": delivered,
            "signed_by": self.rng.choice(SIGNERS) if arrived else None,
        }
        self.shipments.append(parcel)
        return parcel

    def _add_refund(self, order: Row, kind: str, amount: float, applied: datetime) -> None:
        days = (self.today - applied.date()).days
        status = next(status for least, status in REFUND_STEPS if days >= least)
        if kind == "refund":
            status = "refunded" if days >= 1 else "refunding"
        elif status == "refunded" and self.rng.random() < 0.1:
            status = "rejected"
        self.refunds.append(
            {
                "id": f"RF{applied:%Y%m%d}{len(self.refunds) + 1:04d}",
                "order_id": order["id"],
                "kind": kind,
                "status": status,
                "amount": amount,
                "reason": "未发货取消订单" if kind == "refund" else self.rng.choice(REASONS),
                "applied_at": applied,
                "refunded_at": applied + timedelta(days=6 if kind == "return" else 1) if status == "refunded" else None,
            }
        )

    def _add_invoice(self, order: Row, member: Row, requested: datetime) -> None:
        company = self.rng.random() < 0.3
        done = requested.date() < self.today - timedelta(days=2) and self.rng.random() < 0.95
        returned = any(
            refund["order_id"] == order["id"] and refund["amount"] == order["total"] and refund["refunded_at"]
            for refund in self.refunds
        )
        self.invoices.append(
            {
                "id": f"FP{requested:%Y%m%d}{len(self.invoices) + 1:04d}",
                "order_id": order["id"],
                "status": "reversed" if done and returned else "issued" if done else "issuing",
                "kind": "company" if company else "personal",
                "title": self.rng.choice(COMPANIES) if company else "个人",
                "amount": order["total"],
                "email": member["email"],
                "requested_at": requested,
                "issued_at": requested + timedelta(hours=self.rng.randint(3, 22)) if done else None,
            }
        )

    def _build_moment(self, day: date, hour: int) -> datetime:
        return datetime.combine(day, time(hour, self.rng.randrange(60)))
