"""What one transaction keeps of turns, whatever feature it belongs to, in its order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from app.contacts.repository import add_visit
from app.conversations import repository, repository_holders
from app.conversations.rules import LIFETIME
from app.conversations.turn_log import TurnLog
from app.db import outbox
from app.desk.turns import follow
from app.history import repository_texts
from app.idempotency import repository as requests
from app.idempotency.service import build_taken_over
from app.prompts import repository as prompts
from app.traces import repository as traces
from app.turns.types import NewTurn, TurnNotKept
from app.types import SessionKey
from app.webhooks import repository_messages
from app.wiring.desk import build_partners, prove_member

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.db.engine import Database
    from app.db.outbox import PendingEvent
    from app.desk.types import DeskSession

Changed = Sequence["DeskSession"]


def build_turn_log(
    database: Database,
    after: Callable[[Sequence[NewTurn]], list[PendingEvent]],
    on_commit: Callable[[], None] = lambda: None,
    on_desk: Callable[[Changed], None] = lambda sessions: None,
    *,
    durable: bool = False,
    lifetime: timedelta = LIFETIME,
    answering: bool = True,
    prompt_text: Callable[[str, str], str] | None = None,
) -> TurnLog[Changed]:
    """after: the events that follow from turns of one transaction. on_commit: called after each. on_desk: called with
    the sessions that changed at the human desk. durable: see `TurnLog`. lifetime: of a session's secret. answering: see
    `app.desk.states.is_silent`. prompt_text: gives what a version of a prompt says, by name and version; without it
    none is kept.
    """
    partners = build_partners(lifetime)

    # One transaction: an answer whose session, receipt or desk refuses it leaves nothing behind.
    def write(connection: Connection, turns: Sequence[NewTurn]) -> Changed:
        repository.append_turns(connection, turns)
        claims = {turn.id: (SessionKey(turn.tenant, turn.session_id), turn.claim) for turn in turns}
        if refused := repository_holders.settle_claims(connection, claims, lifetime, prove_member):
            raise TurnNotKept(refused)
        repository_messages.emit_turns(connection, turns)
        repository_texts.add_turns(connection, turns)
        for turn in turns:
            if turn.page is not None:
                add_visit(connection, SessionKey(turn.tenant, turn.session_id), *turn.page, turn.created_at)
        traces.append(connection, turns)
        if prompt_text is not None:
            prompts.keep(connection, _list_prompts(turns, prompt_text))
        receipts = {turn.id: turn.receipt for turn in turns if turn.receipt}
        if lost := requests.settle(connection, receipts.values()):
            raise TurnNotKept({name: build_taken_over() for name, receipt in receipts.items() if receipt in lost})
        outbox.add(connection, after(turns))
        return follow(connection, turns, partners, answering=answering)

    def notify_kept(changed: Changed) -> None:
        on_commit()
        if changed:
            on_desk(changed)

    return TurnLog(database, write, notify_kept, durable=durable)


def _list_prompts(turns: Sequence[NewTurn], text: Callable[[str, str], str]) -> Iterator[tuple[str, str, str]]:
    """Lists the prompts that models were asked by."""
    for turn in turns:
        for call in turn.trace.calls if turn.trace is not None else ():
            for name, version in call.prompts.items():
                yield name, version, text(name, version)
