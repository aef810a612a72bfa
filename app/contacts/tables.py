"""What staff call customers, how they label them, and which pages customers were on."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, delete_with, tenant_key


class ContactRow(Base):
    """A customer: the member `caller`, or whoever had the conversation `session_id` without proof; the other of the two
    is empty. Only there once staff gave a name; `name` is empty where they took it back.
    """

    __tablename__ = "contacts"

    tenant_id: Mapped[str] = tenant_key()
    caller: Mapped[str] = mapped_column(String(128), primary_key=True)
    session_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    name: Mapped[str] = mapped_column(String(64))
    updated_at: Mapped[datetime]


class ContactLabelRow(Base):
    """A label of a customer, who is named as in `ContactRow`."""

    __tablename__ = "contact_labels"

    tenant_id: Mapped[str] = tenant_key()
    caller: Mapped[str] = mapped_column(String(128), primary_key=True)
    session_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    label: Mapped[str] = mapped_column(String(32), primary_key=True)


class ConversationLabelRow(Base):
    """A label of one conversation."""

    __tablename__ = "conversation_labels"

    tenant_id: Mapped[str] = tenant_key()
    session_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    label: Mapped[str] = mapped_column(String(32), primary_key=True)

    __table_args__ = (delete_with("conversations", session_id="session_id"),)


class VisitRow(Base):
    """A page that the customer of a conversation was on, without what stands behind ? and # in its address."""

    __tablename__ = "conversation_visits"

    tenant_id: Mapped[str] = tenant_key()
    session_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    url: Mapped[str] = mapped_column(String(500), primary_key=True)
    title: Mapped[str] = mapped_column(String(200))
    visits: Mapped[int]
    first_at: Mapped[datetime]
    last_at: Mapped[datetime]

    __table_args__ = (delete_with("conversations", session_id="session_id"),)
