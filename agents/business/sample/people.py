"""Members of the sample shop and what they own besides orders: points and coupons."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from hashlib import sha256
from random import Random
from typing import Any

from agents.business.sample.catalogue import CITIES, COUPONS, GIVEN, LEVELS, STREETS, SURNAMES

Row = dict[str, Any]
EARNED_AFTER_DAYS = 8
SIGN_IN_DAYS = (2, 40, 95, 180, 270, 330)


def build_members(rng: Random, count: int, today: date) -> list[Row]:
    """Returns invented members; growth, level and points are set once the orders are known."""
    return [_build_member(rng, number, today) for number in range(1, count + 1)]


def settle_member(rng: Random, member: Row, orders: list[Row], refunds: list[Row], today: date) -> list[Row]:
    """Sets growth, level and points of a member by the orders; returns the rows of the points."""
    paid = sum(order["total"] for order in orders if order["paid_at"] is not None)
    growth = int(paid - sum(refund["amount"] for refund in refunds if refund["refunded_at"] is not None))
    level, _, rate = next(row for row in LEVELS if max(growth, 0) >= row[1])
    rows = _build_earned(rng, member, orders, rate, today)
    for row in _build_spent(rng, member, rows, today):
        _use_points(rows, row)
    for number, row in enumerate(sorted(rows, key=lambda row: row["created_at"]), start=1):
        row["id"] = f"P{member['id'][1:]}{number:03d}"
    member.update(growth=max(growth, 0), level=level, points=sum(row["remaining"] for row in rows))
    return rows


def build_coupons(rng: Random, member: Row, today: date) -> list[Row]:
    """Returns three to six coupons, some used, some expired."""
    rows = []
    for number in range(1, rng.randint(3, 6) + 1):
        name, threshold, amount = rng.choice(COUPONS)
        received = today - timedelta(days=rng.randint(1, 150))
        expires = received + timedelta(days=rng.choice((30, 90, 180)))
        status = "used" if rng.random() < 0.3 else "expired" if expires < today else "unused"
        rows.append(
            {
                "id": f"C{member['id'][1:]}{number:02d}",
                "member_id": member["id"],
                "name": name,
                "status": status,
                "threshold": threshold,
                "amount": amount,
                "received_at": datetime.combine(received, time(10, rng.randrange(60))),
                "expires_on": expires,
            }
        )
    return rows


def _build_member(rng: Random, number: int, today: date) -> Row:
    area, _ = rng.choice(CITIES)
    house = f"{rng.choice(STREETS)} {rng.randint(1, 300)} 号 {rng.randint(1, 20)} 幢 {rng.randint(101, 2504)} 室"
    return {
        "id": f"M{number:04d}",
        "name": SURNAMES[number - 1] + GIVEN[(number - 1) % len(GIVEN)],
        "phone": f"1380000{1000 + number * 37 % 9000:04d}",
        "email": f"member{number}@example.com",
        "address": area + house,
        "level": "green",
        "growth": 0,
        "points": 0,
        "balance": float(rng.choice((0, 0, 12.5, 50, 88, 200))),
        "joined_on": today - timedelta(days=rng.randint(370, 1500)),
        "password_hash": sha256(f"sample {number}".encode()).hexdigest(),
    }


def _build_earned(rng: Random, member: Row, orders: list[Row], rate: float, today: date) -> list[Row]:
    rows = []
    for order in orders:
        arrives = order["created_at"] + timedelta(days=4 + EARNED_AFTER_DAYS)
        if order["status"] == "completed" and arrives.date() <= today:
            rows.append(
                _build_entry(member, "earned", int(order["total"] * rate), f"购物：订单 {order['id']}", arrives)
            )
    for days in SIGN_IN_DAYS:
        moment = datetime.combine(today - timedelta(days=days), time(8, rng.randrange(60)))
        rows.append(
            _build_entry(member, "earned", rng.choice((10, 12, 30, 50)), rng.choice(("签到", "晒单评价")), moment)
        )
    return rows


def _build_spent(rng: Random, member: Row, earned: list[Row], today: date) -> list[Row]:
    """Returns points that were used, never more than had been earned by then."""
    rows: list[Row] = []
    for days in (150, 20) if rng.random() < 0.7 else ():
        moment = datetime.combine(today - timedelta(days=days), time(20, 15))
        balance = sum(row["amount"] for row in [*earned, *rows] if row["created_at"] < moment)
        if balance >= 100:
            reason = rng.choice(("下单抵现", "积分商城兑换"))
            rows.append(_build_entry(member, "used", -min(balance // 100 * 50, 1000), reason, moment))
    return rows


def _use_points(rows: list[Row], spent: Row) -> None:
    """Uses points, those first that expire first."""
    open_rows = [row for row in rows if row["kind"] == "earned" and row["created_at"] < spent["created_at"]]
    remaining = -spent["amount"]
    for row in sorted(open_rows, key=lambda row: row["created_at"]):
        taken = min(remaining, row["remaining"])
        row["remaining"] -= taken
        remaining -= taken
    rows.append(spent)


def _build_entry(member: Row, kind: str, amount: int, reason: str, moment: datetime) -> Row:
    earned = kind == "earned"
    return {
        "member_id": member["id"],
        "kind": kind,
        "amount": amount,
        "remaining": amount if earned else 0,
        "reason": reason,
        "created_at": moment,
        "expires_on": date(moment.year + 1, 12, 31) if earned else None,
    }
