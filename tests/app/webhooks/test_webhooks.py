from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, select, update

from app import work_loop
from app.db.base import now
from app.db.engine import Database
from app.db.outbox import Outbox, PendingEvent
from app.db.tables import OutboxEvent
from app.errors import Forbidden
from app.gaps.repository_unanswered import count_questions
from app.net.targets import check_url
from app.request_ids import set_request_id
from app.settings import Settings
from app.webhooks.events import KIND, emit_event
from app.webhooks.repository import WebhookRepository, create_deliveries
from app.webhooks.repository_deliveries import Delivery, DeliveryRepository
from app.webhooks.sender import WebhookSender
from app.webhooks.service import WebhookService
from app.webhooks.signature import EVENT_ID, SIGNATURE, TIMESTAMP, sign_body
from app.webhooks.tables import WebhookDelivery
from app.webhooks.worker import WebhookWorker

SECRET = "a-secret-of-sixteen-characters"


class Receiver:
    """Takes webhooks, answers as it is told, and remembers what it got."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.url = ""
        self._came = asyncio.Condition()

    async def wait(self, count: int) -> None:
        """Until it got so many."""
        async with asyncio.timeout(60), self._came:
            await self._came.wait_for(lambda: len(self.got) >= count)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
        body = await reader.readexactly(int(headers.get("Content-Length", "0")))
        async with self._came:
            self.got.append((headers, body))
            self._came.notify_all()
        status = self.statuses.pop(0) if self.statuses else 204
        place = f"Location: {self.url}\r\n" if 300 <= status < 400 else ""
        writer.write(f"HTTP/1.1 {status} X\r\n{place}Content-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()
        await writer.wait_closed()


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0)
    receiver.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
    async with server:
        yield receiver


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as receiver:
        yield receiver


@pytest.fixture
async def sender() -> AsyncIterator[WebhookSender]:
    async with WebhookSender(2.0, allow_private=True) as sender:
        yield sender


@pytest.fixture
def service(database: Database, sender: WebhookSender) -> WebhookService:
    return WebhookService(WebhookRepository(database), DeliveryRepository(database), sender, most=50)


@pytest.fixture
def worker(database: Database, sender: WebhookSender) -> WebhookWorker:
    return WebhookWorker(DeliveryRepository(database), sender, max_attempts=3)


async def happen(database: Database, tenant: str, event: str, payload: dict[str, Any]) -> None:
    await database.transact(lambda connection: emit_event(connection, tenant, event, payload))
    await Outbox(database, {KIND: (create_deliveries,)}).settle_due()


async def hurry(database: Database) -> None:
    """All that waits is due."""
    async with database.write() as connection:
        await connection.execute(update(WebhookDelivery).values(due_at=now() - timedelta(seconds=1)))


async def test_an_event_reaches_its_subscribers_signed_and_nobody_else(
    database: Database, service: WebhookService, worker: WebhookWorker, receiver: Receiver
) -> None:
    await service.create("t", receiver.url, ["ticket.created"], "", SECRET)
    await service.create("t", receiver.url, ["gap.detected"], "", SECRET)
    await service.create("other", receiver.url, ["ticket.created"], "", SECRET)
    with set_request_id("abc-1"):
        await happen(database, "t", "ticket.created", {"number": "TK1", "subject": "空调"})
    assert await worker.run_round() == 1 and await worker.run_round() == 0
    ((headers, body),) = receiver.got
    assert headers[SIGNATURE] == sign_body(SECRET, headers[TIMESTAMP], body)
    envelope = json.loads(body)
    assert (envelope["event"], envelope["data"]) == ("ticket.created", {"number": "TK1", "subject": "空调"})
    assert envelope["id"] == headers[EVENT_ID]
    assert envelope["request_id"] == headers["X-Request-ID"] == "abc-1"


async def test_what_the_transaction_drops_is_never_sent(database: Database, service: WebhookService) -> None:
    def fails(connection: Connection) -> None:
        emit_event(connection, "t", "ticket.created", {})
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await database.transact(fails)
    async with database.read() as connection:
        assert (await connection.execute(select(OutboxEvent.id))).first() is None


async def test_a_failure_is_tried_again_later_with_the_same_event_and_given_up_in_the_end(
    database: Database, service: WebhookService, worker: WebhookWorker, receiver: Receiver
) -> None:
    hook = await service.create("t", receiver.url, ["ticket.created"], "", SECRET)
    await happen(database, "t", "ticket.created", {})
    receiver.statuses = [500, 302, 404, 204]
    for _ in range(3):
        assert await worker.run_round() == 1
        assert await worker.run_round() == 0
        await hurry(database)
    assert await worker.run_round() == 0
    (dead,), _ = await service.load_deliveries("t", hook.id, 10, None)
    assert (dead.state, dead.attempts, dead.status, dead.error) == ("dead", 3, 404, "HTTP 404")
    assert len(receiver.got) == 3, "a redirect is not followed"
    await service.retry_delivery("t", hook.id, dead.id)
    assert await worker.run_round() == 1
    assert [row.state for row in (await service.load_deliveries("t", hook.id, 10, "delivered"))[0]] == ["delivered"]
    assert len({headers[EVENT_ID] for headers, _ in receiver.got}) == 1


async def test_pauses_grow(database: Database, service: WebhookService, worker: WebhookWorker) -> None:
    hook = await service.create("t", "http://127.0.0.1:9/nobody", ["ticket.created"], "", SECRET)
    await happen(database, "t", "ticket.created", {})
    pauses = []
    for _ in range(2):
        await worker.run_round()
        (row,), _ = await service.load_deliveries("t", hook.id, 10, "pending")
        pauses.append((row.due_at - row.updated_at).total_seconds())
        await hurry(database)
    assert pauses == [10, 20]


async def test_a_killed_worker_loses_nothing_and_two_workers_send_once(
    database: Database, service: WebhookService, worker: WebhookWorker, receiver: Receiver
) -> None:
    await service.create("t", receiver.url, ["ticket.created"], "", SECRET)
    for number in range(6):
        await happen(database, "t", "ticket.created", {"number": number})
    taken = await DeliveryRepository(database).claim(2, "killed")  # and then it is killed
    assert len(taken) == 2
    assert sum(await asyncio.gather(worker.run_round(), worker.run_round())) == 4
    await hurry(database)
    async with database.write() as connection:  # what was delivered is over, however due it looks
        pending = select(WebhookDelivery.id).where(WebhookDelivery.state == "pending")
        assert len((await connection.execute(pending)).all()) == 2
    assert await worker.run_round() == 2
    assert sorted(json.loads(body)["data"]["number"] for _, body in receiver.got) == list(range(6))


async def test_what_is_being_sent_stops_where_its_webhook_is_deleted(
    database: Database, service: WebhookService, worker: WebhookWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_loop, "BEAT_SECONDS", 0.02)
    left = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await service.delete("t", hook.id)
        await reader.read()
        writer.close()
        left.set()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    hook = await service.create("t", url, ["ticket.created"], "", SECRET)
    await happen(database, "t", "ticket.created", {"number": 1})
    async with server:
        assert await worker.run_round() == 1
        await left.wait()
    assert await worker.run_round() == 0


@pytest.mark.parametrize("attempts", [0, 2])
async def test_a_clock_that_was_set_back_by_a_day_holds_no_delivery_up(
    database: Database, service: WebhookService, worker: WebhookWorker, receiver: Receiver, attempts: int
) -> None:
    await service.create("t", receiver.url, ["ticket.created"], "", SECRET)
    await happen(database, "t", "ticket.created", {"number": 1})
    async with database.write() as connection:
        await connection.execute(update(WebhookDelivery).values(due_at=now() + timedelta(days=1), attempts=attempts))
    assert await worker.run_round() == 1
    assert len(receiver.got) == 1


async def test_a_webhook_that_is_switched_off_gets_nothing_until_it_is_on_again(
    database: Database, service: WebhookService, worker: WebhookWorker, receiver: Receiver
) -> None:
    hook = await service.create("t", receiver.url, ["ticket.created"], "", SECRET)
    await happen(database, "t", "ticket.created", {"number": 1})
    await service.update("t", hook.id, {"enabled": False})
    await happen(database, "t", "ticket.created", {"number": 2})
    assert await worker.run_round() == 0
    await service.update("t", hook.id, {"enabled": True})
    assert await worker.run_round() == 1
    assert [json.loads(body)["data"]["number"] for _, body in receiver.got] == [1]


async def test_a_gone_receiver_is_asked_once(
    database: Database, service: WebhookService, worker: WebhookWorker, receiver: Receiver
) -> None:
    hook = await service.create("t", receiver.url, ["ticket.created"], "", SECRET)
    await happen(database, "t", "ticket.created", {})
    receiver.statuses = [410]
    await worker.run_round()
    assert [row.state for row in (await service.load_deliveries("t", hook.id, 10, None))[0]] == ["dead"]


async def test_a_slow_receiver_is_left_after_the_timeout() -> None:
    left = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        await writer.wait_closed()
        left.set()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    async with server, WebhookSender(0.3, allow_private=True) as sender:
        sent = await sender.send(Delivery("t", "d", url, SECRET, "ticket.created", "e", "{}", 0))
        assert (sent.status, sent.error) == (None, "timeout")
        await left.wait()


async def test_a_question_is_a_detected_gap_the_first_time_only(database: Database) -> None:
    def gaps(*names: str) -> Callable[[Connection], None]:
        found = [{"hash": name, "question": name, "outcome": "no_evidence", "at": now().isoformat()} for name in names]
        return lambda connection: count_questions(connection, [PendingEvent("t", "turns", {"gaps": found})])

    for names in (("甲", "甲", "乙"), ("甲", "丙"), ("乙",)):
        await database.transact(gaps(*names))
    async with database.read() as connection:
        told = (await connection.execute(select(OutboxEvent.payload))).scalars().all()
    assert sorted(event["data"]["question"] for event in told) == sorted(["甲", "乙", "丙"])


async def test_a_name_that_resolves_into_the_network_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    async def lookup(*_: Any, **__: Any) -> list[Any]:
        return [(2, 1, 6, "", ("93.184.216.34", 80)), (2, 1, 6, "", ("10.0.0.8", 80))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", lookup)
    async with WebhookSender(1.0, allow_private=False) as sender:
        delivery = Delivery("t", "d", "http://shop.example/", SECRET, "ticket.created", "e", "{}", 0)
        sent = await sender.send(delivery)
    assert sent.status is None and "内网" in sent.error


def test_the_open_internet_is_called_on_the_ports_that_are_set() -> None:
    settings = Settings(_env_file=None)
    for ports, refused in ((settings.webhook_ports, True), ("5678", False), ("", False)):
        policy = WebhookSender(1.0, allow_private=False, ports=ports).policy
        with pytest.raises(Forbidden, match="WEBHOOK_PORTS") if refused else nullcontext():
            check_url("https://93.184.216.34:5678/hook", policy)


async def test_the_request_goes_to_the_address_that_was_checked_under_the_name_of_the_url(
    monkeypatch: pytest.MonkeyPatch, receiver: Receiver
) -> None:
    port = int(receiver.url.split(":")[2].split("/")[0])

    async def lookup(*_: Any, **__: Any) -> list[Any]:
        return [(2, 1, 6, "", ("127.0.0.1", port))]

    async with WebhookSender(2.0, allow_private=True) as sender:
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", lookup)
        url = f"http://shop.example:{port}/a?b=1"
        sent = await sender.send(Delivery("t", "d", url, SECRET, "ticket.created", "e", "{}", 0))
    assert sent.ok and receiver.got[0][0]["Host"] == f"shop.example:{port}"
