"""The queue as a customer sees it: position, wait, business hours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from agents.language import is_reply_english
from agents.types import Question
from app.db.base import now
from app.desk.queue_notices import compute_wait
from app.desk.repository_sessions import DeskSessionRepository
from app.desk.repository_staff import StaffLoad, StaffRepository
from app.desk.types import WAITING, DeskSession, QueueState, Staff, State
from app.errors import Conflict
from app.profiles.hours import BusinessHours, parse_business_hours

if TYPE_CHECKING:
    from app.profiles.repository import ProfileRepository


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a session that asks for a person now would meet; `opening` is when staff are back, None while they are
    there.
    """

    queue: QueueState
    opening: datetime | None = None


class Queue:
    """All sessions of a tenant that wait for a person."""

    def __init__(self, sessions: DeskSessionRepository, staff: StaffRepository, profiles: ProfileRepository) -> None:
        self._sessions = sessions
        self._staff = staff
        self._profiles = profiles

    async def load_hours(self, tenant: str) -> BusinessHours:
        """Loads the business hours of the tenant's staff."""
        profile = await self._profiles.get(tenant)
        return parse_business_hours(profile.business_hours, profile.timezone)

    async def compute_forecast(self, tenant: str, priority: int, skill: str) -> Forecast:
        """Computes the place in the queue and the wait of a session that comes now."""
        position = await self._sessions.count_ahead(tenant, priority) + 1
        wait = await self._wait(tenant, position, skill)
        if opening := await self.find_next_opening(tenant):
            return Forecast(QueueState(State.OUT_OF_HOURS, position), opening)
        return Forecast(QueueState(State.QUEUED, position, wait))

    async def find_next_opening(self, tenant: str, moment: datetime | None = None) -> datetime | None:
        """Returns when staff are back, in their own time zone; None while they are there.

        moment: an aware time to look from, by default the present.
        """
        return (await self.load_hours(tenant)).find_next_opening(moment or now())

    async def is_english(self, tenant: str, question: Question) -> bool:
        """Whether the customer is addressed in English."""
        return is_reply_english(question, await self._profiles.get(tenant))

    async def get_state(self, session: DeskSession | None) -> QueueState:
        """Returns what the customer of a session is told now; None for a session that never was with the desk."""
        if session is None:
            return QueueState(State.BOT)
        queue = QueueState(session.state)
        if session.state in WAITING:
            ahead = await self._sessions.count_ahead(
                session.tenant, session.priority, session.queued_at, session.session_id
            )
            queued = session.state is State.QUEUED
            wait = await self._wait(session.tenant, ahead + 1, session.skill, session.team) if queued else None
            return replace(queue, position=ahead + 1, estimated_wait_s=wait, ticket=session.ticket)
        if session.state is State.ASSIGNED:
            member = await self._staff.get(session.tenant, session.agent_id)
            return replace(queue, agent=member.name if member else session.agent_id)
        return queue

    async def is_attended(self, tenant: str, skill: str, team: str = "") -> bool:
        """Whether anybody on duty may accept a session that needs the skill and is for the team."""
        return bool(await self._list_able_staff(tenant, await self._staff.load(tenant), skill, team))

    async def is_working(self, tenant: str, member: Staff) -> bool:
        """Whether a member of staff is within their hours now; always true for one without hours of their own."""
        if not member.hours:
            return True
        zone = (await self._profiles.get(tenant)).timezone
        return parse_business_hours(member.hours, zone).is_open_at(now())

    async def require_working(self, tenant: str, agent_id: str) -> None:
        """Raises Conflict for a member of staff outside of their hours."""
        member = await self._staff.get(tenant, agent_id)
        if member is not None and not await self.is_working(tenant, member):
            raise Conflict(f"{member.name} 现在不在班次里，请转给别人或客服组。", code="off_hours", agent_id=agent_id)

    async def _list_able_staff(self, tenant: str, load: StaffLoad, skill: str, team: str) -> list[Staff]:
        """Lists the staff on duty, within their hours, who may accept."""
        able = [member for member in load.on_duty if member.can_take(skill, team)]
        return [member for member in able if await self.is_working(tenant, member)]

    async def _wait(self, tenant: str, position: int, skill: str, team: str = "") -> int | None:
        load = await self._staff.load(tenant)
        return compute_wait(position, await self._list_able_staff(tenant, load, skill, team), load.handling_seconds)
