"""The proposals about tickets, and what a message answers to them."""

from __future__ import annotations

from agents.types import Question
from agents.understanding.consent import Consent, Reply

# A ticket as it stands there, one that is still to be described, the end of one.
CREATE, DESCRIBE, WITHDRAW = "ticket", "ticket_details", "ticket_close"


def read_decision(question: Question, now: float) -> Reply | None:
    """Returns what a message answers to the proposal of the turn before; None without a proposal, or when it
    is too old.
    """
    proposal = question.proposal
    if proposal is None or proposal.expires < now:
        return None
    reply = question.utterance.reading.reply
    if reply is not None and proposal.action == WITHDRAW and reply.consent is Consent.SUPPLEMENT:
        return None
    return reply
