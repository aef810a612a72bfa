"""What the desk remembers: what staff have read, what they call customers, labels, pages, saved views, all words."""

from __future__ import annotations

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"

_OF_CONVERSATION = ["conversations.tenant_id", "conversations.session_id"]
_KEY = ["tenant_id", "session_id"]
_BATCH = 500


def _text(name: str, length: int) -> sa.Column[str]:
    return sa.Column(name, sa.String(length=length), nullable=False)


def _moment(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def upgrade() -> None:
    op.add_column("desk_sessions", _moment("snoozed_until", nullable=True))
    op.create_index(
        "ix_desk_events_tenant_id_agent_id_created_at", "desk_events", ["tenant_id", "agent_id", "created_at"]
    )
    op.create_index("ix_conversations_tenant_id_caller", "conversations", ["tenant_id", "caller"])
    op.create_table(
        "desk_reads",
        _text("tenant_id", 64),
        _text("session_id", 64),
        _text("agent_id", 64),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        _moment("seen_at", nullable=True),
        sa.ForeignKeyConstraint(
            _KEY,
            ["desk_sessions.tenant_id", "desk_sessions.session_id"],
            name="fk_desk_reads_desk_sessions",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "agent_id", name="pk_desk_reads"),
    )
    op.create_table(
        "contacts",
        _text("tenant_id", 64),
        _text("caller", 128),
        _text("session_id", 64),
        _text("name", 64),
        _moment("updated_at"),
        sa.PrimaryKeyConstraint("tenant_id", "caller", "session_id", name="pk_contacts"),
    )
    op.create_table(
        "contact_labels",
        _text("tenant_id", 64),
        _text("caller", 128),
        _text("session_id", 64),
        _text("label", 32),
        sa.PrimaryKeyConstraint("tenant_id", "caller", "session_id", "label", name="pk_contact_labels"),
    )
    op.create_table(
        "conversation_labels",
        _text("tenant_id", 64),
        _text("session_id", 64),
        _text("label", 32),
        sa.ForeignKeyConstraint(
            _KEY, _OF_CONVERSATION, name="fk_conversation_labels_conversations", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "label", name="pk_conversation_labels"),
    )
    op.create_table(
        "conversation_visits",
        _text("tenant_id", 64),
        _text("session_id", 64),
        _text("url", 500),
        _text("title", 200),
        sa.Column("visits", sa.BigInteger(), nullable=False),
        _moment("first_at"),
        _moment("last_at"),
        sa.ForeignKeyConstraint(
            _KEY, _OF_CONVERSATION, name="fk_conversation_visits_conversations", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "url", name="pk_conversation_visits"),
    )
    op.create_table(
        "saved_views",
        _text("tenant_id", 64),
        _text("id", 32),
        _text("agent_id", 64),
        _text("name", 64),
        sa.Column("filter", sa.JSON(), nullable=False),
        _moment("created_at"),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_saved_views"),
    )
    op.create_index("ix_saved_views_tenant_id_agent_id", "saved_views", ["tenant_id", "agent_id"])
    op.create_table(
        "conversation_texts",
        _text("tenant_id", 64),
        _text("session_id", 64),
        _text("kind", 8),
        _text("entry", 64),
        sa.Column("row", sa.BigInteger(), nullable=False),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(_KEY, _OF_CONVERSATION, name="fk_conversation_texts_conversations", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "kind", "entry", name="pk_conversation_texts"),
        sa.UniqueConstraint("row", name="uq_conversation_texts_row"),
    )
    _index()
    _fill()


def _index() -> None:
    name = "conversation_texts_index"
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"CREATE INDEX {name} ON conversation_texts USING gin (to_tsvector('simple'::regconfig, terms))")
        return
    op.execute(
        f"CREATE VIRTUAL TABLE {name} USING fts5(terms, content='conversation_texts', content_rowid='row', "
        "columnsize=0, tokenize='unicode61 remove_diacritics 0')"
    )
    op.execute(
        "CREATE TRIGGER conversation_texts_added AFTER INSERT ON conversation_texts BEGIN "
        f'INSERT INTO {name}(rowid, terms) VALUES (new."row", new.terms); END'
    )
    op.execute(
        "CREATE TRIGGER conversation_texts_deleted AFTER DELETE ON conversation_texts BEGIN "
        f"INSERT INTO {name}({name}, rowid, terms) VALUES ('delete', old.\"row\", old.terms); END"
    )


def _fill() -> None:
    """What was said before is found as well. A batch at a time: a base may have a million turns."""
    from app.history.terms import build_terms

    connection, columns = op.get_bind(), ("tenant_id", "session_id", "kind", "entry", "row", "terms")
    texts = sa.table("conversation_texts", *map(sa.column, columns))
    sources = (
        (
            "turn",
            "SELECT tenant_id, session_id, id, question, CASE WHEN rows_of = '' THEN reply ELSE '' END FROM turns",
        ),
        ("message", "SELECT tenant_id, session_id, seq, content, '' FROM desk_messages WHERE sender = 'agent'"),
        ("note", "SELECT tenant_id, session_id, id, content, '' FROM desk_notes"),
    )
    for kind, query in sources:
        found = connection.execute(sa.text(query))
        while rows := found.fetchmany(_BATCH):
            values = [
                dict(
                    zip(columns, (*key, kind, str(entry), secrets.randbits(62), build_terms(said, reply)), strict=True)
                )
                for *key, entry, said, reply in rows
            ]
            connection.execute(sa.insert(texts), values)
