"""The facts that the checks need about documents and past searches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from app.conversations.tables import StoredTurn
from app.documents.tables import Document
from app.documents.types import DocumentKind
from app.quality.checks.structure import build_place_key
from app.quality.checks.types import DocumentFacts, Reach
from app.traces.tables import StoredTrace
from app.traces.trace_codec import decompress_body

# With fewer questions most passages were not asked for yet.
MIN_TURNS = 200
MAX_TURNS = 2000
_BATCH = 100


def list_documents(connection: Connection, tenant: str) -> dict[str, DocumentFacts]:
    """Returns the facts of all live documents, by id."""
    query = select(Document.id, Document.title, Document.name, Document.kind, Document.updated_at)
    rows = connection.execute(query.where(Document.tenant_id == tenant, Document.live))
    return {
        row.id: DocumentFacts(row.id, row.title, row.name, row.kind == DocumentKind.FAQ, row.updated_at) for row in rows
    }


def find_reach(connection: Connection, tenant: str) -> Reach | None:
    """Returns which passages the latest searches found; None where there were too few. Only ids of a turn are read."""
    turn, trace = StoredTurn, StoredTrace
    own = (trace.tenant_id == turn.tenant_id) & (trace.turn_id == turn.id)
    query = select(turn.created_at, trace.body).join(trace, own).where(turn.tenant_id == tenant)
    rows = connection.execute(query.order_by(turn.created_at.desc(), turn.id).limit(MAX_TURNS))
    places: set[str] = set()
    turns, since = 0, datetime.max
    for row in rows.yield_per(_BATCH):
        evidence = decompress_body(row.body).get("evidence")
        if evidence:
            turns, since = turns + 1, row.created_at
            places.update(_list_places(evidence))
    return Reach(frozenset(places), turns, since) if turns >= MIN_TURNS else None


def _list_places(evidence: Mapping[str, Any]) -> Iterator[str]:
    for part in (evidence, *evidence.get("parts", ())):
        for candidate in part["candidates"]:
            yield build_place_key(candidate["document_id"], candidate["chunk_id"])
