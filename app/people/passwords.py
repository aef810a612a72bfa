"""Passwords: kept as Argon2id hashes, checked two at a time, beside the answers that the same machine computes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from app.errors import InvalidRequest
from knowledge.lazy import LazyModule

if TYPE_CHECKING:
    import argon2
else:
    argon2 = LazyModule("argon2")

T = TypeVar("T")
# Long ones are better than ones with signs in them: NIST SP 800-63B, 3.1.1.2.
MIN_CHARS, MAX_CHARS = 10, 128
AT_ONCE = 2


class Passwords:
    """Hashed with the least that OWASP's Password Storage Cheat Sheet asks of Argon2id: 19 MiB, two passes."""

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._nobody = ""

    async def hash(self, password: str) -> str:
        """Returns the hash of a password that is stored."""
        return await self._work(lambda: _build_hasher().hash(password))

    async def verify(self, kept: str | None, password: str) -> bool:
        """Whether the password is right; takes as long where there is none to compare with."""
        if kept is None:
            self._nobody = self._nobody or await self.hash("nobody")
            await self._work(lambda: _is_right(self._nobody, password))
            return False
        return await self._work(lambda: _is_right(kept, password))

    async def _work(self, work: Callable[[], T]) -> T:
        async with self._slots:
            return await asyncio.to_thread(work)


def require_strong(password: str, login: str) -> None:
    """Raises InvalidRequest for a password that is guessed first."""
    if login.casefold() in password.casefold() or len(set(password)) < MIN_CHARS // 2:
        raise InvalidRequest("这个密码太好猜：不要包含账号，也不要只用几个字符。", code="weak_password")


def _build_hasher() -> argon2.PasswordHasher:
    return argon2.PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


def _is_right(kept: str, password: str) -> bool:
    try:
        return _build_hasher().verify(kept, password)
    except argon2.exceptions.VerifyMismatchError:
        return False
