"""Wrong keys and wrong tokens: who tries many waits for each answer, and learns nothing sooner than everybody else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from math import ceil

from app.errors import RateLimited, Unauthorized
from app.limits.pause import Pause
from app.limits.types import LimitKind, Rate, normalize_address
from app.limits.windows import Counters, MemoryCounters

# Codes of what may be a guess; a token that ran out is none.
GUESSES = frozenset({"unauthorized", "invalid_user_token"})
_TOO_OFTEN = "密钥或令牌错误的次数太多，请稍后再试。"


class Attempts:
    """rate: of wrong secrets an address; on_refused: called for each beyond it.

    What is right goes on working: behind one address may stand a whole company, and to look a secret up costs a
    microsecond, which is less than to remember who was right before.
    """

    def __init__(
        self, rate: Rate, on_refused: Callable[[], None] = lambda: None, counters: Counters | None = None
    ) -> None:
        self.pause = Pause()
        self._rate = rate
        self._on_refused = on_refused
        self._counters = counters or MemoryCounters()

    @asynccontextmanager
    async def check_secret(self, host: str | None, secret: str | None) -> AsyncIterator[None]:
        """Wraps the check of a secret: a wrong one is counted, and answered late if its address was wrong too often.

        Args:
            host: Where the secret comes from; None where that says nothing.
            secret: None where none was shown, which is no guess.

        Raises:
            RateLimited: The secret is wrong, and so were too many before it.
        """
        try:
            yield
        except Unauthorized as error:
            if not secret or not host or error.code not in GUESSES:
                raise
            if refused := await self._counters.count_names([(LimitKind.SIGN_IN, normalize_address(host), self._rate)]):
                self._on_refused()
                raise RateLimited(_TOO_OFTEN, code="too_many_attempts", retry_after=ceil(refused[1])) from error
            raise
