"""Conversations and their turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, insert, select

from agents.types import Outcome, Usage
from app.conversations.tables import Conversation, Turn
from app.conversations.types import Claim
from app.db.engine import DIALECTS, Database, Serialised
from app.desk.types import Opening
from app.idempotency.types import Receipt


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One question and its reply. `standalone` is the question as it was searched; `response` what was sent.

    `rows_of` is the member whose business data it holds, empty for none; `state`: see `DialogueState.to_json`.
    """

    id: str
    question: str
    standalone: str
    reply: str
    outcome: str
    response: dict[str, Any]
    created_at: datetime
    rows_of: str = ""
    state: dict[str, Any] = field(default_factory=dict)


NOBODY = Claim()
"""The claim of a key that needs none, for nobody in particular."""


@dataclass(frozen=True, slots=True)
class NewTurn:
    """A turn to be kept. `response` is what is sent, as JSON; the conversation is opened by its first turn.

    new_session: the id was made for this turn, so nobody else can know of the session. for_desk: the message goes to
    the person who has the session, `client_id` being the sender's own id of it; `opening` asks for a person; waiting:
    the customer waits for one, who is going to read this. `claim`: on what ground it goes into its conversation;
    `receipt`: the result of the request that it came with, where that may be sent again;
    `rows_of` and `state`: see `TurnRow`; `trace_id`: of that request.
    """

    tenant: str
    session_id: str
    user_id: str
    channel: str
    id: str
    question: str
    standalone: str
    reply: str
    outcome: str
    response: bytes
    created_at: datetime
    agent: str = ""
    new_session: bool = False
    cached: bool = False
    degraded: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    for_desk: bool = False
    client_id: str = ""
    opening: Opening | None = None
    waiting: bool = False
    claim: Claim = NOBODY
    receipt: Receipt | None = None
    rows_of: str = ""
    state: dict[str, Any] = field(default_factory=dict)
    trace_id: str = ""


_ROW = tuple(getattr(Turn, name) for name in TurnRow.__dataclass_fields__)
_KEY = (Conversation.tenant_id == bindparam("tenant_id")) & (Conversation.session_id == bindparam("session_id"))
_NUMBER = select(Conversation.turns - bindparam("later")).where(_KEY).scalar_subquery()
_INSERT_TURN = insert(Turn).values(
    {column.name: bindparam(column.name) for column in Turn.__table__.columns} | {"number": _NUMBER}
)


def _count_turns(insertion: Any) -> Any:
    return insertion.on_conflict_do_update(
        index_elements=[Conversation.tenant_id, Conversation.session_id],
        set_={"turns": Conversation.turns + insertion.excluded.turns, "updated_at": insertion.excluded.updated_at},
    )


_COUNT_TURNS = {name: _count_turns(dialect.insert(Conversation)) for name, dialect in DIALECTS.items()}
"""Made once: to put this statement together anew cost as much as to carry it out."""


class ConversationRepository:
    """A session id means something only together with its tenant."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def exists(self, tenant: str, session_id: str) -> bool:
        """Whether the session has turns."""
        key = (Conversation.tenant_id == tenant) & (Conversation.session_id == session_id)
        async with self._database.read() as connection:
            return bool((await connection.execute(select(Conversation.turns).where(key))).scalar_one_or_none())

    async def last(self, tenant: str, session_id: str, count: int) -> list[TurnRow]:
        """The last `count` turns that were taken, the oldest of them first."""
        query = select(*_ROW).where(*_taken(tenant, session_id)).order_by(Turn.number.desc()).limit(count)
        async with self._database.read() as connection:
            return [TurnRow(*row) for row in await connection.execute(query)][::-1]

    async def questions_before(
        self, tenant: str, session_id: str, skipped: int, count: int, rows_of: Collection[str] | None = None
    ) -> list[str]:
        """What was asked before the last `skipped` turns, as it was understood: the last `count` questions, the oldest
        first; rows_of: without those of turns that hold the business data of anybody else.
        """
        query = (
            select(Turn.standalone, Turn.rows_of)
            .where(*_taken(tenant, session_id))
            .order_by(Turn.number.desc())
            .offset(skipped)
            .limit(count)
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return [row.standalone for row in reversed(rows) if rows_of is None or row.rows_of in rows_of]


def _taken(tenant: str, session_id: str) -> tuple[ColumnElement[bool], ...]:
    """A message that was rejected is kept, but what follows is not understood by it, nor does a model read it."""
    return Turn.tenant_id == tenant, Turn.session_id == session_id, Turn.outcome != Outcome.REJECTED.value


def append(connection: Connection, turns: Sequence[NewTurn]) -> None:
    """Adds turns at the end of their conversations, in this order; conversations that are not there are opened.

    Sessions are locked in the order of their names, so that processes that append at once cannot block each other.
    """
    connection.execute(_COUNT_TURNS[connection.dialect.name], _conversations(turns))
    connection.execute(_INSERT_TURN, _numbered(turns))


def _conversations(turns: Iterable[NewTurn]) -> list[dict[str, Any]]:
    """One row a session, with the number of its turns; user, channel and secret are those of its first turn."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for turn in turns:
        row = rows.setdefault(
            (turn.tenant, turn.session_id),
            {
                "tenant_id": turn.tenant,
                "session_id": turn.session_id,
                "user_id": turn.user_id,
                "channel": turn.channel,
                "caller": turn.claim.caller,
                "token": turn.claim.digest,
                "token_expires": turn.claim.expires if turn.claim.digest else None,
                "turns": 0,
                "created_at": turn.created_at,
            },
        )
        row["turns"] += 1
        row["updated_at"] = turn.created_at
    return [rows[key] for key in sorted(rows)]


def _numbered(turns: Sequence[NewTurn]) -> list[dict[str, Any]]:
    """One row a turn; `later` is how many of these turns follow in its session, all of them being counted already."""
    remaining = Counter((turn.tenant, turn.session_id) for turn in turns)
    rows = []
    for turn in turns:
        remaining[turn.tenant, turn.session_id] -= 1
        rows.append(
            {
                "tenant_id": turn.tenant,
                "id": turn.id,
                "session_id": turn.session_id,
                "later": remaining[turn.tenant, turn.session_id],
                "question": turn.question,
                "standalone": turn.standalone,
                "reply": turn.reply,
                "outcome": turn.outcome,
                "rows_of": turn.rows_of,
                "state": turn.state,
                "response": Serialised(turn.response.decode()),
                "created_at": turn.created_at,
            }
        )
    return rows
