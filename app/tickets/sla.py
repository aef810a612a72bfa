"""The service level of tickets: the deadlines of the first response and of the resolution. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

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
