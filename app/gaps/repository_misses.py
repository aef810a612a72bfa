"""Finds what the product could not help with, in turns, at the desk and among tickets, and stores each once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, exists, func, or_, select, update

from agents.ticketing.types import DONE
from agents.types import GIVEN, HandoffReason
from agents.understanding.acts import Act
from agents.understanding.reading import read
from app.conversations.questions import hash_question
from app.conversations.tables import Conversation, Feedback, StoredTurn
from app.db.batches import split_batches
from app.db.engine import insert_into
from app.desk.tables import DeskSessionRow, DeskSolution
from app.gaps.tables import GapDraftRow, GapItemRow, GapRow
from app.gaps.types import BY_OUTCOME, GapState, Miss, MissReason
from app.privacy import mask_personal_data
from app.tickets.states import ERASED_SUBJECT
from app.tickets.tables import Ticket, TicketEvent
from app.traces.tables import StoredTrace
from app.traces.trace_codec import decompress_body

# Agents that answer out of what the company wrote. What others could not do says nothing of the knowledge base.
ANSWERING = frozenset({"knowledge", "curated"})
# Of one kind, in one run: the latest.
MOST = 5000
# Turns before a person was called, among which the question of the card is.
LOOKED_BACK = 12
NOT_STAFF = ("customer", "bot", "system")
_COLUMNS = tuple(getattr(GapItemRow, field.name) for field in fields(Miss))


def collect_misses(connection: Connection, tenant: str, since: datetime) -> int:
    """Stores what was missed since then and is not stored yet, and returns how many misses these are.

    Never a degraded turn, which says that something was out of order, nor one that was refused as an attack.
    """
    _delete_orphans(connection, tenant)
    count = 0
    for found in (_find_turns, _find_handoffs, _find_solutions, _find_tickets):
        for miss in found(connection, tenant, since):
            count += add_miss(connection, tenant, miss)
    return count


def add_miss(connection: Connection, tenant: str, miss: Miss) -> int:
    """Adds a miss; 1 where it is new, else 0."""
    row = insert_into(connection, GapItemRow).values(tenant_id=tenant, **asdict(miss))
    return connection.execute(row.on_conflict_do_nothing()).rowcount


def find_gap(connection: Connection, tenant: str, question: str) -> str:
    """Returns the gap that a question in the same words counts for; empty where there is none."""
    item, gap = GapItemRow, GapRow
    same = (gap.tenant_id == item.tenant_id) & (gap.id == item.gap_id)
    query = select(gap.id, gap.merged_into).join(item, same).where(item.tenant_id == tenant, item.question == question)
    row = connection.execute(query.order_by(item.asked_at.desc()).limit(1)).first()
    return "" if row is None else row.merged_into or row.id


def _find_turns(connection: Connection, tenant: str, since: datetime) -> Iterator[Miss]:
    """Finds turns by their outcome, and those whose answer a customer disliked."""
    turn, trace = StoredTurn, StoredTrace
    known = exists().where(GapItemRow.tenant_id == tenant, GapItemRow.turn_id == turn.id)
    query = (
        select(turn.id, turn.session_id, turn.standalone, turn.outcome, turn.response, turn.created_at)
        .add_columns(Feedback.rating, func.coalesce(Feedback.reason, "").label("reason"), trace.body)
        .join(Conversation, (Conversation.tenant_id == tenant) & (Conversation.session_id == turn.session_id))
        .outerjoin(Feedback, (Feedback.tenant_id == tenant) & (Feedback.turn_id == turn.id))
        .outerjoin(trace, (trace.tenant_id == tenant) & (trace.turn_id == turn.id))
        .where(turn.tenant_id == tenant, Conversation.updated_at >= since, turn.created_at >= since, ~known)
        .where(or_(turn.outcome.in_(BY_OUTCOME), Feedback.rating == "down"))
    )
    for row in connection.execute(query.order_by(turn.created_at.desc()).limit(MOST)).all():
        if (reason := _find_reason(row.outcome, row.rating)) and _is_true_miss(row.response):
            evidence = decompress_body(row.body).get("evidence") or {}
            yield Miss(
                id=f"turn:{row.id}",
                reason=reason,
                session_id=row.session_id,
                turn_id=row.id,
                question=mask_personal_data(row.standalone),
                asked_at=row.created_at,
                note=mask_personal_data(row.reason) if row.rating == "down" else "",
                revision=evidence.get("revision", 0),
            )


def _find_reason(outcome: str, rating: str | None) -> MissReason | None:
    if outcome in BY_OUTCOME:
        return MissReason(outcome)
    return MissReason.THUMBS_DOWN if rating == "down" and outcome in GIVEN else None


def _is_true_miss(response: dict[str, Any]) -> bool:
    data = response.get("data", {})
    return data.get("agent") in ANSWERING and not data.get("degraded")


def _find_handoffs(connection: Connection, tenant: str, since: datetime) -> Iterator[Miss]:
    """Finds questions with which customers went to a person, not out of anger nor in danger; those stored already are
    marked instead. Of those that were answered only the ones right behind which a person was asked for, and nothing
    else.
    """
    desk = DeskSessionRow
    query = select(desk.session_id, desk.card, desk.queued_at).where(
        desk.tenant_id == tenant, desk.queued_at >= since, desk.reason == HandoffReason.ASKED
    )
    for row in connection.execute(query.order_by(desk.queued_at.desc()).limit(MOST)).all():
        turn = _find_asked_turn(connection, tenant, row.session_id, row.queued_at, row.card.get("question", ""))
        if turn is None:
            continue
        miss = Miss(
            id=f"turn:{turn.id}",
            reason=MissReason.HANDOFF,
            session_id=row.session_id,
            turn_id=turn.id,
            question=mask_personal_data(turn.standalone),
            asked_at=turn.created_at,
            handoff=True,
        )
        mine = (GapItemRow.tenant_id == tenant) & (GapItemRow.id == miss.id)
        if not connection.execute(update(GapItemRow).where(mine).values(handoff=True)).rowcount:
            yield miss


def _find_asked_turn(connection: Connection, tenant: str, session: str, before: datetime, question: str) -> Any | None:
    """Finds the turn that the handoff card quotes, if it is a true miss, and a person was called because of it."""
    turn, quoted = StoredTurn, question.removesuffix("…")
    if not quoted:
        return None
    mine = (turn.tenant_id == tenant) & (turn.session_id == session) & (turn.created_at <= before)
    query = select(turn.id, turn.question, turn.standalone, turn.outcome, turn.response, turn.created_at).where(mine)
    later: list[Any] = []
    for row in connection.execute(query.order_by(turn.number.desc()).limit(LOOKED_BACK)):
        if " ".join(mask_personal_data(row.standalone).split()).startswith(quoted):
            because = row.outcome not in GIVEN or _is_asked_at_once(later)
            return row if because and _is_true_miss(row.response) else None
        later.append(row)
    return None


def _is_asked_at_once(later: Sequence[Any]) -> bool:
    """Whether nothing came between an answer and the request for a person: by a button, or by a message that says
    nothing else. Who thanks first, or says what for, asks for another reason.
    """
    return not later or (len(later) == 1 and read(later[0].question).act is Act.ASKS_PERSON)


def _find_solutions(connection: Connection, tenant: str, since: datetime) -> Iterator[Miss]:
    """Finds solutions that staff stored at the desk."""
    table = DeskSolution
    query = select(table.id, table.session_id, table.question, table.created_at).where(
        table.tenant_id == tenant, table.updated_at >= since, table.question != ""
    )
    for row in connection.execute(query.order_by(table.updated_at.desc()).limit(MOST)).all():
        name = f"solution:{row.id}"
        yield Miss(
            name,
            MissReason.SOLUTION,
            row.session_id,
            None,
            mask_personal_data(row.question),
            row.created_at,
            handoff=True,
        )


def _find_tickets(connection: Connection, tenant: str, since: datetime) -> Iterator[Miss]:
    """Finds resolved tickets with a public answer of staff."""
    event = TicketEvent
    is_answered = exists().where(
        event.tenant_id == tenant,
        event.ticket == Ticket.number,
        event.public,
        event.actor.not_in(NOT_STAFF),
        event.text != "",
    )
    query = (
        select(Ticket.number, Ticket.session_id, Ticket.subject, Ticket.created_at)
        .where(
            Ticket.tenant_id == tenant,
            Ticket.state.in_([state.value for state in DONE]),
            Ticket.resolved_at >= since,
            is_answered,
        )
        .where(Ticket.subject != ERASED_SUBJECT)
    )
    for row in connection.execute(query.order_by(Ticket.resolved_at.desc()).limit(MOST)).all():
        question = mask_personal_data(row.subject)
        yield Miss(f"ticket:{row.number}", MissReason.TICKET, row.session_id, None, question, row.created_at)


def _delete_orphans(connection: Connection, tenant: str) -> None:
    """Deletes misses whose solution or ticket is deleted."""
    item = GapItemRow
    solution = select("solution:" + DeskSolution.id).where(DeskSolution.tenant_id == tenant)
    ticket = select("ticket:" + Ticket.number).where(Ticket.tenant_id == tenant, Ticket.subject != ERASED_SUBJECT)
    for reason, left in ((MissReason.SOLUTION, solution), (MissReason.TICKET, ticket)):
        gone = (item.tenant_id == tenant) & (item.reason == reason) & item.id.not_in(left)
        connection.execute(delete(item).where(gone))


def list_of_gaps(connection: Connection, tenant: str, gaps: Sequence[str] | None, each: int) -> list[Miss]:
    """Returns the latest misses of each of these gaps, at most `each` of one. gaps: None for those of no gap yet."""
    table = GapItemRow
    where = (table.tenant_id == tenant) & (table.gap_id.is_(None) if gaps is None else table.gap_id.in_(gaps))
    place = func.row_number().over(partition_by=table.gap_id, order_by=(table.asked_at.desc(), table.id)).label("place")
    ranked = select(*_COLUMNS, place).where(where).subquery()
    names = [ranked.c[field.name] for field in fields(Miss)]
    query = select(*names).where(ranked.c.place <= each).order_by(ranked.c.asked_at.desc(), ranked.c.id)
    return [build_miss(row) for row in connection.execute(query)]


def assign_gap(connection: Connection, tenant: str, ids: Sequence[str], gap_id: str) -> None:
    """Assigns these misses to a gap."""
    table = GapItemRow
    for part in split_batches(ids):
        mine = (table.tenant_id == tenant) & table.id.in_(part)
        connection.execute(update(table).where(mine).values(gap_id=gap_id))


def forget_sessions(connection: Connection, tenant: str, sessions: Sequence[str]) -> None:
    """Deletes what was asked in these conversations; a gap that nobody else asked about goes, unless it was
    answered. What staff wrote for all customers stays.
    """
    table = GapItemRow
    mine = (table.tenant_id == tenant) & table.session_id.in_(sessions) & (table.reason != MissReason.SOLUTION)
    gone = connection.execute(select(table.gap_id, table.question).where(mine)).all()
    connection.execute(delete(table).where(mine))
    for gap_id in sorted({row.gap_id for row in gone if row.gap_id}):
        _remove_questions(
            connection, tenant, gap_id, {hash_question(row.question) for row in gone if row.gap_id == gap_id}
        )


def _remove_questions(connection: Connection, tenant: str, gap_id: str, questions: set[str]) -> None:
    """Removes these questions from a gap, unless somebody else asks the same."""
    gap, item = GapRow, GapItemRow
    mine = (gap.tenant_id == tenant) & (gap.id == gap_id)
    row = connection.execute(select(gap.question, gap.state).where(mine).with_for_update()).first()
    left = connection.execute(
        select(item.question).where(item.tenant_id == tenant, item.gap_id == gap_id).order_by(item.asked_at.desc())
    ).scalars()
    others = {hash_question(question): question for question in left}
    if row is None:
        return
    gone = questions - others.keys()
    if row.state != GapState.APPROVED:
        _remove_wordings(connection, tenant, gap_id, gone, others)
    if not others and row.state != GapState.APPROVED:
        connection.execute(delete(gap).where(mine))
    elif hash_question(row.question) in gone:
        connection.execute(update(gap).where(mine).values(question=next(iter(others.values()), "")))


def _remove_wordings(connection: Connection, tenant: str, gap_id: str, gone: set[str], left: Mapping[str, str]) -> None:
    """Removes wordings from a draft that nobody asks any more; what is published counts as words of staff."""
    draft = GapDraftRow
    mine = (draft.tenant_id == tenant) & (draft.gap_id == gap_id)
    row = connection.execute(select(draft.question, draft.variants).where(mine)).first()
    if row is None:
        return
    question = next(iter(left.values()), "") if hash_question(row.question) in gone else row.question
    variants = [text for text in row.variants if hash_question(text) not in gone]
    connection.execute(update(draft).where(mine).values(question=question, variants=variants))


def build_miss(row: Any) -> Miss:
    """Builds a miss from a row that has its columns."""
    values = dict(row._mapping)
    return Miss(**values | {"reason": MissReason(values["reason"])})
