"""How a tenant's widget looks and when it speaks first."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped

from app.db.base import Base, tenant_key


class WidgetLook(Base):
    """look: as the interface has it; what is left out is as by default."""

    __tablename__ = "widget_looks"

    tenant_id: Mapped[str] = tenant_key()
    look: Mapped[dict[str, Any]]
    updated_at: Mapped[datetime]
