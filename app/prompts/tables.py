"""The texts of prompts that answers were written from."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base


class StoredPrompt(Base):
    """A text by its version, of all tenants: prompts belong to who runs the server. It stays as long as a trace may
    name it.
    """

    __tablename__ = "prompt_versions"

    version: Mapped[str] = mapped_column(String(16), primary_key=True)
    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    text: Mapped[str]
    created_at: Mapped[datetime]
