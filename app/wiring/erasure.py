"""Deletes conversations with all that was made of them, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.attachments import repository as attachments
from app.channels import repository as channels
from app.chat.turn_events import KIND, find_asked_gaps
from app.contacts import repository as contacts
from app.conversations import repository as conversations
from app.evaluation import repository as evaluation
from app.evaluation.types import CaseOrigin
from app.gaps import repository as clusters
from app.gaps import repository_misses as misses
from app.gaps import repository_unanswered as gaps
from app.history.repository_texts import purge
from app.idempotency import repository as requests
from app.tickets.repository_erasure import erase_conversation
from app.webhooks import repository as webhooks
from app.webhooks.events import build_gap_subject, build_session_subject

if TYPE_CHECKING:
    from sqlalchemy import Connection


def forget_and_purge(connection: Connection, tenant: str, sessions: Sequence[str]) -> int:
    """As `forget_conversations`, and removes their words from the indexes: slow for a large index, so once for many."""
    deleted = forget_conversations(connection, tenant, sessions)
    if deleted:
        purge(connection)
    return deleted


def forget_conversations(connection: Connection, tenant: str, sessions: Sequence[str]) -> int:
    """Deletes the conversations and returns how many there were.

    With a conversation go its turns, their feedback, its pictures and files, and what the desk has of it, the pages
    that its customer was on, its labels and words, and with a customer's last one what staff call that customer; the
    events about it that were not handed on yet, and the payloads of those that were; the questions and gaps that nobody
    else asked about, and the evaluation cases that were made of them, with their results. Its tickets stay, without
    what was said in it; so do reviewed solutions, which hold no personal data.
    """
    unanswered = find_asked_gaps(conversations.load_asked_turns(connection, tenant, sessions))
    of_gaps = evaluation.list_origins(connection, tenant, CaseOrigin.GAP)
    before = clusters.find_questions(connection, tenant, of_gaps)
    misses.forget_sessions(connection, tenant, sessions)
    after = clusters.find_questions(connection, tenant, of_gaps)
    lost = {gap: question for gap, question in before.items() if after.get(gap) != question}
    evaluation.forget_cases(connection, tenant, CaseOrigin.GAP, lost)
    evaluation.forget_results(connection, tenant, list(lost.values()))
    deleted = conversations.delete_all(connection, tenant, sessions)
    contacts.forget(connection, tenant)
    requests.forget(connection, tenant, sessions)
    channels.delete_for_sessions(connection, tenant, sessions)
    attachments.delete_for_sessions(connection, tenant, sessions)
    if deleted:
        for session in sessions:
            erase_conversation(connection, tenant, session)
        gone = [build_session_subject(session) for session in sessions]
        gone += map(build_gap_subject, gaps.forget_questions(connection, tenant, KIND, unanswered))
        webhooks.forget_subjects(connection, tenant, gone)
    return deleted
