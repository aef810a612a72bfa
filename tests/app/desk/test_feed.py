from __future__ import annotations

import asyncio

from app.db.engine import Database
from app.desk.human_desk import HumanDesk
from app.desk.types import State
from tests.app.desk.building import TENANT, assigned, desk_over, key, queued


async def test_this_process_knows_at_once_and_another_after_a_poll(database: Database, desk: HumanDesk) -> None:
    other = desk_over(database)
    await assigned(desk)
    assert desk.feed.is_held(key()) and not other.feed.is_held(key())
    with other.feed.watch(key()) as news, other.feed.watch(TENANT) as of_tenant, other.feed.watch(key("else")) as quiet:
        await other.feed.poll()
        assert news.is_set() and of_tenant.is_set() and not quiet.is_set()
        assert other.feed.is_held(key())
        news.clear()
        await other.feed.poll()
        assert not news.is_set()
        await desk.service.send_message(key(), "您好")
        await other.feed.poll()
        assert news.is_set()
        await desk.service.resolve(key())
        await other.feed.poll()
        assert not other.feed.is_held(key())


async def test_a_poll_that_began_earlier_does_not_undo_what_is_known(desk: HumanDesk) -> None:
    await queued(desk)
    for _ in range(20):
        poll = asyncio.create_task(desk.feed.poll())
        await desk.service.accept_session(key(), "amy")
        await poll
        standing = desk.feed.get_standing(key())
        assert standing is not None and standing.state is State.ASSIGNED
        poll = asyncio.create_task(desk.feed.poll())
        await desk.service.resolve(key())
        await poll
        assert not desk.feed.is_held(key())
        await queued(desk)


async def test_a_started_feed_tells_of_other_processes_within_a_second(database: Database, desk: HumanDesk) -> None:
    other = desk_over(database)
    await other.start()
    try:
        with other.feed.watch(key()) as news:
            await queued(desk)
            async with asyncio.timeout(60):
                await news.wait()
    finally:
        await other.feed.close()
    assert other.feed.get_standing(key()) == desk.feed.get_standing(key()) is not None


async def test_the_queue_silences_the_bot_only_where_that_is_set(database: Database, desk: HumanDesk) -> None:
    strict = desk_over(database, answer_while_queued=False)
    await queued(desk)
    await strict.feed.poll()
    assert strict.feed.is_held(key()) and not desk.feed.is_held(key())
