"""The language model that was connected in the console."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class ModelConnectionRow(Base):
    """Of the whole installation, kept for the default tenant, who alone may change it. version: grows with every
    change; sealed_key: encrypted by SECRETS_KEY; base_url: empty where nothing is connected any more.
    """

    __tablename__ = "model_connections"

    tenant_id: Mapped[str] = tenant_key()
    version: Mapped[int]
    provider: Mapped[str] = mapped_column(String(32))
    base_url: Mapped[str]
    model: Mapped[str] = mapped_column(String(200))
    sealed_key: Mapped[str]
    by: Mapped[str]
    updated_at: Mapped[datetime]
