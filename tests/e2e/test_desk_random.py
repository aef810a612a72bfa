"""Many sessions through the desk at random: no message lost, doubled or out of order, none stuck, and the bot silent
while a person has the session. As many as DESK_SESSIONS says.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random

import pytest

from app.auth.principal import DEFAULT_TENANT
from app.desk.types import HELD, DeskMessage, HistoryEntry, Sender, State
from app.types import SessionKey
from tests.acceptance import part
from tests.e2e.desk_players import Customer, House, Person

SESSIONS = int(os.environ.get("DESK_SESSIONS", part(8, 400)))
AT_ONCE, RESTARTS, SEED = 25, 2, 20261122
STAFF = tuple(f"staff-{number}" for number in range(6))


@dataclass
class Played:
    """What the players of one session know."""

    customer: Customer
    person: Person


async def play(house: House, number: int) -> Played:
    random = Random(SEED + number)
    customer = Customer(house, f"s{number}", random)
    person = Person(house, customer.session)
    for _ in range(random.choice((1, 1, 1, 1, 2))):
        if random.random() < 0.3:  # the bot is about to answer while a person is called and takes over
            await asyncio.gather(customer.say("你好"), _called(house, customer))
        else:
            await customer.say("转人工")
        await customer.until("queued", "assigned")
        for _ in range(random.randrange(2)):
            await customer.say()
            await customer.maybe_drop()
        if random.random() < 0.1:
            await house.call("DELETE", f"/conversations/{customer.session}/handoff")
        else:
            await served_by_people(random, customer, person)
        await customer.until("bot", "resolved", "closed")
        assert await customer.say("你好") == "answered"
    return Played(customer, person)


async def served_by_people(random: Random, customer: Customer, person: Person) -> None:
    holder = await person.accept(*random.sample(STAFF, 2))
    for _ in range(random.choice((1, 1, 2))):
        await asyncio.gather(customer.say(), person.say(holder))
        await customer.maybe_drop()
    if random.random() < 0.3:
        await person.step("transfer", skill="", note="换个人")
        holder = await person.accept(*random.sample(STAFF, 2))
        await person.say(holder)
    await person.step(random.choice(("resolve", "resolve", "close")), agent_id="")


async def _called(house: House, customer: Customer) -> None:
    await house.call("POST", f"/conversations/{customer.session}/handoff", user_id="")


async def restarts(house: House, ends: asyncio.Queue[int]) -> None:
    """Spread over the sessions that end."""
    for _ in range(RESTARTS):
        for _ in range(SESSIONS // (RESTARTS + 1)):
            await ends.get()
        await house.restart()


@pytest.mark.timeout(600)
@pytest.mark.acceptance
async def test_sessions_at_random_with_restarts_and_broken_sockets(tmp_path: Path) -> None:
    house, ends = House(tmp_path), asyncio.Queue[int]()
    places = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> Played:
        async with places:
            played = await play(house, number)
            ends.put_nowait(number)
            return played

    async with house.open():
        breaking = asyncio.create_task(restarts(house, ends))
        everybody = await asyncio.gather(*(one(number) for number in range(SESSIONS)))
        await breaking
        assert house.restarts == RESTARTS
        for played in everybody:
            await check(house, played)


async def check(house: House, played: Played) -> None:
    customer = played.customer
    assert house.container is not None
    desk, key = house.container.desk, SessionKey(DEFAULT_TENANT, customer.session)
    messages = await desk.messages.load_after(key, 0, 10_000)
    assert [message.seq for message in messages] == list(range(1, len(messages) + 1))
    said, maybe = by(messages, Sender.CUSTOMER), customer.maybe
    assert [text for text in said if text not in maybe] == [text for text in customer.noted if text not in maybe]
    assert len(by(messages, Sender.BOT)) <= len(said)
    assert by(messages, Sender.AGENT) == played.person.said
    await customer.catch_up(len(messages))
    await customer.drop()
    assert customer.read == [(message.seq, message.content) for message in messages]
    session = await desk.sessions.find(key)
    assert session is not None and session.state is State.BOT
    held = intervals(await desk.sessions.load_history(key))
    for turn in await house.container.transcripts.read(DEFAULT_TENANT, customer.session):
        if turn.response["data"]["agent"] != "desk":
            assert not any(start <= turn.created_at <= end for start, end in held), turn


def by(messages: list[DeskMessage], sender: Sender) -> list[str]:
    return [message.content for message in messages if message.sender is sender]


def intervals(history: list[HistoryEntry]) -> list[tuple[datetime, datetime]]:
    """When a person had the session, so that the bot had to be silent."""
    assert history[-1].target not in HELD
    found, start = [], None
    for entry in history:
        if entry.target in HELD and start is None:
            start = entry.created_at
        elif entry.target not in HELD and start is not None:
            found.append((start, entry.created_at))
            start = None
    return found
