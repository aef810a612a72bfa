"""What makes the assistant a company's own."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped

from app.db.base import Base, tenant_key


class Profile(Base):
    """A tenant's profile; a tenant without a row has the default one."""

    __tablename__ = "profiles"

    tenant_id: Mapped[str] = tenant_key()
    profile: Mapped[dict[str, Any]]
    updated_at: Mapped[datetime]
