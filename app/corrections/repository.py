"""Corrections in SQL."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.sql import ColumnElement

from app.corrections.tables import CorrectionRow as Table
from app.corrections.types import ChunkCorrection, ChunkEdit, LocatedCorrection, OriginalPassage
from app.documents.tables import Document
from app.documents.types import DocumentKind
from knowledge.types import CorrectedChunks, CorrectionState


def list_of_document(connection: Connection, tenant: str, document_id: str) -> list[ChunkCorrection]:
    """Lists the corrections of a document, in the order in which the document stood when they were made."""
    query = select(Table).where(Table.tenant_id == tenant, Table.document_id == document_id)
    rows = connection.execute(query.order_by(Table.ordinal, Table.created_at, Table.id))
    return [_build_correction(row) for row in rows]


def get(connection: Connection, tenant: str, document_id: str, correction_id: str) -> ChunkCorrection | None:
    """Returns one correction of a document; None without it."""
    row = connection.execute(
        select(Table).where(_match_correction(tenant, correction_id), Table.document_id == document_id)
    ).first()
    return None if row is None else _build_correction(row)


def load_page(
    connection: Connection, tenant: str, state: CorrectionState | None, offset: int, limit: int
) -> tuple[list[LocatedCorrection], int]:
    """Returns a page of corrections of all documents, those changed last first, and their total number."""
    where = Table.tenant_id == tenant
    if state is not None:
        where &= Table.state == state
    own = (Document.tenant_id == Table.tenant_id) & (Document.id == Table.document_id)
    own &= Document.kind != DocumentKind.BINNED
    total = connection.execute(select(func.count()).select_from(Table).join(Document, own).where(where)).scalar_one()
    query = select(Table, Document.title).join(Document, own).where(where)
    rows = connection.execute(query.order_by(Table.updated_at.desc(), Table.id).offset(offset).limit(limit))
    return [LocatedCorrection(row.title, _build_correction(row)) for row in rows], total


def put(connection: Connection, tenant: str, correction: ChunkCorrection) -> None:
    """Writes one, in the place of that of its id."""
    drop(connection, tenant, correction.id)
    old, edit = correction.original, correction.edit
    values = {
        "tenant_id": tenant,
        "id": correction.id,
        "document_id": correction.document_id,
        "original_text": old.text,
        "original_heading": list(old.heading_path),
        "question": old.question,
        "ordinal": old.ordinal,
        "text": edit.text,
        "heading": None if edit.heading_path is None else list(edit.heading_path),
        "excluded": edit.excluded,
        "author": correction.author,
        "reason": correction.reason,
        "state": correction.state,
        "created_at": correction.created_at,
        "updated_at": correction.updated_at,
    }
    connection.execute(insert(Table).values(**values))


def drop(connection: Connection, tenant: str, correction_id: str) -> None:
    """Deletes one, if it is there."""
    connection.execute(delete(Table).where(_match_correction(tenant, correction_id)))


def settle(connection: Connection, tenant: str, document_id: str, made: CorrectedChunks) -> bool:
    """Notes what a commit of a document made of its corrections; False where others are there by now.

    One that was applied is from now on a correction of what was read this time, so that taking it back restores that.
    """
    there = list_of_document(connection, tenant, document_id)
    if hash_corrections(there) != made.basis:
        return False
    for correction in there:
        values: dict[str, Any] = {"state": made.states[correction.id]}
        if correction.id in made.rebased:
            chunk, text = made.rebased[correction.id]
            values |= {"original_text": chunk.text, "original_heading": list(chunk.heading_path), "text": text}
            values |= {"question": chunk.question, "ordinal": chunk.ordinal}
        connection.execute(update(Table).where(_match_correction(tenant, correction.id)).values(**values))
    return True


def hash_corrections(corrections: Sequence[ChunkCorrection]) -> str:
    """Tells this set of corrections from any other; empty for none."""
    if not corrections:
        return ""
    marks = sorted(f"{correction.id} {correction.updated_at.timestamp()}" for correction in corrections)
    return hashlib.sha256("\n".join(marks).encode()).hexdigest()


def _match_correction(tenant: str, correction_id: str) -> ColumnElement[bool]:
    return (Table.tenant_id == tenant) & (Table.id == correction_id)


def _build_correction(row: Any) -> ChunkCorrection:
    heading = None if row.heading is None else tuple(row.heading)
    return ChunkCorrection(
        row.id,
        row.document_id,
        OriginalPassage(row.original_text, tuple(row.original_heading), row.question, row.ordinal),
        ChunkEdit(row.text, heading, row.excluded),
        row.author,
        row.reason,
        CorrectionState(row.state),
        row.created_at,
        row.updated_at,
    )
