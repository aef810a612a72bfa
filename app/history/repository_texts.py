"""The words of conversations, written with what was said and searched by a full-text index.

Row by row in the transaction that keeps what was said, so that a search misses nothing that a person has read.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, Dialect, bindparam, func, insert, literal_column, select, text

from app.db.base import get_table
from app.history.tables import ConversationTextRow as Table
from app.history.terms import build_phrases, build_terms, is_prefix
from app.types import SessionKey

if TYPE_CHECKING:
    from app.turns.types import NewTurn

TURN, MESSAGE, NOTE = "turn", "message", "note"
_INSERT = insert(get_table(Table))
# Random numbers of SQLite's rows: two of a billion texts are alike once in some billions.
_ROW_BITS = 62
# SQLite's full-text table, and the name of PostgreSQL's index.
INDEX = "conversation_texts_index"
_MATCHES = text(f"SELECT rowid FROM {INDEX} WHERE {INDEX} MATCH :phrases").columns(literal_column("rowid"))


def add_turns(connection: Connection, turns: Iterable[NewTurn]) -> None:
    """Makes turns searchable: the customer's messages and the replies, except replies with a member's own rows."""
    rows = [
        _build_row(
            SessionKey(turn.tenant, turn.session_id),
            TURN,
            turn.id,
            turn.utterance.original,
            "" if turn.rows_of else turn.reply,
        )
        for turn in turns
    ]
    if rows:
        connection.execute(_INSERT, rows)


def add_text(connection: Connection, key: SessionKey, kind: str, entry: str, said: str) -> None:
    """Makes a message of staff or a note searchable. entry: its id within the conversation."""
    connection.execute(_INSERT, [_build_row(key, kind, entry, said)])


def is_match(query: str, dialect: Dialect) -> ColumnElement[bool] | None:
    """Whether a text holds all words of a search; None where the search has none."""
    phrases = build_phrases(query)
    if not phrases:
        return None
    if dialect.name == "sqlite":
        asked = " ".join(f'"{phrase}"*' if is_prefix(phrase) else f'"{phrase}"' for phrase in phrases)
        return Table.row.in_(_MATCHES.bindparams(bindparam("phrases", asked, unique=True)))
    vector = func.to_tsvector(literal_column("'simple'::regconfig"), Table.terms)
    conditions = [vector.bool_op("@@")(_build_query(phrase)) for phrase in phrases]
    matches: ColumnElement[bool] = conditions[0]
    for condition in conditions[1:]:
        matches &= condition
    return matches


def purge(connection: Connection) -> None:
    """Has SQLite write its index anew without what was deleted, of which it otherwise keeps the words until it merges
    its parts; PostgreSQL does so when it cleans the table up.
    """
    if connection.dialect.name == "sqlite":
        connection.execute(text(f"INSERT INTO {INDEX}({INDEX}) VALUES ('optimize')"))


def select_sessions(matches: ColumnElement[bool], tenant: str) -> Any:
    """Builds a SELECT of the conversations in which a text matches."""
    return select(Table.session_id).where(Table.tenant_id == tenant, matches)


def find_entries(
    connection: Connection, tenant: str, sessions: Sequence[str], matches: ColumnElement[bool]
) -> list[tuple[str, str, str]]:
    """Returns session, kind and entry of each text of these conversations that matches."""
    own = (Table.tenant_id == tenant) & Table.session_id.in_(sessions)
    query = select(Table.session_id, Table.kind, Table.entry).where(own, matches)
    return [(row[0], row[1], row[2]) for row in connection.execute(query)]


def _build_query(phrase: str) -> ColumnElement[Any]:
    config: ColumnElement[Any] = literal_column("'simple'::regconfig")
    if is_prefix(phrase):
        return func.to_tsquery(config, f"{phrase}:*")
    return func.phraseto_tsquery(config, phrase)


def _build_row(key: SessionKey, kind: str, entry: str, *texts: str) -> dict[str, Any]:
    return {
        "tenant_id": key.tenant,
        "session_id": key.session_id,
        "kind": kind,
        "entry": entry,
        "row": secrets.randbits(_ROW_BITS),
        "terms": build_terms(*texts),
    }
