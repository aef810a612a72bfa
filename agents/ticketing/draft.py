"""Drafts the ticket that is proposed, in the customer's own words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from agents.ticketing.proposals import CREATE
from agents.ticketing.types import NewTicket
from agents.understanding.consent import Consent
from agents.understanding.state import Turn
from agents.understanding.tickets import MAX_SUBJECT_CHARS, detect_category, detect_priority, extract_ticket_subject
from agents.wording.catalogue import say

MAX_TURNS, MAX_TURN_CHARS = 2, 200
MAX_DESCRIPTION_CHARS = 2000


def draft_ticket(text: str, history: Sequence[Turn], english: bool) -> NewTicket | None:
    """Drafts the ticket of a message with what was said before; None where its subject is unknown.

    english: language of the lines for what was said before.
    """
    subject, stripped = extract_ticket_subject(text), text.strip()
    before = [turn for turn in _list_turns_since_ticket(history) if _has_description(turn)][-MAX_TURNS:]
    if not subject:
        if not before:
            return None
        last = before[-1].utterance
        subject = extract_ticket_subject(last.expanded_text) or extract_ticket_subject(last.original)
    lines = [say("ticket_earlier", english, text=_cut_text(turn.utterance.original)) for turn in before]
    description = "\n".join([*lines, stripped])
    return NewTicket(
        subject, description[:MAX_DESCRIPTION_CHARS], detect_category(description), detect_priority(description)
    )


def describe_ticket(text: str) -> NewTicket:
    """Drafts the ticket of a description that was asked for: the whole text is the description."""
    description = text.strip()
    subject = extract_ticket_subject(description) or description[:MAX_SUBJECT_CHARS]
    return NewTicket(
        subject, description[:MAX_DESCRIPTION_CHARS], detect_category(description), detect_priority(description)
    )


def _list_turns_since_ticket(history: Sequence[Turn]) -> Sequence[Turn]:
    """Returns the turns since the last ticket was created; earlier ones are in that ticket."""
    made = 0
    for index, (before, turn) in enumerate(pairwise(history), start=1):
        reply = turn.utterance.reading.reply
        if before.proposed == CREATE and reply is not None and reply.consent is Consent.CONFIRM:
            made = index + 1
    return history[made:]


def _has_description(turn: Turn) -> bool:
    """Whether the customer described something: 好的 does not, nor does a question about a ticket."""
    reading = turn.utterance.reading
    mere_word = reading.reply is not None and not reading.reply.text
    about_ticket = reading.has_ticket_reference or reading.ticket_number
    return not mere_word and bool(extract_ticket_subject(turn.utterance.original)) and not about_ticket


def _cut_text(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_TURN_CHARS else text[: MAX_TURN_CHARS - 1] + "…"
