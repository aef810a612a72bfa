from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from app import work_loop
from app.channels.base import Channel
from app.channels.dispatcher import Dispatcher
from app.channels.repository import Account, ChannelRepository, delete_for_sessions
from app.channels.types import ChannelReply, InboundMessage, StoredMessage
from app.channels.worker import MessageWorker
from app.db.engine import Database

ACCOUNT = ("t", "shop")


class SlowDispatcher:
    """Thinks until it is stopped."""

    def __init__(self) -> None:
        self.begun, self.stopped = asyncio.Event(), asyncio.Event()

    async def answer_message(self, message: StoredMessage) -> ChannelReply | None:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped.set()
        return None


async def test_a_message_whose_conversation_is_erased_is_not_answered(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_loop, "BEAT_SECONDS", 0.02)
    repository, dispatcher = ChannelRepository(database), SlowDispatcher()
    message = InboundMessage("m1", "u1", "你好", {}, datetime(2026, 3, 2, tzinfo=UTC))
    await repository.add_messages(ACCOUNT, [(message, "s1")])
    channels = cast(Mapping[Account, Channel], {ACCOUNT: None})
    answered: list[Any] = []
    worker = MessageWorker(repository, cast(Dispatcher, dispatcher), channels, lambda: answered.append(1))
    worker.start()
    async with asyncio.timeout(60):
        await dispatcher.begun.wait()
        await database.transact(lambda connection: delete_for_sessions(connection, "t", ["s1"]))
        await dispatcher.stopped.wait()
    await worker.close()
    assert answered == []
    assert await repository.list_replies(ACCOUNT, 9, 0, None) == ([], 0)
