"""Which of the replicas does by the clock what one of them does for all: expiry, publishing, what is due.

The lock is in Redis, or where there is none, or it is away, in PostgreSQL. It saves work and is not what keeps that
right: every such job is a compare-and-set in SQL, so that two leaders, for some seconds while the lock changes its
place, do it once.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from typing import TYPE_CHECKING

from loguru import logger

from app.db.base import LEASE
from app.db.leader import AdvisoryLock
from app.redis.server import RedisServer
from app.work_loop import WorkLoop

if TYPE_CHECKING:
    from redis.asyncio import Redis
    from redis.asyncio.lock import Lock

    from app.db.engine import Database

# A leader that says nothing for so long leads no more, in Redis and in its own eyes.
LEASE_SECONDS = LEASE.total_seconds()
# How often it says so, and the others look: one that is killed is followed by another within both together.
LOOK_SECONDS = 2.0
# Of PostgreSQL's advisory locks, the one of the leader.
_NUMBER = 7_316_020_413


class Leader(WorkLoop):
    """This process's part in it. The only server of a SQLite file leads."""

    name = "leader"
    poll_seconds = LOOK_SECONDS

    def __init__(self, database: Database, redis: RedisServer | None) -> None:
        super().__init__()
        self._redis = redis
        self._advisory = AdvisoryLock(database, _NUMBER)
        self._until = 0.0
        self._lock: Lock | None = None
        # What stands in Redis while it leads.
        self.token = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"

    @property
    def leads(self) -> bool:
        """Now."""
        return asyncio.get_running_loop().time() < self._until

    async def run_round(self) -> int:
        """See `WorkLoop`."""
        await self.try_lead()
        return 0

    async def close(self) -> None:
        """Steps back, so that another one leads at its next look."""
        await super().close()
        self._until = 0.0
        if self._redis is not None and self._lock is not None:
            await self._redis.ask(self._release_lock, None)  # or it lapses
        try:
            await self._advisory.release()
        except Exception:  # the database is away, and the lock with it
            logger.exception("the leader's lock cannot be given back")

    async def try_lead(self) -> bool:
        """Takes the lock, or says that it is still this process's; whether it is."""
        began, led = asyncio.get_running_loop().time(), self.leads
        try:
            won = await (self._advisory.acquire() if self._redis is None else self._try_redis(self._redis))
        except Exception:  # the database may be away for a while; somebody leads again once it is back
            logger.exception("no leader can be found")
            won = False
        self._until = began + LEASE_SECONDS if won else 0.0
        if self.leads != led:
            logger.info("this process leads" if self.leads else "this process leads no more")
        return self.leads

    async def _try_redis(self, server: RedisServer) -> bool:
        won = await server.ask(lambda client: self._acquire_lock(client, server), None)
        if won is None:  # Redis is away. What it holds there is kept in mind: Redis may be back before it lapses
            return await self._advisory.acquire()
        await self._advisory.release()  # of the time when Redis was away
        return won

    async def _acquire_lock(self, client: Redis, server: RedisServer) -> bool:
        from redis.asyncio.lock import Lock
        from redis.exceptions import LockError

        if self._lock is not None:
            try:
                return bool(await self._lock.reacquire())
            except LockError:  # it lapsed, and may be another's by now
                self._lock = None
        lock = Lock(client, server.build_key("leader"), timeout=LEASE_SECONDS, blocking=False, thread_local=False)
        won = await lock.acquire(token=self.token)
        self._lock = lock if won else None
        return bool(won)

    async def _release_lock(self, client: Redis) -> None:
        from redis.exceptions import LockError

        lock, self._lock = self._lock, None
        try:
            if lock is not None:
                await lock.release()
        except LockError:  # it lapsed
            logger.debug("the leader's lock had lapsed")
