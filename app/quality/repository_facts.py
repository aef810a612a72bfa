"""What the checks have to know of documents and of what was searched."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import Connection, select

from app.conversations.tables import StoredTurn
from app.documents.tables import Document
from app.documents.types import DocumentKind
from app.quality.checks.structure import place_of
from app.quality.checks.types import DocumentFacts, Reach
from app.traces.tables import StoredTrace

MIN_TURNS = 200
"""With fewer questions most passages were not asked for yet."""
MAX_TURNS = 2000
_BATCH = 100


def documents(connection: Connection, tenant: str) -> dict[str, DocumentFacts]:
    """All that are live, by id."""
    query = select(Document.id, Document.title, Document.name, Document.kind, Document.updated_at)
    rows = connection.execute(query.where(Document.tenant_id == tenant, Document.live))
    return {
        row.id: DocumentFacts(row.id, row.title, row.name, row.kind == DocumentKind.FAQ, row.updated_at) for row in rows
    }


def reach_of(connection: Connection, tenant: str) -> Reach | None:
    """What the latest searches found; None where there are few. Of each turn no more than ids are looked at."""
    turn, trace = StoredTurn, StoredTrace
    own = (trace.tenant_id == turn.tenant_id) & (trace.turn_id == turn.id)
    query = select(turn.created_at, trace.body).join(trace, own).where(turn.tenant_id == tenant)
    rows = connection.execute(query.order_by(turn.created_at.desc(), turn.id).limit(MAX_TURNS))
    places: set[str] = set()
    turns, since = 0, datetime.max
    for row in rows.yield_per(_BATCH):
        evidence = orjson.loads(zlib.decompress(row.body)).get("evidence")
        if evidence:
            turns, since = turns + 1, row.created_at
            places.update(_places(evidence))
    return Reach(frozenset(places), turns, since) if turns >= MIN_TURNS else None


def _places(evidence: Mapping[str, Any]) -> Iterator[str]:
    for part in (evidence, *evidence.get("parts", ())):
        for candidate in part["candidates"]:
            yield place_of(candidate["document_id"], candidate["chunk_id"])
