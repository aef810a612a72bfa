from __future__ import annotations

import pytest

from app.desk.states import RULES, is_allowed, is_silent
from app.desk.types import Actor, Event, State


def test_the_way_of_a_session_through_the_desk_and_back() -> None:
    state = State.BOT
    way = (
        (Event.REQUEST, Actor.BOT, State.QUEUED),
        (Event.ACCEPT, Actor.STAFF, State.ASSIGNED),
        (Event.RESOLVE, Actor.STAFF, State.RESOLVED),
        (Event.RETURN, Actor.CUSTOMER, State.BOT),
    )
    for event, actor, target in way:
        assert is_allowed(state, event, actor)
        state = RULES[event].target
        assert state is target


@pytest.mark.parametrize(
    ("state", "event", "actor"),
    [
        (State.BOT, Event.ACCEPT, Actor.STAFF),
        (State.ASSIGNED, Event.ACCEPT, Actor.STAFF),
        (State.QUEUED, Event.RESOLVE, Actor.STAFF),
        (State.QUEUED, Event.ACCEPT, Actor.CUSTOMER),
        (State.ASSIGNED, Event.LEAVE, Actor.CUSTOMER),
        (State.ASSIGNED, Event.RESOLVE, Actor.BOT),
        (State.QUEUED, Event.REQUEST, Actor.CUSTOMER),
        (State.CLOSED, Event.CLOSE, Actor.CUSTOMER),
    ],
)
def test_what_is_not_in_the_table_may_not_happen(state: State, event: Event, actor: Actor) -> None:
    assert not is_allowed(state, event, actor)


def test_every_state_is_reached_and_every_state_is_left() -> None:
    assert {rule.target for rule in RULES.values()} == set(State)
    assert {source for rule in RULES.values() for source in rule.sources} == set(State)
    assert set(RULES) == set(Event)


def test_from_every_state_there_is_a_way_back_to_the_bot() -> None:
    home, found = {State.BOT}, True
    while found:
        found = False
        for rule in RULES.values():
            if rule.target in home and not rule.sources <= home:
                home, found = home | rule.sources, True
    assert home == set(State)


def test_the_bot_is_silent_while_a_person_holds_the_session_and_in_the_queue_only_where_that_is_set() -> None:
    assert {state for state in State if is_silent(state)} == {State.ASSIGNED}
    assert {state for state in State if is_silent(state, answering=False)} == {State.QUEUED, State.ASSIGNED}
