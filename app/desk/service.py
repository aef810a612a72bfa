"""What staff and customers do at the desk."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection

from agents.types import HandoffReason, HandoffRequest, Question
from app.db import desk, desk_messages, desk_staff
from app.db.desk import Step
from app.db.engine import Database
from app.db.models import now
from app.desk.feed import Feed
from app.desk.openings import Openings
from app.desk.types import Actor, DeskMessage, DeskSession, Event, Sender, SessionKey, Staff, State
from app.errors import Conflict, InvalidRequest, NotFound

_RESOLVED = "本次人工服务已结束，后续由智能客服为您服务；如需人工，请随时告诉我。"
_LEFT = "顾客已退出排队。"
_CLOSED = "会话已结束。"
_REQUEUED = "正在为您转接更合适的客服，请稍候。"


class Desk:
    """Every step is one transaction that holds the session, so of those who come at once one wins; on_commit: called
    after those that other parts of the product are told of.
    """

    def __init__(
        self, database: Database, feed: Feed, openings: Openings, on_commit: Callable[[], None] = lambda: None
    ) -> None:
        self._database = database
        self._feed = feed
        self._openings = openings
        self._on_commit = on_commit

    async def request(
        self, key: SessionKey, *, user_id: str = "", channel: str = "", skill: str = "", caller: str = ""
    ) -> DeskSession:
        """The customer asks for a person without saying anything; whoever waits already goes on waiting."""
        opening, _, _ = await self._openings.prepare(
            key,
            HandoffRequest(HandoffReason.ASKED),
            Question("", caller=caller),
            None,
            actor=Actor.CUSTOMER,
            user_id=user_id,
            skill=skill,
        )
        about = {"user_id": user_id, "channel": channel}
        return await self._done(lambda connection: desk.request(connection, key, opening, about))

    async def accept(self, key: SessionKey, agent_id: str) -> DeskSession:
        """This person takes the session. Raises NotFound, and Conflict when another was faster or there is no place."""

        def work(connection: Connection) -> DeskSession:
            member = desk_staff.enlist(connection, key.tenant, agent_id)
            session = desk.get(connection, key, lock=True)
            if session.state is not State.ASSIGNED:  # else that is what there is to say
                _require_place(member, session.skill)
            notice = f"客服 {member.name} 已接入，将为您服务。"
            return desk.move(connection, _taken(key, Event.ACCEPT, member, notice=notice))

        return await self._done(work)

    async def transfer(
        self, key: SessionKey, *, by: str = "", to: str = "", skill: str | None = None, note: str = ""
    ) -> DeskSession:
        """To a colleague, or back into the queue for whoever has the skill; a session keeps its age in the queue. by:
        who has it, when the caller says so.
        """

        def to_colleague(connection: Connection) -> DeskSession:
            member = desk_staff.known(connection, key.tenant, to)
            if member is None:
                raise NotFound(f"没有名为 {to} 的客服。", code="staff_not_found", agent_id=to)
            session = desk.get(connection, key, lock=True)
            if session.state is State.ASSIGNED and session.agent_id == to:
                raise InvalidRequest("会话已经在这位客服手上。", code="same_agent")
            _require_place(member, skill or "")
            notice = f"已为您转接到客服 {member.name}。"
            return desk.move(connection, _taken(key, Event.TRANSFER, member, holder=by, note=note, notice=notice))

        def to_queue(connection: Connection) -> DeskSession:
            values = {"agent_id": "", "assigned_at": None, "skill": skill or ""}
            step = Step(key, Event.REQUEUE, Actor.STAFF, by, by, note, _REQUEUED, values)
            return desk.move(connection, step)

        return await self._done(to_colleague if to else to_queue)

    async def resolve(self, key: SessionKey, *, by: str = "", note: str = "") -> DeskSession:
        """Back to the bot. by: who has it, when the caller says so."""

        def work(connection: Connection) -> DeskSession:
            holder = by or desk.get(connection, key, lock=True).agent_id
            values = {"resolved_at": now()}
            return desk.move(connection, Step(key, Event.RESOLVE, Actor.STAFF, holder, holder, note, _RESOLVED, values))

        return await self._done(work)

    async def say(self, key: SessionKey, content: str, *, by: str = "", client_id: str = "") -> DeskMessage:
        """A message of the person who has the session; sent twice under one `client_id` it is kept once."""

        def work(connection: Connection) -> tuple[DeskMessage, DeskSession]:
            session = desk.get(connection, key, lock=True)
            message = desk_messages.find(connection, key, Sender.AGENT, client_id) if client_id else None
            if message is None:
                if session.state is not State.ASSIGNED or by not in ("", session.agent_id):
                    raise desk.refused(session)
                who = session.agent_id
                message = desk_messages.add(connection, key, Sender.AGENT, content, agent_id=who, client_id=client_id)
            return message, desk.get(connection, key)

        message, session = await self._database.transact(work)
        self._feed.note([session])
        return message

    async def leave(self, key: SessionKey) -> DeskSession:
        """The customer goes back to the bot instead of waiting."""
        return await self._move(Step(key, Event.LEAVE, Actor.CUSTOMER, notice=_LEFT))

    async def close(self, key: SessionKey, actor: Actor, *, by: str = "", note: str = "") -> DeskSession:
        """Ends it; should the customer write again, the bot answers."""
        return await self._move(Step(key, Event.CLOSE, actor, by, note=note, notice=_CLOSED))

    async def system(self, step: Step) -> DeskSession:
        """A step that follows from the time."""
        return await self._move(step)

    async def _move(self, step: Step) -> DeskSession:
        return await self._done(lambda connection: desk.move(connection, step))

    async def _done(self, work: Callable[[Connection], DeskSession]) -> DeskSession:
        session = await self._database.transact(work)
        self._feed.note([session])
        self._on_commit()
        return session


def _taken(key: SessionKey, event: Event, member: Staff, *, holder: str = "", note: str = "", notice: str) -> Step:
    values = {"agent_id": member.agent_id} | ({"assigned_at": now()} if event is Event.ACCEPT else {})
    return Step(key, event, Actor.STAFF, member.agent_id, holder, note, notice, values)


def _require_place(member: Staff, skill: str) -> None:
    if member.capacity and member.assigned >= member.capacity:
        raise Conflict(
            f"{member.name} 手上已有 {member.assigned} 个会话，达到上限。",
            code="at_capacity",
            agent_id=member.agent_id,
            capacity=member.capacity,
        )
    if skill and member.skills and skill not in member.skills:
        raise Conflict(
            f"{member.name} 没有“{skill}”技能。", code="skill_missing", agent_id=member.agent_id, skill=skill
        )
