from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection

from app.channels.repository import BACKOFF, ChannelRepository
from app.channels.tables import ChannelMessageRow, ChannelReplyRow
from app.channels.types import InboundMessage, QueueStatus, SentReply, StoredMessage, StoredReply
from app.db import outbox
from app.db.base import now
from app.db.engine import Database
from app.db.leased_queue import Backoff
from app.db.outbox import Outbox, PendingEvent
from app.db.tables import OutboxEvent
from app.documents.repository_job_rows import FileKey
from app.documents.repository_jobs import JobRepository
from app.documents.repository_queue import JobQueue
from app.documents.tables import IngestionFile
from app.documents.types import Incoming
from app.jobs.repository import RunRepository
from app.jobs.repository_queue import ClaimedRun, RunQueue
from app.jobs.types import RunState
from app.webhooks.repository import Subscription, WebhookRepository, create_deliveries
from app.webhooks.repository_deliveries import Delivery, DeliveryRepository, DeliveryResult
from app.webhooks.tables import WebhookDelivery
from tests.contracts.leased_queues import BackoffContract, LeasedQueueContract

ACCOUNT = ("t", "shop")
MOMENT = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
ERROR = {"code": "embedding_unavailable", "message": "检索服务暂时不可用"}


def test_a_pause_doubles_up_to_the_longest_and_is_at_least_what_is_asked_for() -> None:
    backoff = Backoff(timedelta(seconds=5), timedelta(minutes=1))
    assert [backoff.compute_pause(failures).total_seconds() for failures in (0, 1, 3, 4, 10**9)] == [5, 10, 40, 60, 60]
    assert backoff.compute_pause(0, timedelta(seconds=30)) == timedelta(seconds=30)
    assert backoff.compute_pause(0, timedelta(days=1)) == timedelta(minutes=1)


class TestOutbox(BackoffContract):
    table = OutboxEvent

    async def add(self, database: Database, count: int) -> None:
        events = [PendingEvent("t", "turns", {})] * count
        await database.transact(lambda connection: outbox.add(connection, events))

    async def fail_all(self, database: Database) -> int:
        return await Outbox(database, {}).settle_due()


class TestDeliveries(BackoffContract, LeasedQueueContract):
    table = WebhookDelivery

    async def add(self, database: Database, count: int) -> None:
        hook = Subscription("h", "https://example.com", "secret", ["ticket.created"], "", True, MOMENT)
        await WebhookRepository(database).add("t", hook, 9)

        def work(connection: Connection) -> None:
            envelopes = [
                {"id": f"e{number}", "event": "ticket.created", "data": {"number": "1"}} for number in range(count)
            ]
            create_deliveries(connection, [PendingEvent("t", "webhook", envelope) for envelope in envelopes])

        await database.transact(work)

    async def claim(self, database: Database, worker: str) -> Sequence[Delivery]:
        return await DeliveryRepository(database).claim(2, worker)

    async def renew(self, database: Database, item: Delivery, worker: str) -> bool:
        return await DeliveryRepository(database).renew_leases([item], worker)

    async def finish(self, database: Database, item: Delivery, worker: str) -> None:
        await DeliveryRepository(database).settle_results([DeliveryResult(item, "delivered", 204, "")], worker)

    async def fail_all(self, database: Database) -> int:
        claimed = await self.claim(database, "w")
        failed = [DeliveryResult(item, "pending", 500, "HTTP 500") for item in claimed]
        await DeliveryRepository(database).settle_results(failed, "w")
        return len(claimed)


class TestMessages(BackoffContract, LeasedQueueContract):
    table = ChannelMessageRow

    async def add(self, database: Database, count: int) -> None:
        given = [
            (InboundMessage(f"m{number}", f"u{number}", "你好", {}, MOMENT), f"s{number}") for number in range(count)
        ]
        await ChannelRepository(database).add_messages(ACCOUNT, given)

    async def claim(self, database: Database, worker: str) -> Sequence[StoredMessage]:
        return await ChannelRepository(database).claim_messages([ACCOUNT], 2, worker)

    async def renew(self, database: Database, item: StoredMessage, worker: str) -> bool:
        return await ChannelRepository(database).renew_message(item, worker)

    async def finish(self, database: Database, item: StoredMessage, worker: str) -> None:
        await ChannelRepository(database).settle_message(item, worker, QueueStatus.DONE, [(f"r-{item.id[:20]}", {})])

    async def fail_all(self, database: Database) -> int:
        claimed = await self.claim(database, "w")
        for item in claimed:
            await ChannelRepository(database).postpone_message(item, "w", timedelta())
        return len(claimed)


class TestReplies(BackoffContract, LeasedQueueContract):
    table = ChannelReplyRow

    async def add(self, database: Database, count: int) -> None:
        repository = ChannelRepository(database)
        for number in range(count):
            message = InboundMessage(f"m{number}", f"u{number}", "你好", {}, MOMENT)
            await repository.add_messages(ACCOUNT, [(message, f"s{number}")])
            await repository.add_replies(ACCOUNT, f"s{number}", [(f"r{number}", {})])

    async def claim(self, database: Database, worker: str) -> Sequence[StoredReply]:
        return await ChannelRepository(database).claim_replies([ACCOUNT], 2, worker)

    async def renew(self, database: Database, item: StoredReply, worker: str) -> bool:
        return await ChannelRepository(database).renew_replies([item], worker)

    async def finish(self, database: Database, item: StoredReply, worker: str) -> None:
        await ChannelRepository(database).settle_replies([SentReply(item, QueueStatus.DONE)], worker)

    async def fail_all(self, database: Database) -> int:
        claimed = await self.claim(database, "w")
        for item in claimed:
            due = now() + BACKOFF.compute_pause(item.attempts)
            await ChannelRepository(database).settle_replies([SentReply(item, QueueStatus.PENDING, "", due)], "w")
        return len(claimed)


class TestFiles(BackoffContract, LeasedQueueContract):
    table = IngestionFile

    async def add(self, database: Database, count: int) -> None:
        rows = JobRepository(database)
        for number in range(count):
            await rows.keep_original(FileKey("t", f"j{number}", 0), b"one")
            await rows.accept_job("t", f"j{number}", [Incoming("a.md", b"one")], [3])

    async def claim(self, database: Database, worker: str) -> Sequence[FileKey]:
        queue = JobQueue(database)
        await queue.recover_files(worker, None)
        claimed = await queue.claim("t", worker)
        return [claimed[0]] if claimed else []

    async def renew(self, database: Database, item: FileKey, worker: str) -> bool:
        return await JobQueue(database).renew_lease(item, worker, 0, 0)

    async def finish(self, database: Database, item: FileKey, worker: str) -> None:
        await JobQueue(database).fail_file(item, worker, ERROR)

    async def fail_all(self, database: Database) -> int:
        claimed = await self.claim(database, "w")
        for item in claimed:
            await JobQueue(database).return_file(item, "w", ERROR)
        return len(claimed)


class TestRuns(LeasedQueueContract):
    async def add(self, database: Database, count: int) -> None:
        for number in range(count):
            await RunRepository(database).add(f"t{number}", "tidy", {})

    async def claim(self, database: Database, worker: str) -> Sequence[ClaimedRun]:
        queue = RunQueue(database)
        await queue.recover_runs(worker, alone=False)
        claimed = await queue.claim(["tidy"], worker)
        return [claimed] if claimed else []

    async def renew(self, database: Database, item: ClaimedRun, worker: str) -> bool:
        return await RunQueue(database).renew_lease(item, worker, 0, 0)

    async def finish(self, database: Database, item: ClaimedRun, worker: str) -> None:
        await RunQueue(database).finish(item, worker, RunState.DONE, {}, None)
