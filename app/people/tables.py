"""Colleagues with accounts of their own, and where they are signed in."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, delete_with, tenant_key


class PersonRow(Base):
    """A colleague. `login` is what they sign in with and what the desk knows them by; it never changes. `password` is
    an Argon2 hash, null until the person chose one; `subject` is the person's number at the identity provider.
    `invitation` is the SHA-256 of a link that works once.
    """

    __tablename__ = "people"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    login: Mapped[str] = mapped_column(String(64))
    name: Mapped[str] = mapped_column(String(64))
    role: Mapped[str] = mapped_column(String(16))
    password: Mapped[str | None] = mapped_column(String(256))
    subject: Mapped[str | None] = mapped_column(String(128))
    invitation: Mapped[str | None] = mapped_column(String(64))
    invited_until: Mapped[datetime | None]
    created_at: Mapped[datetime]
    disabled_at: Mapped[datetime | None]
    signed_in_at: Mapped[datetime | None]

    __table_args__ = (
        UniqueConstraint("tenant_id", "login"),
        UniqueConstraint("tenant_id", "subject"),
        UniqueConstraint("invitation"),
    )


class SignInRow(Base):
    """One browser that is signed in, by the SHA-256 of its cookie: of a person, or of whoever showed a key, which is
    kept as its digest. Over `expires_at`, whatever happens, or when nothing was asked for a while after `seen_at`.
    """

    __tablename__ = "sign_ins"

    tenant_id: Mapped[str] = tenant_key()
    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    person_id: Mapped[str | None] = mapped_column(String(32))
    key_digest: Mapped[str | None] = mapped_column(String(64))
    created_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    expires_at: Mapped[datetime]

    __table_args__ = (
        delete_with("people", person_id="id"),
        UniqueConstraint("digest"),
        Index(None, "tenant_id", "person_id"),
    )
