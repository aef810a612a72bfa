"""Term ids of one tenant: assigned inside the transaction that stores them, never changed, never given twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.db.models import KbState, Term
from knowledge.types import TermIds

BATCH = 500
"""Values per IN list: well below the limit on parameters of every database."""


async def assign(connection: AsyncConnection, tenant: str, tokens: Iterable[Sequence[str]]) -> list[TermIds]:
    """Term ids of each text's tokens; unknown terms get the next ids.

    The caller's transaction must hold the tenant's `kb_state` row, else two commits could give one id twice.
    """
    texts = list(tokens)
    terms = list(dict.fromkeys(token for text in texts for token in text))
    ids = await _known(connection, tenant, terms)
    new = [term for term in terms if term not in ids]
    if new:
        first = (await connection.execute(select(KbState.terms).where(KbState.tenant_id == tenant))).scalar_one()
        ids.update({term: first + offset for offset, term in enumerate(new)})
        await connection.execute(insert(Term), [{"tenant_id": tenant, "id": ids[term], "term": term} for term in new])
        await connection.execute(update(KbState).where(KbState.tenant_id == tenant).values(terms=first + len(new)))
    return [np.array([ids[token] for token in text], dtype=np.int32) for text in texts]


async def terms_from(connection: AsyncConnection, tenant: str, first: int) -> tuple[str, ...]:
    """The vocabulary from id `first` on, in order of ids."""
    query = select(Term.term).where(Term.tenant_id == tenant, Term.id >= first).order_by(Term.id)
    return tuple((await connection.execute(query)).scalars())


def pack(terms: TermIds) -> bytes:
    """Term ids as they are stored: little-endian int32."""
    return terms.astype("<i4").tobytes()


def unpack(blob: bytes) -> TermIds:
    """The inverse of `pack`."""
    return np.frombuffer(blob, dtype="<i4").astype(np.int32)


async def _known(connection: AsyncConnection, tenant: str, terms: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for start in range(0, len(terms), BATCH):
        query = select(Term.term, Term.id).where(Term.tenant_id == tenant, Term.term.in_(terms[start : start + BATCH]))
        found.update((row.term, row.id) for row in await connection.execute(query))
    return found
