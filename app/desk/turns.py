"""Turns and the human desk in one transaction: a bot's turn is kept while no person holds the session, a message for a
person while one does, and a turn that asks for a person puts the session into the queue. What bot and customer say to
each other while the customer waits goes to the desk, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from app.conversations.types import NewTurn, NotKept
from app.desk import moves, repository
from app.desk import repository_messages as desk_messages
from app.desk.moves import Step
from app.desk.partners import Partners
from app.desk.states import silent
from app.desk.types import WAITING, Actor, DeskSession, Event, Sender, State
from app.request_ids import caused_by
from app.types import SessionKey

if TYPE_CHECKING:
    from sqlalchemy import Connection

_PRIVATE = "（已根据本人的业务数据作答，内容见对话记录。）"
"""Instead of a reply with a member's rows: messages are also delivered to whoever holds no more than the session."""
_OVER = frozenset({State.RESOLVED, State.CLOSED})


def follow(
    connection: Connection, turns: Sequence[NewTurn], partners: Partners, *, answering: bool
) -> list[DeskSession]:
    """What turns mean for the desk, after they were appended in this transaction: that locked their conversations, so
    nobody can change hands meanwhile. answering: see `silent`. Returns the sessions that changed. Raises NotKept.
    """
    states = _states(connection, turns)
    held = {key for key, state in states.items() if silent(state, answering=answering)}
    late = {turn.id for turn in turns if turn.for_desk != (_key(turn) in held)}
    if late:
        raise NotKept(dict.fromkeys(late))
    changed = []
    for turn in turns:
        with caused_by(turn.trace_id):
            changed.append(_one(connection, turn, states.get(_key(turn)), partners))
    return [session for session in changed if session is not None]


def _one(connection: Connection, turn: NewTurn, state: State | None, partners: Partners) -> DeskSession | None:
    key = _key(turn)
    if turn.for_desk:
        desk_messages.add(connection, key, Sender.CUSTOMER, turn.question, **_sent_with(turn))
        return moves.get(connection, key)
    if state in WAITING:
        return _overheard(connection, turn)
    if state in _OVER:
        moves.move(connection, Step(key, Event.RETURN, Actor.CUSTOMER))
    if turn.opening is not None:
        about = {"user_id": turn.user_id, "channel": turn.channel}
        return moves.request(connection, key, turn.opening, about, partners)
    return repository.find(connection, key) if state in _OVER else None


def _overheard(connection: Connection, turn: NewTurn) -> DeskSession:
    """The turn of a customer who waits, for whoever is going to accept."""
    key = _key(turn)
    desk_messages.add(connection, key, Sender.CUSTOMER, turn.question, **_sent_with(turn))
    reply = _PRIVATE if turn.rows_of else turn.reply
    desk_messages.add(connection, key, Sender.BOT, reply, client_id=turn.client_id)
    if turn.opening is not None:  # somebody called a person while the bot was about to
        return moves.raised(connection, key, turn.opening.priority, turn.opening.emotion)
    return moves.get(connection, key)


def _states(connection: Connection, turns: Sequence[NewTurn]) -> Mapping[SessionKey, State]:
    """Of those sessions that were with the desk; most were not, and a new one cannot have been."""
    keys = {_key(turn) for turn in turns if not turn.new_session}
    return repository.states(connection, keys) if keys else {}


def _sent_with(turn: NewTurn) -> dict[str, Any]:
    return {"client_id": turn.client_id, "attachments": turn.attachments}


def _key(turn: NewTurn) -> SessionKey:
    return SessionKey(turn.tenant, turn.session_id)
