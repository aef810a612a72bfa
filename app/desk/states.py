"""The state machine of a session, as one table; nothing else decides what may follow what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.desk.types import ACTIVE, HELD, WAITING, Actor, Event, State


@dataclass(frozen=True, slots=True)
class TransitionRule:
    """An event leads from any of its sources to one target. fresh: turns before it count as failed no more."""

    sources: frozenset[State]
    target: State
    actors: frozenset[Actor]
    fresh: bool = False


_WITHOUT_PERSON = frozenset({State.BOT, State.RESOLVED, State.CLOSED})
_ASKING = frozenset({Actor.BOT, Actor.CUSTOMER, Actor.STAFF})

RULES: Mapping[Event, TransitionRule] = {
    Event.REQUEST: TransitionRule(_WITHOUT_PERSON, State.QUEUED, _ASKING),
    Event.REQUEST_AFTER_HOURS: TransitionRule(_WITHOUT_PERSON, State.OUT_OF_HOURS, _ASKING),
    Event.OPEN: TransitionRule(frozenset({State.OUT_OF_HOURS}), State.QUEUED, frozenset({Actor.SYSTEM})),
    Event.ACCEPT: TransitionRule(WAITING, State.ASSIGNED, frozenset({Actor.STAFF})),
    Event.TRANSFER: TransitionRule(frozenset({State.ASSIGNED}), State.ASSIGNED, frozenset({Actor.STAFF})),
    Event.REQUEUE: TransitionRule(frozenset({State.ASSIGNED}), State.QUEUED, frozenset({Actor.STAFF})),
    Event.RELEASE: TransitionRule(frozenset({State.ASSIGNED}), State.QUEUED, frozenset({Actor.SYSTEM})),
    Event.RESOLVE: TransitionRule(frozenset({State.ASSIGNED}), State.RESOLVED, frozenset({Actor.STAFF}), fresh=True),
    Event.LEAVE: TransitionRule(WAITING, State.BOT, frozenset({Actor.CUSTOMER}), fresh=True),
    Event.CLOSE: TransitionRule(
        ACTIVE | {State.RESOLVED}, State.CLOSED, frozenset({Actor.CUSTOMER, Actor.STAFF}), fresh=True
    ),
    Event.EXPIRE: TransitionRule(ACTIVE, State.CLOSED, frozenset({Actor.SYSTEM}), fresh=True),
    Event.RETURN: TransitionRule(frozenset({State.RESOLVED, State.CLOSED}), State.BOT, frozenset({Actor.CUSTOMER})),
}


def is_allowed(state: State, event: Event, actor: Actor) -> bool:
    """Whether the event may happen to a session in this state, by this actor."""
    rule = RULES[event]
    return state in rule.sources and actor in rule.actors


def is_silent(state: State, *, answering: bool = True) -> bool:
    """Whether the bot must not speak. answering: whether it goes on while the customer is queued, see
    ANSWER_WHILE_QUEUED.
    """
    return state in HELD or (state is State.QUEUED and not answering)
