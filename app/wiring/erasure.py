"""Deletes conversations with all that was made of them, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.attachments import repository as attachments
from app.channels import repository as channels
from app.chat.after import KIND, asked
from app.contacts import repository as contacts
from app.conversations import repository as conversations
from app.evaluation_runs import repository as evaluation_runs
from app.evaluation_sets import repository as evaluation_sets
from app.evaluation_sets.types import CaseOrigin
from app.gaps import repository as clusters
from app.gaps import repository_misses as misses
from app.gaps import repository_unanswered as gaps
from app.history.repository_texts import purge
from app.idempotency import repository as requests
from app.tickets.repository_erasure import erase
from app.webhooks import repository as webhooks
from app.webhooks.events import about_gap, about_session

if TYPE_CHECKING:
    from sqlalchemy import Connection


def forget_and_purge(connection: Connection, tenant: str, sessions: Sequence[str]) -> int:
    """As `forget`; no word of them is left in an index. Takes as long as the index is large, so once for many."""
    deleted = forget(connection, tenant, sessions)
    if deleted:
        purge(connection)
    return deleted


def forget(connection: Connection, tenant: str, sessions: Sequence[str]) -> int:
    """Deletes the conversations and returns how many there were.

    With a conversation go its turns, their feedback, its pictures and files, and what the desk has of it, the pages
    that its customer was on, its labels and words, and with a customer's last one what staff call that customer; the
    events about it that were not handed on yet, and the payloads of those that were; the questions and gaps that nobody
    else asked about, and the evaluation cases that were made of them, with their results. Its tickets stay, without
    what was said in it; so do reviewed solutions, which hold no personal data.
    """
    unanswered = asked(conversations.turns_of(connection, tenant, sessions))
    of_gaps = evaluation_sets.origins(connection, tenant, CaseOrigin.GAP)
    before = clusters.questions(connection, tenant, of_gaps)
    misses.forget(connection, tenant, sessions)
    after = clusters.questions(connection, tenant, of_gaps)
    lost = {gap: question for gap, question in before.items() if after.get(gap) != question}
    evaluation_sets.forget(connection, tenant, CaseOrigin.GAP, lost)
    evaluation_runs.forget(connection, tenant, list(lost.values()))
    deleted = conversations.delete_all(connection, tenant, sessions)
    contacts.forget(connection, tenant)
    requests.forget(connection, tenant, sessions)
    channels.forget(connection, tenant, sessions)
    attachments.forget(connection, tenant, sessions)
    if deleted:
        for session in sessions:
            erase(connection, tenant, session)
        gone = [about_session(session) for session in sessions]
        gone += map(about_gap, gaps.forget(connection, tenant, KIND, unanswered))
        webhooks.forget(connection, tenant, gone)
    return deleted
