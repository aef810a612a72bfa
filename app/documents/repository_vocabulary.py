"""Term ids of one tenant: assigned inside the transaction that stores them, never changed, never given twice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import numpy as np
from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.db.batches import split_batches
from app.documents.tables import KbState, Term
from knowledge.types import TermIds


async def assign_ids(connection: AsyncConnection, tenant: str, tokens: Iterable[Sequence[str]]) -> list[TermIds]:
    """Returns the term ids of each text's tokens; unknown terms get the next ids.

    The caller's transaction must hold the tenant's `kb_state` row, or two commits could give the same id twice.
    """
    texts = list(tokens)
    # Plain loops over every token of a document: in a thread, so that chat goes on meanwhile.
    terms = await asyncio.to_thread(_collect_distinct, texts)
    ids = await _load_known(connection, tenant, terms)
    if new := [term for term in terms if term not in ids]:
        first = (await connection.execute(select(KbState.terms).where(KbState.tenant_id == tenant))).scalar_one()
        ids.update({term: first + offset for offset, term in enumerate(new)})
        rows = [{"tenant_id": tenant, "id": ids[term], "term": term} for term in new]
        for part in split_batches(rows):
            await connection.execute(insert(Term), part)
        await connection.execute(update(KbState).where(KbState.tenant_id == tenant).values(terms=first + len(new)))
    return await asyncio.to_thread(_convert_to_ids, texts, ids)


async def load_terms(connection: AsyncConnection, tenant: str, first: int) -> tuple[str, ...]:
    """Loads the vocabulary from id `first` on, in the order of ids."""
    query = select(Term.term).where(Term.tenant_id == tenant, Term.id >= first).order_by(Term.id)
    return tuple((await connection.execute(query)).scalars())


def pack_terms(terms: TermIds) -> bytes:
    """Packs term ids as they are stored: little-endian int32."""
    return terms.astype("<i4").tobytes()


def unpack_terms(blob: bytes) -> TermIds:
    """Unpacks what `pack_terms` packed."""
    return np.frombuffer(blob, dtype="<i4").astype(np.int32)


async def _load_known(connection: AsyncConnection, tenant: str, terms: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in split_batches(terms):
        query = select(Term.term, Term.id).where(Term.tenant_id == tenant, Term.term.in_(part))
        found.update((row.term, row.id) for row in await connection.execute(query))
    return found


def _collect_distinct(texts: Sequence[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(token for text in texts for token in text))


def _convert_to_ids(texts: Sequence[Sequence[str]], ids: dict[str, int]) -> list[TermIds]:
    return [np.array([ids[token] for token in text], dtype=np.int32) for text in texts]
