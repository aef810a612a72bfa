"""A request that is sent again returns its first result: one attempt runs, whoever comes meanwhile waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from loguru import logger

from app.db.base import LEASE
from app.db.engine import Database
from app.errors import Conflict, Overloaded
from app.idempotency.repository import begin, release, renew, settle
from app.idempotency.types import KeptResponse, Receipt, RetryKey
from app.ids import create_id
from app.tasks import stop_tasks

if TYPE_CHECKING:
    from sqlalchemy import Connection

# What is done for a request; its attempt is None where the request came without a key.
Work = Callable[["RequestAttempt | None"], Awaitable[KeptResponse]]
# How long a retry waits for the first attempt; proxies wait for a minute.
WAIT_SECONDS = 55.0
# Seconds between two looks at the first attempt, doubled each time: a short attempt is not waited for longer than
# it takes, and a long one does not cost a transaction every few milliseconds.
FIRST_LOOK, LONGEST_LOOK = 0.02, 0.5


class Retries:
    """wait: see WAIT_SECONDS; lease: see `app.db.base.LEASE`."""

    def __init__(self, database: Database, *, wait: float = WAIT_SECONDS, lease: timedelta = LEASE) -> None:
        self.database = database
        # Attempts that run in this process, by their owners: one statement says of all that they live.
        self.live: dict[str, RetryKey] = {}
        self._wait = wait
        self._lease = lease
        self._tasks: set[asyncio.Task[None]] = set()
        self._renewing: asyncio.Task[None] | None = None

    async def begin(self, key: RetryKey) -> RequestAttempt | KeptResponse:
        """Begins an attempt, or returns the result that there is.

        Raises Conflict if the key came with another request, or its first attempt takes too long.
        """
        owner, pause = create_id(), FIRST_LOOK
        start = partial(begin, key=key, owner=owner, lease=self._lease)
        deadline = asyncio.get_running_loop().time() + self._wait
        while (known := await self.database.transact(start)) is False:
            if asyncio.get_running_loop().time() + pause > deadline:
                raise Conflict("同一个请求还在处理，请稍后用同一个 Idempotency-Key 再试。", code="request_in_progress")
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_LOOK)
        if known is None:
            message = "这个 Idempotency-Key 已用于另一个内容不同的请求，请换一个。"
            raise Conflict(message, code="idempotency_key_reused")
        return known if isinstance(known, KeptResponse) else RequestAttempt(self, key, owner)

    async def run_once(self, key: RetryKey | None, work: Work) -> tuple[KeptResponse, bool]:
        """The result of the first attempt, and whether it is one of before; without a key, the work is done. Raises
        Conflict, see `begin`, and what the work raises.
        """
        if key is None:
            return await work(None), False
        attempt = await self.begin(key)
        if isinstance(attempt, KeptResponse):
            return attempt, True
        async with attempt:
            reply = await work(attempt)
            await attempt.finish(reply)
        return reply, False

    def keep(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Runs to its end, whoever leaves; `close` ends it."""
        task = asyncio.create_task(work, name="idempotent")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """Ends what runs; it begins anew when it is asked for again."""
        await stop_tasks(*self._tasks)

    def keep_alive(self, owner: str, key: RetryKey) -> None:
        """Says that an attempt lives, until it is `live` no more."""
        self.live[owner] = key
        if self._renewing is None or self._renewing.done():
            self._renewing = self.keep(self._renew())

    async def _renew(self) -> None:
        """Renews the leases of all attempts until none runs."""
        while self.live:
            await asyncio.sleep(self._lease.total_seconds() / 4)
            try:
                change = partial(renew, attempts=dict(self.live), lease=self._lease)
                await self.database.transact(change, durable=False)
            except Exception:  # the database may be away for a moment; the lease is some tries long
                logger.exception("leases of requests cannot be renewed")


class RequestAttempt:
    """One run of a request: `async with` says all the while that it lives, and releases it where nothing was kept."""

    def __init__(self, retries: Retries, key: RetryKey, owner: str) -> None:
        self._retries = retries
        self._key = key
        self._owner = owner
        self._finished = False

    def build_receipt(self, reply: KeptResponse) -> Receipt:
        """Builds the result, for the transaction that does the work to store."""
        return Receipt(self._key, self._owner, reply)

    def write(self, connection: Connection, reply: KeptResponse) -> None:
        """Keeps the result within the transaction that does the work; `finish` is then told that it is `written`.
        Raises Overloaded where another attempt took its place: the work is not to be kept either.
        """
        if settle(connection, [self.build_receipt(reply)]):
            raise build_taken_over()

    async def finish(self, reply: KeptResponse) -> None:
        """Keeps the result; that of a failure is not one."""
        if reply.status >= 300:
            return
        if not reply.written:
            await self._retries.database.transact(partial(settle, receipts=[self.build_receipt(reply)]))
        self._finished = True

    async def __aenter__(self) -> Self:
        self._retries.keep_alive(self._owner, self._key)
        return self

    async def __aexit__(self, *_: object) -> None:
        del self._retries.live[self._owner]
        if not self._finished:
            await asyncio.shield(self._release())

    async def _release(self) -> None:
        try:
            await self._retries.database.transact(partial(release, key=self._key, owner=self._owner))
        except Exception:  # the database may be away; then the lease ends by itself
            logger.exception("a request that failed cannot be let go")


def build_taken_over() -> Overloaded:
    """Builds the error of an attempt that lost its lease; the request, sent again, returns the result of
    the other one.
    """
    return Overloaded("这个请求已由它的一次重发接着办理，请用同一个 Idempotency-Key 再试。", code="request_taken_over")
