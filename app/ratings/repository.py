"""Ratings of customers in SQL."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Connection, select

from app.db.base import match_session, now
from app.db.engine import Database, insert_into
from app.desk.tables import DeskHandlingRow as Stay
from app.ratings.tables import RatingRow as Table
from app.types import SessionKey

# How long after the end a customer may rate.
OPEN_FOR = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class RatingState:
    """asked: the customer may rate now; score: what the customer gave last for what is asked about, 0 for nothing."""

    asked: bool
    score: int = 0


class RatingRepository:
    """Of all tenants. A stay is rated once: the first rating stays, whoever comes at once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_state(self, key: SessionKey) -> RatingState:
        """Whether the customer of a conversation is asked."""
        return await self._database.run_in_reader(_load_state, key)

    async def add(self, key: SessionKey, score: int, comment: str) -> bool:
        """Keeps a rating; False where nothing is to be rated, or was rated already."""

        def work(connection: Connection) -> bool:
            served = _find_served(connection, key)
            if served is None:
                return False
            number, agent_id, team = served
            row = insert_into(connection, Table).values(
                tenant_id=key.tenant,
                session_id=key.session_id,
                number=number,
                agent_id=agent_id,
                team=team,
                score=score,
                comment=comment,
                created_at=now(),
            )
            return connection.execute(row.on_conflict_do_nothing()).rowcount == 1

        return await self._database.transact(work)


def _load_state(connection: Connection, key: SessionKey) -> RatingState:
    served = _find_served(connection, key)
    if served is None:
        return RatingState(asked=False)
    mine = match_session(Table, key) & (Table.number == served[0])
    score = connection.execute(select(Table.score).where(mine)).scalar()
    return RatingState(asked=score is None, score=score or 0)


def _find_served(connection: Connection, key: SessionKey) -> tuple[int, str, str] | None:
    """Number, agent and team of the last stay at the desk, where a person served it and it ended lately."""
    query = (
        select(Stay.number, Stay.agent_id, Stay.team, Stay.ended_at, Stay.accepted_at)
        .where(match_session(Stay, key))
        .order_by(Stay.number.desc())
        .limit(1)
    )
    row = connection.execute(query).first()
    if row is None or row.accepted_at is None or row.ended_at is None or row.ended_at < now() - OPEN_FOR:
        return None
    return row.number, row.agent_id, row.team
