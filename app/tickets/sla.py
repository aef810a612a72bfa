"""The service level of tickets: the deadlines of the first response and of the resolution. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from agents.understanding.tickets import Priority
from app.settings import Settings

# Of the time to resolve a ticket, what there is for the first response.
RESPONSE_SHARE = 1 / 6


@dataclass(frozen=True, slots=True)
class ServiceLevels:
    """hours: by priority, from a ticket's opening to its resolution."""

    hours: Mapping[Priority, float]

    def get_resolution_time(self, priority: Priority) -> timedelta:
        """Returns how long a ticket may take."""
        return timedelta(hours=self.hours[priority])

    def get_response_time(self, priority: Priority) -> timedelta:
        """Returns how long its customer may wait for the first response."""
        return self.get_resolution_time(priority) * RESPONSE_SHARE


@dataclass(frozen=True, slots=True)
class TicketClock:
    """The clock of a ticket: it stands still while it waits for the customer, and stops when it is resolved."""

    respond_by: datetime
    resolve_by: datetime
    responded_at: datetime | None = None
    waiting_since: datetime | None = None
    resolved_at: datetime | None = None

    @property
    def is_paused(self) -> bool:
        return self.waiting_since is not None

    def compute_remaining(self, moment: datetime) -> timedelta:
        """Returns the time left to resolve it; negative once it is over."""
        return self.resolve_by - (self.resolved_at or self.waiting_since or moment)

    def is_response_breached(self, moment: datetime) -> bool:
        """Whether the first response came after `respond_by`, or is missing after it at this moment.

        A ticket that is resolved or waits for the customer counts as answered at that time.
        """
        return (self.responded_at or self.resolved_at or self.waiting_since or moment) > self.respond_by

    def is_breached(self, moment: datetime) -> bool:
        """Whether the ticket was resolved after `resolve_by`, or is unresolved after it at this moment."""
        return self.compute_remaining(moment) < timedelta(0)


def build_service_levels(settings: Settings) -> ServiceLevels:
    """Reads the service levels from the settings."""
    return ServiceLevels(
        {
            Priority.URGENT: settings.ticket_urgent_hours,
            Priority.HIGH: settings.ticket_high_hours,
            Priority.NORMAL: settings.ticket_normal_hours,
            Priority.LOW: settings.ticket_low_hours,
        }
    )
