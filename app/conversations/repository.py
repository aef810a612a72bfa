"""Conversations and their turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select

from agents.types import Outcome
from app.conversations.tables import Conversation, StoredTurn
from app.conversations.types import AskedTurn, TurnRow
from app.db.base import get_table
from app.db.engine import DIALECTS, Database, Serialised
from app.turns.types import NewTurn

_ROW = tuple(getattr(StoredTurn, name) for name in TurnRow.__dataclass_fields__)
_KEY = (Conversation.tenant_id == bindparam("tenant_id")) & (Conversation.session_id == bindparam("session_id"))
_NUMBER = select(Conversation.turns - bindparam("later")).where(_KEY).scalar_subquery()
_INSERT_TURN = insert(get_table(StoredTurn)).values(
    {column.name: bindparam(column.name) for column in StoredTurn.__table__.columns} | {"number": _NUMBER}
)


def _count_turns(insertion: Any) -> Any:
    return insertion.on_conflict_do_update(
        index_elements=[Conversation.tenant_id, Conversation.session_id],
        set_={"turns": Conversation.turns + insertion.excluded.turns, "updated_at": insertion.excluded.updated_at},
    )


# Made once, as those below: to put a statement together anew costs as much as to carry it out.
_COUNT_TURNS = {name: _count_turns(dialect.insert(get_table(Conversation))) for name, dialect in DIALECTS.items()}
_STARTED = select(Conversation.turns).where(_KEY)
# A message that was rejected is kept, but what follows is not understood by it, nor does a model read it.
_TAKEN = (
    StoredTurn.tenant_id == bindparam("tenant_id"),
    StoredTurn.session_id == bindparam("session_id"),
    StoredTurn.outcome != Outcome.REJECTED.value,
)
_LAST_FIRST = StoredTurn.number.desc()
_LAST = select(*_ROW).where(*_TAKEN).order_by(_LAST_FIRST).limit(bindparam("count"))
_BEFORE = (
    select(StoredTurn.standalone, StoredTurn.rows_of)
    .where(*_TAKEN)
    .order_by(_LAST_FIRST)
    .offset(bindparam("skipped"))
    .limit(bindparam("count"))
)


class ConversationRepository:
    """A session id means something only together with its tenant."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def has_turns(self, tenant: str, session_id: str) -> bool:
        """Whether the session has turns."""
        key = {"tenant_id": tenant, "session_id": session_id}
        return bool(await self._database.fetch_value(_STARTED, key))

    async def load_last_turns(self, tenant: str, session_id: str, count: int) -> list[TurnRow]:
        """Loads the last `count` turns, the oldest of them first."""
        wanted = {"tenant_id": tenant, "session_id": session_id, "count": count}
        rows = await self._database.fetch(_LAST, wanted)
        return [TurnRow(*row) for row in reversed(rows)]

    async def load_earlier_questions(
        self, tenant: str, session_id: str, skipped: int, count: int, rows_of: Collection[str] | None = None
    ) -> list[str]:
        """Loads the last `count` questions before the last `skipped` turns, as they were searched, the oldest first.
        rows_of: leaves out turns with business data of any other member.
        """
        wanted = {"tenant_id": tenant, "session_id": session_id, "skipped": skipped, "count": count}
        rows = await self._database.fetch(_BEFORE, wanted)
        return [row.standalone for row in reversed(rows) if rows_of is None or row.rows_of in rows_of]


def append_turns(connection: Connection, turns: Sequence[NewTurn]) -> None:
    """Adds turns at the end of their conversations, in this order; conversations that are not there are opened.

    Sessions are locked in the order of their names, so that processes that append at once cannot block each other.
    """
    connection.execute(_COUNT_TURNS[connection.dialect.name], _build_conversations(turns))
    connection.execute(_INSERT_TURN, _build_turns(turns))


def _build_conversations(turns: Iterable[NewTurn]) -> list[dict[str, Any]]:
    """Builds one row for each session, with the number of its turns; user, channel and secret are those of its first
    turn.
    """
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


def _build_turns(turns: Sequence[NewTurn]) -> list[dict[str, Any]]:
    """Builds one row for each turn; `later` is how many of these turns follow in its session."""
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
                "question": turn.utterance.original,
                "standalone": turn.utterance.expanded_text,
                "reply": turn.reply,
                "outcome": turn.outcome,
                "rows_of": turn.rows_of,
                "state": turn.state,
                "trace_id": turn.trace_id,
                "attachments": list(turn.attachments),
                "response": Serialised(turn.response.decode()),
                "created_at": turn.created_at,
            }
        )
    return rows


def load_asked_turns(connection: Connection, tenant: str, sessions: Sequence[str]) -> list[AskedTurn]:
    """Loads the turns of conversations, rejected ones too."""
    mine = (StoredTurn.tenant_id == tenant) & StoredTurn.session_id.in_(sessions)
    query = select(StoredTurn.standalone, StoredTurn.outcome, StoredTurn.response, StoredTurn.created_at).where(mine)
    return [AskedTurn(*row) for row in connection.execute(query)]


def delete_all(connection: Connection, tenant: str, sessions: Sequence[str]) -> int:
    """Deletes conversations, with what belongs to them by a foreign key, and returns how many there were."""
    mine = (Conversation.tenant_id == tenant) & Conversation.session_id.in_(sessions)
    return connection.execute(delete(Conversation).where(mine)).rowcount
