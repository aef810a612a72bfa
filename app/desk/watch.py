"""What follows from the time alone: staff come on duty or vanish, customers are forgotten, nobody is there."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta

from app.db.base import now
from app.desk.moves import Step
from app.desk.queue import Queue
from app.desk.repository_sessions import DeskSessionRepository
from app.desk.repository_staff import StaffRepository
from app.desk.service import Desk
from app.desk.types import Actor, DeskSession, Event, State
from app.errors import Conflict, NotFound

_OPENED = "人工服务时间已开始，正在等待客服接入。"
_RELEASED = "客服暂时联系不上，正在为您重新安排。"
_TICKETED = "目前没有客服在线，已为您登记工单 {}，客服上线后会尽快处理。"
_EXPIRED = "会话长时间没有新消息，已自动结束。"


class Watch:
    """Looks at all sessions, every few seconds; any number of processes may, for each step is a compare-and-set.

    release: how long a customer waits for the answer of somebody who is gone; idle: until a session is over.
    """

    def __init__(
        self,
        service: Desk,
        sessions: DeskSessionRepository,
        staff: StaffRepository,
        queue: Queue,
        *,
        release: timedelta,
        idle: timedelta,
    ) -> None:
        self._service = service
        self._sessions = sessions
        self._staff = staff
        self._queue = queue
        self._release = release
        self._idle = idle

    async def run_round(self) -> None:
        """Runs all steps once."""
        for session in await self._sessions.list_in_state(State.OUT_OF_HOURS):
            if (await self._queue.load_hours(session.tenant)).is_open_at(now()):
                await self._try_step(Step(session.key, Event.OPEN, Actor.SYSTEM, notice=_OPENED))
        for session in await self._sessions.list_unanswered(self._release):
            member = await self._staff.get(session.tenant, session.agent_id)
            if member is None or member.last_seen is None or member.last_seen < now() - self._release:
                values = {"agent_id": "", "assigned_at": None, "priority": session.priority + 1}
                step = Step(session.key, Event.RELEASE, Actor.SYSTEM, "", session.agent_id, "", _RELEASED, values)
                await self._try_step(step)
        for session in await self._sessions.list_forgotten(self._idle):
            await self._try_step(Step(session.key, Event.EXPIRE, Actor.SYSTEM, notice=_EXPIRED))
        await self._open_tickets(await self._sessions.list_in_state(State.QUEUED))

    async def _open_tickets(self, queued: Iterable[DeskSession]) -> None:
        """Opens tickets for customers who wait although nobody on duty can take them any more."""
        attended: dict[tuple[str, str, str], bool] = {}
        for session in queued:
            needed = session.tenant, session.skill, session.team
            if session.ticket:
                continue
            if needed not in attended:
                attended[needed] = await self._queue.is_attended(*needed)
            if not attended[needed]:
                with suppress(Conflict, NotFound):  # it moved on meanwhile, or was deleted
                    await self._service.open_ticket(session, _TICKETED)

    async def _try_step(self, step: Step) -> None:
        with suppress(Conflict, NotFound):  # somebody was faster
            await self._service.apply_step(step)
