"""Turns are kept by group commit: what arrives while one transaction is written goes into the next as a whole."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, TypeVar

from app.errors import DatabaseUnavailable
from app.turns.types import NewTurn, TurnNotKept

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.db.engine import Database
    from app.errors import AppError


T = TypeVar("T")
# Turns that come close together go into one transaction, until as many are there as the last time, or such a pause: a
# commit costs the same for one turn as for ten, and while it is written it contends with the answers for the
# processor.
PAUSE_SECONDS = 0.002
MAX_GATHER_SECONDS = 0.02
# Turns of one transaction: beyond some 64 a larger one is no cheaper a turn.
MAX_BATCH = 256


class TurnLog(Generic[T]):
    """One transaction holds the turns, the counts of their conversations, and what follows from them.

    write: does all of it within a transaction, and returns what on_commit is called with after it. durable: every turn
    waits for the disk; those that concern a person at the desk do in any case.
    """

    def __init__(
        self,
        database: Database,
        write: Callable[[Connection, Sequence[NewTurn]], T],
        on_commit: Callable[[T], None],
        *,
        durable: bool = False,
    ) -> None:
        self._database = database
        self._write_turns = write
        self._on_commit = on_commit
        self._durable = durable
        self._expected = 1
        self._complete = asyncio.Event()
        self._pending: list[tuple[NewTurn, asyncio.Future[bool]]] = []
        self._writer: asyncio.Task[None] | None = None

    async def append_turn(self, turn: NewTurn) -> bool:
        """Returns once the turn is committed, or with False where the session changed hands meanwhile: a bot must not
        speak while a person has it, and a message for a person who left would be lost. Raises Forbidden where its claim
        does not hold, Overloaded where another attempt of its request took over, and what the database raises; the
        turns beside it are kept.
        """
        kept: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._pending.append((turn, kept))
        if len(self._pending) >= self._expected:
            self._complete.set()
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write(), name="turn-log")
        return await kept

    async def close(self) -> None:
        """Writes what is pending."""
        if self._writer is not None:
            await self._writer

    async def _write(self) -> None:
        """Writes until nothing is pending; turns of one session in the order in which they came."""
        while self._pending:
            await self._wait_for_batch()
            batch, self._pending = self._pending[:MAX_BATCH], self._pending[MAX_BATCH:]
            await self._keep_batch(batch)

    async def _wait_for_batch(self) -> None:
        """Waits a moment for more turns while several customers ask at the same time; a single one never waits."""
        time = asyncio.get_running_loop().time
        until = time() + MAX_GATHER_SECONDS
        there = 0
        while there < len(self._pending) < self._expected and time() < until:
            there = len(self._pending)
            self._complete.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(PAUSE_SECONDS):
                    await self._complete.wait()
        self._expected = min(len(self._pending), MAX_BATCH)

    async def _keep_batch(self, batch: Sequence[tuple[NewTurn, asyncio.Future[bool]]]) -> None:
        """Stores a batch and tells every waiter how it went. When a batch fails its turns are tried one by one: the
        fault may be one turn's, as an outage is not.
        """
        try:
            out = await self._commit([turn for turn, _ in batch])
        except Exception as error:  # raised where the turn is waited for
            if len(batch) > 1 and not isinstance(error, DatabaseUnavailable):
                for item in batch:
                    await self._keep_batch([item])
                return
            for _, kept in batch:
                if not kept.done():
                    kept.set_exception(error)
            return
        for turn, kept in batch:
            if kept.done():  # the waiter left
                continue
            if (refused := out.get(turn.id)) is not None:
                kept.set_exception(refused)
            else:
                kept.set_result(turn.id not in out)

    async def _commit(self, turns: Sequence[NewTurn]) -> dict[str, AppError | None]:
        """Commits the turns. Returns those that were not stored, by their ids: those that came too late, and those that
        were refused with the reason.
        """
        try:
            durable = self._durable or any(_is_for_staff(turn) for turn in turns)
            done = await self._database.transact(
                lambda connection: self._write_turns(connection, turns), durable=durable
            )
        except TurnNotKept as error:
            out = dict(error.turns)
            rest = [turn for turn in turns if turn.id not in out]
            return out | (await self._commit(rest) if rest else {})
        self._on_commit(done)
        return {}


def _is_for_staff(turn: NewTurn) -> bool:
    """Whether a person has to read the turn, or is called because of it."""
    return turn.for_desk or turn.waiting or turn.opening is not None
