"""Wrong keys and wrong tokens: who tries many is not listened to for a while."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil

from app.errors import RateLimited, Unauthorized
from app.limits.pause import Pause
from app.limits.types import Kind, Rate, network
from app.limits.windows import Windows

MAX_KNOWN = 10_000
_TOO_OFTEN = "密钥或令牌错误的次数太多，请稍后再试。"
GUESSES = frozenset({"unauthorized", "invalid_user_token"})
"""Codes of what may be a guess; a token that ran out is none."""


class Attempts:
    """rate: of wrong secrets an address; on_refused: called for each that is not looked at any more.

    What was right before goes on working from everywhere: behind one address may stand a whole company. Secrets are
    remembered as numbers that Python makes of them, differently in each process.
    """

    def __init__(
        self, rate: Rate, on_refused: Callable[[], None] = lambda: None, windows: Windows | None = None
    ) -> None:
        self.pause = Pause()
        self._rate = rate
        self._on_refused = on_refused
        self._failures = windows or Windows()
        self._known: OrderedDict[int, None] = OrderedDict()

    @contextmanager
    def checking(self, host: str | None, secret: str | None) -> Iterator[None]:
        """While a secret is checked. Raises RateLimited before that where the address failed too often.

        host: where it comes from; secret: None where none was shown, which is no guess.
        """
        if not self._rate.count or secret is None or host is None:
            yield
            return
        name, mark = network(host), hash(secret)
        if mark not in self._known and (wait := self._failures.wait(Kind.SIGN_IN, name, self._rate)):
            self._on_refused()
            raise RateLimited(
                "密钥或令牌错误的次数太多，请稍后再试。", code="too_many_attempts", retry_after=ceil(wait)
            )
        try:
            yield
        except Unauthorized as error:
            if error.code in GUESSES:
                self._known.pop(mark, None)
                self._failures.count(Kind.SIGN_IN, name, self._rate)
            raise
        if mark not in self._known:
            self._known[mark] = None
            if len(self._known) > MAX_KNOWN:
                self._known.popitem(last=False)
