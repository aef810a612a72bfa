"""The appearance of a tenant's widget and its proactive messages."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped

from app.db.base import Base, tenant_key


class WidgetLook(Base):
    """look: the body of the HTTP interface; missing fields have their defaults."""

    __tablename__ = "widget_looks"

    tenant_id: Mapped[str] = tenant_key()
    look: Mapped[dict[str, Any]]
    updated_at: Mapped[datetime]
