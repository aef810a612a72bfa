"""What lists are searched by and narrowed to, on both databases: they write LIKE, JSON and booleans in ways of their
own.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import insert

from app.db.base import Base
from app.db.engine import Database
from app.desk.repository_solutions import SolutionRepository
from app.desk.tables import DeskSolution
from app.documents.repository import DocumentRepository
from app.documents.repository import Filters as DocumentFilters
from app.documents.repository_jobs import JobFilter, JobRepository
from app.documents.tables import Content, Document, DocumentVersion, IngestionFile, IngestionJob, KbState
from app.documents.types import FileState
from app.faqs.repository import FaqFilters, FaqRepository
from app.faqs.tables import FaqRow
from app.gaps.repository_unanswered import UnansweredRepository, count_questions
from app.gaps.tables import KnowledgeGap
from app.keys.repository import KeyFilter, KeyRepository
from app.keys.tables import ApiKey
from app.tickets.repository import TicketFilter, TicketRepository
from app.tickets.tables import Ticket
from app.webhooks.repository_deliveries import DeliveryRepository
from app.webhooks.tables import Webhook, WebhookDelivery

START = datetime(2026, 1, 1, tzinfo=UTC)
# One with each of what LIKE takes for a wildcard, and one that would match both if they were.
TEXTS = ("满 50% 起减", "型号 A_1 保修", "型号 AB1 满 500 起")
SEARCHES = {"50%": {0}, "%": {0}, "a_1": {1}, "_": {1}, "型号": {1, 2}, "\\": set(), "": {0, 1, 2}}
EMPTY = {"Boolean": False, "JSON": [], "LargeBinary": b"", "BigInteger": 0, "Integer": 0, "UtcDateTime": START}


async def keep(database: Database, table: type[Base], *rows: dict[str, Any]) -> None:
    """Rows of tenant t with these values; the rest is empty."""
    columns = [column for column in table.__table__.columns if not column.nullable]
    blank = {column.name: EMPTY.get(type(column.type).__name__, "") for column in columns} | {"tenant_id": "t"}
    async with database.write() as connection:
        await connection.execute(insert(table), [blank | row for row in rows])


def at(number: int) -> datetime:
    return START + timedelta(minutes=number)


async def test_a_text_means_what_it_says_in_every_list(database: Database) -> None:
    numbered = list(enumerate(TEXTS))
    await keep(
        database,
        Ticket,
        *(
            {
                "number": f"TK{n}",
                "origin": "staff",
                "category": "other",
                "priority": "normal",
                "state": "open",
                "subject": text,
            }
            for n, text in numbered
        ),
    )
    asked = ({"question_hash": str(n), "question": text, "outcome": "no_evidence"} for n, text in numbered)
    await keep(database, KnowledgeGap, *asked)
    await keep(
        database, DeskSolution, *({"id": str(n), "question_hash": str(n), "answer": text} for n, text in numbered)
    )
    await keep(database, IngestionJob, *({"id": str(n)} for n, _ in numbered))
    await keep(
        database, IngestionFile, *({"job_id": str(n), "path": text, "state": FileState.READY} for n, text in numbered)
    )
    await documents(database, [{"title": text} for text in TEXTS])
    gaps, solutions, jobs = (
        UnansweredRepository(database),
        SolutionRepository(database, count_questions),
        JobRepository(database),
    )
    tickets, library = TicketRepository(database), DocumentRepository(database)
    for text, expected in SEARCHES.items():
        found = {
            "tickets": [row.number for row in (await tickets.load_page("t", TicketFilter(text=text)))[0]],
            "gaps": [row.id for row in (await gaps.load_page("t", text=text))[0]],
            "solutions": [row.id for row in (await solutions.load_page("t", text=text))[0]],
            "jobs": [row.id for row in (await jobs.load_page("t", JobFilter(text=text), offset=0, limit=9))[0]],
            "documents": [row.id for row in (await library.load_page("t", DocumentFilters(text=text)))[0]],
        }
        for name, keys in found.items():
            assert sorted(int(key.removeprefix("TK")) for key in keys) == sorted(expected), (name, text)
    assert (await tickets.load_page("t", TicketFilter(text="tk2")))[1] == 1
    assert (await gaps.load_page("other", text="型号")) == ([], 0)


async def test_lists_are_narrowed_ordered_and_paged_with_a_total(database: Database) -> None:
    gaps = [
        {"question_hash": str(n), "outcome": outcome, "count": count, "last_seen": at(n)}
        for n, (outcome, count) in enumerate([("no_evidence", 1), ("clarify", 9), ("no_evidence", 5)])
    ]
    await keep(database, KnowledgeGap, *gaps)
    repository = UnansweredRepository(database)
    assert [row.id for row in (await repository.load_page("t"))[0]] == ["2", "1", "0"]
    assert [row.id for row in (await repository.load_page("t", often=True))[0]] == ["1", "2", "0"]
    rows, total = await repository.load_page("t", limit=1, offset=1, outcome="no_evidence")
    assert ([row.id for row in rows], total) == (["0"], 2)

    await keep(database, Webhook, {"id": "w"}, {"id": "v"})
    sent = [("w", "ticket.created"), ("w", "message.created"), ("w", "ticket.created"), ("v", "ticket.created")]
    deliveries = [
        {"id": str(n), "webhook_id": webhook, "event_id": str(n), "event": event, "created_at": at(n)}
        for n, (webhook, event) in enumerate(sent)
    ]
    await keep(database, WebhookDelivery, *deliveries)
    found, total = await DeliveryRepository(database).load_page("t", "w", 1, event="ticket.created", offset=1)
    assert ([row.id for row in found], total) == (["0"], 2)

    await keep(database, IngestionJob, *({"id": str(n), "created_at": at(n)} for n in range(3)))
    done, failed = FileState.READY, FileState.FAILED
    states = [(0, 0, done), (0, 1, failed), (1, 0, done), (2, 0, failed)]
    await keep(database, IngestionFile, *({"job_id": str(j), "number": n, "state": s} for j, n, s in states))
    jobs, total = await JobRepository(database).load_page("t", JobFilter(failed=True), offset=1, limit=1)
    assert ([(job.id, len(job.files)) for job in jobs], total) == ([("0", 2)], 2)

    await keep(
        database, DeskSolution, *({"id": str(n), "question_hash": str(n), "created_at": at(n)} for n in range(3))
    )
    solutions, total = await SolutionRepository(database, count_questions).load_page("t", offset=1, limit=1)
    assert ([row.id for row in solutions], total) == (["1"], 3)


async def test_documents_are_narrowed_to_what_is_indexed_and_what_is_valid(database: Database) -> None:
    await documents(
        database, [{"revision": 1, "live": True}, {"revision": 3, "live": True}, {"revision": 2}], indexed=2
    )
    library = DocumentRepository(database)
    for filters, expected in (
        (DocumentFilters(indexed=True), {"0", "2"}),
        (DocumentFilters(indexed=False), {"1"}),
        (DocumentFilters(live=True), {"0", "1"}),
        (DocumentFilters(live=False, indexed=True), {"2"}),
    ):
        rows, total = await library.load_page("t", filters)
        assert {row.id for row in rows} == expected and total == len(expected), filters


async def test_lists_are_sorted_by_a_column_either_way_and_what_has_no_value_comes_last(database: Database) -> None:
    await documents(
        database,
        [
            {"title": "乙", "size": 3, "updated_at": at(0), "disabled": True},
            {"title": "", "name": "Alpha", "size": 1, "updated_at": at(2)},
            {"title": "beta", "size": 2, "updated_at": at(1)},
        ],
    )
    library = DocumentRepository(database)
    for sort, expected in (("name", "120"), ("-name", "021"), ("size", "120"), ("-size", "021"), ("updated", "021")):
        rows, _ = await library.load_page("t", sort=sort)
        assert "".join(row.id for row in rows) == expected, sort
    assert [row.id for row in (await library.load_page("t", DocumentFilters(disabled=True)))[0]] == ["0"]
    assert (await library.load_page("t", DocumentFilters(disabled=False)))[1] == 2

    answers = [
        {"id": str(n), "question": text, "hits": n, "state": "draft", "buttons": []} for n, text in enumerate("ba")
    ]
    await keep(database, FaqRow, *answers)
    entries = FaqRepository(database)
    for sort, expected in (("question", "10"), ("-question", "01"), ("-hits", "10"), ("hits", "01")):
        found, _ = await entries.load_page("t", FaqFilters(sort=sort), 0, 9)
        assert "".join(entry.id for entry in found) == expected, sort

    used = {"a": at(1), "b": None, "c": at(2)}
    blank = {"role": "admin", "filter": {}}
    made = [blank | {"id": n, "name": n, "digest": n, "last_used_at": moment} for n, moment in used.items()]
    await keep(database, ApiKey, *made)
    keys = KeyRepository(database)
    for sort, expected in (("used", "acb"), ("-used", "cab"), ("-name", "cba")):
        rows_of_keys, _ = await keys.load_page("t", KeyFilter(), 9, 0, sort)
        assert "".join(key.id for key in rows_of_keys) == expected, sort


async def documents(database: Database, rows: list[dict[str, Any]], indexed: int = 0) -> None:
    """Numbered from 0, of one version each."""
    await keep(database, KbState, {"indexed_revision": indexed})
    await keep(database, Content, {"content_hash": "h"})
    numbered = [
        {"id": str(n), "kind": "file", "identity": str(n), "version_id": str(n)} | row for n, row in enumerate(rows)
    ]
    await keep(database, Document, *numbered)
    versions = ({"id": row["id"], "document_id": row["id"], "number": 1, "content_hash": "h"} for row in numbered)
    await keep(database, DocumentVersion, *versions)
