"""Moves sessions from state to state, each within a transaction: of those who come at once one wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from app.db.base import now
from app.desk import repository
from app.desk import repository_handlings as handlings
from app.desk import repository_messages as desk_messages
from app.desk.states import RULES, is_allowed
from app.desk.types import WAITING, Actor, DeskSession, Event, Sender, State
from app.errors import Conflict, NotFound
from app.privacy import mask_personal_data
from app.turns.types import NOBODY, Claim, Opening
from app.types import SessionKey
from app.webhooks.events import WebhookEvent, emit_event

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.desk.partners import Opener, Partners

# Transitions that webhooks learn of; of a request with its card.
_EVENTS = {
    Event.ACCEPT: WebhookEvent.HANDOFF_ACCEPTED,
    Event.RESOLVE: WebhookEvent.HANDOFF_RESOLVED,
    Event.LEAVE: WebhookEvent.HANDOFF_LEFT,
    Event.CLOSE: WebhookEvent.HANDOFF_CLOSED,
    Event.EXPIRE: WebhookEvent.HANDOFF_CLOSED,
}


@dataclass(frozen=True, slots=True)
class Step:
    """One transition to be made. `agent_id` is who acts, or who takes over; `holder` must have the session, when given.

    `values` are columns that change with it, `notice` is a message of the system that both sides see, `note` is for
    staff.
    """

    key: SessionKey
    event: Event
    actor: Actor
    agent_id: str = ""
    holder: str = ""
    note: str = ""
    notice: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)


def get(connection: Connection, key: SessionKey, *, lock: bool = False) -> DeskSession:
    """Finds a session; see `repository.find`. Raises NotFound."""
    found = repository.find(connection, key, lock=lock)
    if found is None:
        raise build_not_found(key)
    return found


def apply_step(connection: Connection, step: Step) -> DeskSession:
    """Makes a transition and returns the session after it. Raises NotFound, and Conflict if it may not happen now."""
    before = get(connection, step.key, lock=True)
    if not is_allowed(before.state, step.event, step.actor) or step.holder not in ("", before.agent_id):
        raise build_conflict(before)
    moment, rule = now(), RULES[step.event]
    fresh = {"fresh_at": moment} if rule.fresh else {}
    # Every step ends a pause: a session that moves is to be seen again.
    values = {"snoozed_until": None, **step.values, "state": rule.target.value, "active_at": moment, **fresh}
    update_session(connection, before, values)
    repository.record(connection, before, step, rule.target)
    handlings.follow(connection, before, step, moment)
    if step.notice:
        desk_messages.add(connection, step.key, Sender.SYSTEM, step.notice)
    after = get(connection, step.key)
    if (event := _EVENTS.get(step.event)) is not None:
        told = _build_event_data(after) | {"agent_id": step.agent_id or after.agent_id, "by": step.actor.value}
        emit_event(connection, step.key.tenant, event, told)
    return after


def request_person(
    connection: Connection,
    key: SessionKey,
    opening: Opening,
    about: Mapping[str, Any],
    partners: Partners,
    claim: Claim = NOBODY,
) -> DeskSession:
    """Puts a session into the queue, or outside business hours into the wait for them; one that is there already stays
    as it is.

    Args:
        connection: Of the transaction.
        key: The session.
        opening: What `Openings.prepare` found.
        about: `user_id` and `channel` of a conversation that has no turn yet.
        partners: The parts of the product that take part in the transaction.
        claim: By what right the session is changed, where no turn of this transaction has checked that already.

    Raises:
        Forbidden: The claim does not hold.
    """
    partners.lock_conversation(connection, key, about, claim)
    member = partners.find_member(connection, key, claim)
    repository.insert_session(connection, key)
    before = get(connection, key, lock=True)
    event = Event.REQUEST_AFTER_HOURS if opening.after_hours else Event.REQUEST
    actor = Actor.CUSTOMER if opening.by_customer else Actor.BOT
    if not is_allowed(before.state, event, actor):
        return before
    values = {
        "agent_id": "",
        "user_id": member or about["user_id"] or before.user_id,
        "channel": about["channel"] or before.channel,
        "caller": member or opening.caller,
        "reason": opening.reason,
        "priority": opening.priority,
        "emotion": opening.emotion,
        "skill": opening.skill,
        "team": "",
        "card": opening.card | {"user_id": mask_personal_data(member or about["user_id"]), "verified": bool(member)},
        "ticket": opening.ticket,
        "queued_at": now(),
        "assigned_at": None,
        "resolved_at": None,
    }
    step = Step(key, event, actor, note=opening.reason, notice=opening.notice, values=values)
    after = apply_step(connection, step)
    emit_event(connection, key.tenant, WebhookEvent.HANDOFF_QUEUED, _build_event_data(after))
    return after


def get_claimed_session(connection: Connection, key: SessionKey, partners: Partners, claim: Claim) -> DeskSession:
    """Returns a session at the desk for somebody with a claim on it. Raises Forbidden, NotFound."""
    partners.find_member(connection, key, claim)
    return get(connection, key)


def open_ticket(connection: Connection, key: SessionKey, opener: Opener, notice: str) -> DeskSession:
    """Opens the ticket of a session that waits. notice: with its number, for `str.format`. Raises NotFound, and
    Conflict if it waits no more or has one.
    """
    session = get(connection, key, lock=True)
    if session.state not in WAITING or session.ticket:
        raise build_conflict(session)
    number = opener(connection).number
    repository.set_ticket(connection, key, number)
    desk_messages.add(connection, key, Sender.SYSTEM, notice.format(number))
    return get(connection, key)


def raise_priority(connection: Connection, key: SessionKey, priority: int, emotion: float) -> DeskSession:
    """Moves a session that waits forward, never back. Raises NotFound, and Conflict if it waits no more."""
    session = get(connection, key, lock=True)
    if session.state not in WAITING:
        raise build_conflict(session)
    if priority <= session.priority:
        return session
    felt = {"priority": priority, "emotion": max(emotion, session.emotion)}
    card = session.card | {"priority": priority, "emotion": round(felt["emotion"], 3)}
    update_session(connection, session, felt | {"card": card})
    return get(connection, key)


def update_session(connection: Connection, session: DeskSession, values: Mapping[str, Any]) -> None:
    """Writes values as the session's next version. Raises Conflict if another transaction was faster."""
    if not repository.update_session(connection, session, values):
        raise build_conflict(get(connection, session.key))


def build_not_found(key: SessionKey) -> NotFound:
    """Builds the error for a session that never was at the desk."""
    return NotFound("没有找到这个会话的人工服务记录。", code="desk_session_not_found", session_id=key.session_id)


def build_conflict(session: DeskSession) -> Conflict:
    """Builds the error for a step that came too late, or does not fit the state of the session."""
    messages = {
        State.ASSIGNED: "这个会话已由其他客服接入。",
        State.QUEUED: "这个会话还在排队，没有客服接入。",
        State.OUT_OF_HOURS: "这个会话在等待服务时间开始，没有客服接入。",
        State.RESOLVED: "这个会话已经解决。",
        State.CLOSED: "这个会话已经结束。",
        State.BOT: "这个会话由智能客服接待，没有转人工。",
    }
    details = {"state": session.state.value, "agent_id": session.agent_id, "version": session.version}
    return Conflict(messages[session.state], code="desk_state_conflict", **details)


def _build_event_data(session: DeskSession) -> dict[str, Any]:
    """Builds the data that webhooks get; the card holds no personal data."""
    return {
        "session_id": session.session_id,
        "user_id": session.user_id,
        "verified": session.verified,
        "state": session.state.value,
        "reason": session.reason,
        "priority": session.priority,
        "skill": session.skill,
        "team": session.team,
        "ticket": session.ticket,
        "card": session.card,
    }
