"""What names and origins of keys may be, wherever a key is made."""

from __future__ import annotations

from collections.abc import Sequence

from app.auth.origins import origin
from app.auth.principal import Role
from knowledge.text import clean

MAX_NAME_CHARS = 100
MAX_ORIGINS = 50


def checked_name(text: str) -> str:
    """The name as it is kept. Raises ValueError, with a message for people."""
    name = clean(text).strip()
    if not 1 <= len(name) <= MAX_NAME_CHARS:
        raise ValueError(f"须为 1 到 {MAX_NAME_CHARS} 个字")
    return name


def checked_origins(role: Role, origins: Sequence[str]) -> list[str]:
    """The origins as browsers write them, each once. Raises ValueError, with a message for people."""
    if origins and role is not Role.CLIENT:
        raise ValueError("来源只用于 client：其他角色的密钥不能放进网页")
    if len(origins) > MAX_ORIGINS:
        raise ValueError(f"来源最多 {MAX_ORIGINS} 个")
    return list(dict.fromkeys(map(origin, origins)))
