"""What staff do with a session, each within one transaction that holds it: of those who come at once one wins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from app.db.base import now
from app.desk import moves
from app.desk import repository_handlings as desk_handlings
from app.desk import repository_messages as desk_messages
from app.desk import repository_notes as desk_notes
from app.desk import repository_reads as desk_reads
from app.desk import repository_staff as desk_staff
from app.desk import repository_teams as desk_teams
from app.desk.moves import Step
from app.desk.partners import Partners
from app.desk.types import ACTIVE, Actor, DeskMessage, DeskNote, DeskSession, Event, Sender, Staff, State
from app.errors import Conflict, NotFound
from app.types import SessionKey

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection


def accept_session(connection: Connection, key: SessionKey, agent_id: str) -> DeskSession:
    """Gives a session to a person. One that the person has already stays so, so that the request may be sent twice.

    Raises:
        NotFound: There is no such session.
        Conflict: Another person was faster, or this one may not take it: no free place, skill or team.
    """
    member = desk_staff.register_member(connection, key.tenant, agent_id)
    session = moves.get(connection, key, lock=True)
    if session.state is State.ASSIGNED and session.agent_id == agent_id:
        return session
    # A session that a colleague has already is refused as such below, however many this person has.
    if session.state is not State.ASSIGNED:
        _require_place(member, session.skill, session.team)
    values = {"agent_id": agent_id, "assigned_at": now()}
    notice = f"客服 {member.name} 已接入，将为您服务。"
    desk_reads.mark_read(connection, key, agent_id, session.messages, viewing=False)
    return moves.apply_step(connection, Step(key, Event.ACCEPT, Actor.STAFF, agent_id, notice=notice, values=values))


def transfer_to_colleague(connection: Connection, key: SessionKey, to: str, holder: str, note: str) -> DeskSession:
    """Transfers the session to a colleague. Raises NotFound, Conflict."""
    # The member before the session, as in `accept_session`: in the other order two transactions could wait for each
    # other for ever.
    member = desk_staff.lock_member(connection, key.tenant, to)
    if member is None:
        raise NotFound(f"没有名为 {to} 的客服。", code="staff_not_found", agent_id=to)
    session = moves.get(connection, key, lock=True)
    if session.state is State.ASSIGNED and session.agent_id == to:
        raise Conflict("会话已经在这位客服手上。", code="same_agent")
    _require_place(member, "")  # only the place: skill and team do not bind a transfer to a named colleague
    notice = f"已为您转接到客服 {member.name}。"
    return moves.apply_step(
        connection, Step(key, Event.TRANSFER, Actor.STAFF, to, holder, note, notice, {"agent_id": to})
    )


def return_to_team_queue(
    connection: Connection, key: SessionKey, team: str, skill: str, holder: str, note: str
) -> DeskSession:
    """Returns the session to the queue, for members of a team. Raises NotFound, Conflict."""
    known = desk_teams.find(connection, key.tenant, team)
    if known is None:
        raise NotFound("没有找到这个客服组。", code="team_not_found", id=team)
    values = {"agent_id": "", "assigned_at": None, "skill": skill, "team": team}
    notice = f"正在为您转接「{known.name}」，请稍候。"
    return moves.apply_step(connection, Step(key, Event.REQUEUE, Actor.STAFF, holder, holder, note, notice, values))


def resolve(
    connection: Connection, key: SessionKey, by: str, note: str, notice: str, partners: Partners
) -> DeskSession:
    """Resolves a session and the ticket that was opened for it.

    Args:
        connection: Of the transaction.
        key: The session.
        by: The person who has the session; empty where the caller does not say.
        note: For colleagues.
        notice: What the customer reads.
        partners: The parts of the product that take part in the transaction.

    Raises:
        NotFound: There is no such session.
        Conflict: Nobody has it, or another person does.
    """
    holder = by or moves.get(connection, key, lock=True).agent_id
    step = Step(key, Event.RESOLVE, Actor.STAFF, holder, holder, note, notice, {"resolved_at": now()})
    after = moves.apply_step(connection, step)
    partners.resolve_tickets(connection, key)
    return after


def send_message(
    connection: Connection,
    key: SessionKey,
    content: str,
    by: str,
    client_id: str,
    partners: Partners,
    attachments: Sequence[dict[str, Any]] = (),
) -> tuple[DeskMessage, DeskSession]:
    """Sends a message of the person who has the session.

    client_id: a message with the same one was sent before and stays as it is. Raises NotFound, and Conflict where
    nobody or another person has the session.
    """
    session = moves.get(connection, key, lock=True)
    message = desk_messages.find(connection, key, Sender.AGENT, client_id) if client_id else None
    if message is None:
        if session.state is not State.ASSIGNED or by not in ("", session.agent_id):
            raise moves.build_conflict(session)
        who = session.agent_id
        message = desk_messages.add(
            connection, key, Sender.AGENT, content, agent_id=who, client_id=client_id, attachments=attachments
        )
        desk_handlings.record_response(connection, key, message.created_at)
        partners.announce_message(connection, session, message)
    return message, moves.get(connection, key)


def add_note(
    connection: Connection, key: SessionKey, content: str, by: str, partners: Partners
) -> tuple[DeskNote, DeskSession]:
    """Adds a note for colleagues, as the session's next version, so that every open desk learns of it. Raises
    NotFound.
    """
    session = moves.get(connection, key, lock=True)
    written = desk_notes.add(connection, key, by, content)
    partners.announce_note(connection, key, written)
    moves.update_session(connection, session, {})
    return written, moves.get(connection, key)


def set_priority(connection: Connection, key: SessionKey, priority: int) -> DeskSession:
    """Sets how urgent staff find the session, up or down. Raises NotFound, and Conflict for a session that is over."""
    session = moves.get(connection, key, lock=True)
    if session.state not in ACTIVE:
        raise moves.build_conflict(session)
    moves.update_session(connection, session, {"priority": priority, "card": session.card | {"priority": priority}})
    return moves.get(connection, key)


def snooze_session(connection: Connection, key: SessionKey, until: datetime | None, by: str) -> DeskSession:
    """Puts the session aside until then, or with None takes it up again. by: who has it, when the caller says so.
    Raises NotFound, Conflict.
    """
    session = moves.get(connection, key, lock=True)
    if session.state is not State.ASSIGNED or by not in ("", session.agent_id):
        raise moves.build_conflict(session)
    moves.update_session(connection, session, {"snoozed_until": until})
    return moves.get(connection, key)


def _require_place(member: Staff, skill: str, team: str = "") -> None:
    if member.capacity and member.assigned >= member.capacity:
        raise Conflict(
            f"{member.name} 手上已有 {member.assigned} 个会话，达到上限。",
            code="at_capacity",
            agent_id=member.agent_id,
            capacity=member.capacity,
        )
    if not member.can_take(skill):
        raise Conflict(
            f"{member.name} 没有“{skill}”技能。", code="skill_missing", agent_id=member.agent_id, skill=skill
        )
    if not member.can_take("", team):
        message = f"这个会话转给了别的客服组，{member.name} 不在其中。"
        raise Conflict(message, code="team_missing", agent_id=member.agent_id, team=team)
