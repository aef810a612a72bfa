"""What names and origins of keys may be, wherever a key is made."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from app.auth.origins import normalize_origin
from app.auth.principal import Role
from app.auth.scopes import KeyScope
from knowledge.text import clean

MAX_NAME_CHARS = 100
MAX_ORIGINS = 50
# How long the secret before a rotation works, unless told.
GRACE_HOURS = 24.0
MAX_GRACE_HOURS = 24.0 * 30
# How far the end of a key may lie ahead.
MAX_DAYS = 3650


def check_name(text: str) -> str:
    """Returns a key's name as it is stored. Raises ValueError, with a message for people."""
    name = clean(text).strip()
    if not 1 <= len(name) <= MAX_NAME_CHARS:
        raise ValueError(f"须为 1 到 {MAX_NAME_CHARS} 个字")
    return name


def check_origins(role: Role, origins: Sequence[str]) -> list[str]:
    """Returns origins as browsers write them, each once. Raises ValueError, with a message for people."""
    if origins and role is not Role.CLIENT:
        raise ValueError("来源只用于 client：其他角色的密钥不能放进网页")
    if len(origins) > MAX_ORIGINS:
        raise ValueError(f"来源最多 {MAX_ORIGINS} 个")
    return list(dict.fromkeys(map(normalize_origin, origins)))


def check_scopes(role: Role, scopes: Sequence[KeyScope]) -> list[KeyScope]:
    """Returns scopes, each once. Raises ValueError, with a message for people."""
    if scopes and role is Role.METRICS:
        raise ValueError("metrics 密钥只能读 /metrics，没有权限范围")
    return list(dict.fromkeys(scopes))


def check_expiry(moment: datetime | None, present: datetime) -> datetime | None:
    """Returns when a key ends, None for never. Raises ValueError, with a message for people."""
    if moment is not None and not present < moment <= present + timedelta(days=MAX_DAYS):
        raise ValueError(f"到期时间须在以后，最远 {MAX_DAYS} 天")
    return moment


def check_grace(hours: float) -> timedelta:
    """Returns for how long the old secret works beside the new one. Raises ValueError, with a message for people."""
    if not 0 <= hours <= MAX_GRACE_HOURS:  # false for NaN, too
        raise ValueError(f"宽限须为 0 到 {MAX_GRACE_HOURS:g} 小时")
    return timedelta(hours=hours)
