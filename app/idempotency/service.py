"""A request that is sent again returns its first result: one attempt runs, whoever comes meanwhile waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from loguru import logger

from app.db.base import LEASE
from app.errors import Conflict, Overloaded
from app.idempotency.repository import KnownRequest, settle
from app.idempotency.types import KeptResponse, Receipt, RetryKey, apply_pad
from app.ids import create_id

T = TypeVar("T")
# How long a retry waits for the first attempt; proxies wait for a minute.
WAIT_SECONDS = 55.0
FIRST_LOOK, LONGEST_LOOK = 0.02, 0.5


class Requests(Protocol):
    """Where requests are kept, see `RetryRepository`."""

    async def begin(self, key: RetryKey, owner: str, lease: timedelta) -> KnownRequest | None: ...

    async def renew(self, attempts: Mapping[str, RetryKey], lease: timedelta) -> None: ...

    async def finish(self, receipt: Receipt) -> None: ...

    async def release(self, key: RetryKey, owner: str) -> None: ...


class Retries:
    """wait: see WAIT_SECONDS; lease: see `app.db.base.LEASE`."""

    def __init__(self, requests: Requests, *, wait: float = WAIT_SECONDS, lease: timedelta = LEASE) -> None:
        self._requests = requests
        self._wait = wait
        self._lease = lease
        self._kept: set[asyncio.Task[None]] = set()
        self._live: dict[str, RetryKey] = {}
        self._renewing: asyncio.Task[None] | None = None

    async def begin(self, key: RetryKey) -> RequestAttempt | KeptResponse:
        """The attempt that is to run, or the result that there is. Raises Conflict where the key came with another
        request, or its first attempt takes too long.
        """
        owner, pause = create_id(), FIRST_LOOK
        deadline = asyncio.get_running_loop().time() + self._wait
        while (known := await self._requests.begin(key, owner, self._lease)) is not None:
            if known.body_digest != key.body:
                raise Conflict(
                    "这个 Idempotency-Key 已用于另一个内容不同的请求，请换一个。", code="idempotency_key_reused"
                )
            if known.status is not None:
                token = apply_pad(key.secret, known.owner, known.sealed).decode()
                return KeptResponse(known.status, known.body, token, written=True)
            if asyncio.get_running_loop().time() + pause > deadline:
                raise Conflict("同一个请求还在处理，请稍后用同一个 Idempotency-Key 再试。", code="request_in_progress")
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_LOOK)
        return RequestAttempt(self._requests, key, owner, self._keep_alive(owner, key))

    def keep(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs to its end, whoever leaves; `close` ends it."""
        task = asyncio.create_task(work, name="idempotent")
        self._kept.add(task)
        task.add_done_callback(self._kept.discard)

    async def close(self) -> None:
        """Ends what runs; it begins anew when it is asked for again."""
        tasks = [*self._kept, *([self._renewing] if self._renewing else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @contextmanager
    def _keep_alive(self, owner: str, key: RetryKey) -> Iterator[None]:
        """Says, within the block, that an attempt lives: one statement for all of this process."""
        self._live[owner] = key
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.create_task(self._renew(), name="renew-idempotent")
        try:
            yield
        finally:
            del self._live[owner]

    async def _renew(self) -> None:
        """Until none lives."""
        while True:
            await asyncio.sleep(self._lease.total_seconds() / 4)
            if not self._live:
                return
            try:
                await self._requests.renew(dict(self._live), self._lease)
            except Exception:  # the database may be away for a moment; the lease is some tries long
                logger.exception("leases of requests cannot be renewed")


def build_taken_over() -> Overloaded:
    """What an attempt that lost its place is told; sent again, the request returns the result of the other."""
    return Overloaded("这个请求已由它的一次重发接着办理，请用同一个 Idempotency-Key 再试。", code="request_taken_over")


class RequestAttempt:
    """One run of a request: `async with` says all the while that it lives, and releases it where nothing was kept."""

    def __init__(self, requests: Requests, key: RetryKey, owner: str, living: AbstractContextManager[None]) -> None:
        """living: says that it does, within its block."""
        self._requests = requests
        self._key = key
        self._owner = owner
        self._living = living
        self._finished = False

    def build_receipt(self, reply: KeptResponse) -> Receipt:
        """The result, to be kept by the transaction that does the work."""
        key, token = self._key, apply_pad(self._key.secret, self._owner, reply.token.encode())
        return Receipt(key.tenant, key.digest, self._owner, reply.status, reply.body, token, reply.session_id)

    def build_keeper(self, reply: Callable[[T], KeptResponse]) -> Callable[[Any, T], None]:
        """What keeps the result within the transaction that does the work, given its connection and what came of it;
        `finish` is then told that it is `written`. Raises Overloaded where another attempt took its place: the work is
        not to be kept either.
        """

        def keep(connection: Any, made: T) -> None:
            if settle(connection, [self.build_receipt(reply(made))]):
                raise build_taken_over()

        return keep

    async def finish(self, reply: KeptResponse) -> None:
        """Keeps the result; that of a failure is not one."""
        if reply.status >= 300:
            return
        if not reply.written:
            await self._requests.finish(self.build_receipt(reply))
        self._finished = True

    async def __aenter__(self) -> Self:
        self._living.__enter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._living.__exit__(None, None, None)
        if not self._finished:
            await asyncio.shield(self._release())

    async def _release(self) -> None:
        try:
            await self._requests.release(self._key, self._owner)
        except Exception:  # the database may be away; then the lease ends by itself
            logger.exception("a request that failed cannot be let go")
