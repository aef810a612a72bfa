"""The service level of tickets: by when somebody answers, by when it is done. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from agents.understanding.tickets import Priority
from app.settings import Settings

RESPONSE_SHARE = 1 / 6
"""Of the time to resolve a ticket, what there is for the first response."""


@dataclass(frozen=True, slots=True)
class ServiceLevels:
    """hours: by priority, from a ticket's opening to its resolution."""

    hours: Mapping[Priority, float]

    def resolve(self, priority: Priority) -> timedelta:
        """How long a ticket may take."""
        return timedelta(hours=self.hours[priority])

    def respond(self, priority: Priority) -> timedelta:
        """How long its customer may wait for the first response."""
        return self.resolve(priority) * RESPONSE_SHARE


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of a ticket: it stands still while it waits for the customer, and stops when it is resolved."""

    respond_by: datetime
    resolve_by: datetime
    responded_at: datetime | None = None
    waiting_since: datetime | None = None
    resolved_at: datetime | None = None

    @property
    def paused(self) -> bool:
        return self.waiting_since is not None

    def remaining(self, moment: datetime) -> timedelta:
        """Until the time to resolve it is over; negative afterwards."""
        return self.resolve_by - (self.resolved_at or self.waiting_since or moment)

    def response_breached(self, moment: datetime) -> bool:
        """Whether the first response came too late, or is late."""
        return (self.responded_at or self.resolved_at or self.waiting_since or moment) > self.respond_by

    def breached(self, moment: datetime) -> bool:
        """Whether the resolution came too late, or is late."""
        return self.remaining(moment) < timedelta(0)


def service_levels(settings: Settings) -> ServiceLevels:
    """The company's own."""
    return ServiceLevels(
        {
            Priority.URGENT: settings.ticket_urgent_hours,
            Priority.HIGH: settings.ticket_high_hours,
            Priority.NORMAL: settings.ticket_normal_hours,
            Priority.LOW: settings.ticket_low_hours,
        }
    )
