"""Turns and the human desk in one transaction: a bot's turn is kept while no person holds the session, a message for a
person while one does, and a turn that asks for a person puts the session into the queue. What bot and customer say to
each other while the customer waits goes to the desk, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from app.desk import moves, repository
from app.desk import repository_messages as desk_messages
from app.desk.moves import Step
from app.desk.partners import Partners
from app.desk.states import is_silent
from app.desk.types import WAITING, Actor, DeskSession, Event, Sender, State
from app.request_ids import set_request_id
from app.turns.types import NewTurn, TurnNotKept
from app.types import SessionKey

if TYPE_CHECKING:
    from sqlalchemy import Connection

# In place of a reply with a member's rows: messages are also delivered to clients that only know the session.
_PRIVATE = "（已根据本人的业务数据作答，内容见对话记录。）"
_OVER = frozenset({State.RESOLVED, State.CLOSED})


def follow(
    connection: Connection, turns: Sequence[NewTurn], partners: Partners, *, answering: bool
) -> list[DeskSession]:
    """Applies turns to the desk, after they were appended in this transaction: that locked their conversations, so
    that none changes hands meanwhile. Returns the sessions that changed. Raises TurnNotKept.

    answering: see `is_silent`.
    """
    states = _load_states(connection, turns)
    held = {key for key, state in states.items() if is_silent(state, answering=answering)}
    late = {turn.id for turn in turns if turn.for_desk != (_get_key(turn) in held)}
    if late:
        raise TurnNotKept(dict.fromkeys(late))
    changed = []
    for turn in turns:
        with set_request_id(turn.trace_id):
            changed.append(_save_turn(connection, turn, states.get(_get_key(turn)), partners))
    return [session for session in changed if session is not None]


def _save_turn(connection: Connection, turn: NewTurn, state: State | None, partners: Partners) -> DeskSession | None:
    key = _get_key(turn)
    if turn.for_desk:
        desk_messages.add(connection, key, Sender.CUSTOMER, turn.utterance.original, **_get_message_fields(turn))
        return moves.get(connection, key)
    if state in WAITING:
        return _record_overheard(connection, turn)
    if state in _OVER:
        moves.apply_step(connection, Step(key, Event.RETURN, Actor.CUSTOMER))
    if turn.opening is not None:
        about = {"user_id": turn.user_id, "channel": turn.channel}
        return moves.request_person(connection, key, turn.opening, about, partners)
    return repository.find(connection, key) if state in _OVER else None


def _record_overheard(connection: Connection, turn: NewTurn) -> DeskSession:
    """Records the turn of a customer who waits, for the person who is going to accept."""
    key = _get_key(turn)
    desk_messages.add(connection, key, Sender.CUSTOMER, turn.utterance.original, **_get_message_fields(turn))
    reply = _PRIVATE if turn.rows_of else turn.reply
    desk_messages.add(connection, key, Sender.BOT, reply, client_id=turn.client_id)
    if turn.opening is not None:  # somebody called a person while the bot was about to
        return moves.raise_priority(connection, key, turn.opening.priority, turn.opening.emotion)
    return moves.get(connection, key)


def _load_states(connection: Connection, turns: Sequence[NewTurn]) -> Mapping[SessionKey, State]:
    """Loads the states of the sessions that were with the desk; most were not, and a new one cannot have been."""
    keys = {_get_key(turn) for turn in turns if not turn.new_session}
    return repository.load_states(connection, keys) if keys else {}


def _get_message_fields(turn: NewTurn) -> dict[str, Any]:
    return {"client_id": turn.client_id, "attachments": turn.attachments}


def _get_key(turn: NewTurn) -> SessionKey:
    return SessionKey(turn.tenant, turn.session_id)
