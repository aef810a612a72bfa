"""Which earlier turns may be read again: what holds a member's business data is for that member alone.

A language model reads of such turns nothing at all, unless BUSINESS_ROWS_TO_MODEL says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.types import Answer, Proposal, RowSource
from agents.understanding.state import Turn
from agents.understanding.utterance import RewriteKind, Utterance
from app.conversations.types import TurnRow

# Agents that look at a member's data; what they say may hold some without citing a row.
PERSONAL = frozenset({"business", "care"})


def find_rows_owner(answer: Answer, caller: str) -> str:
    """Returns the member whose data the answer holds; empty for none."""
    holds = answer.agent in PERSONAL or any(isinstance(source, RowSource) for source in answer.sources)
    return caller if holds else ""


def select_readable(rows: Sequence[TurnRow], caller: str, *, to_model: bool) -> tuple[Turn, ...]:
    """Selects the turns that this member may be answered from. to_model: models may read rows, or there is no model;
    else of a turn with rows only the customer's own words are kept, and they are marked.
    """
    return tuple(
        _build_turn(row, hidden=bool(row.rows_of) and not to_model) for row in rows if row.rows_of in ("", caller)
    )


def read_proposal(row: TurnRow) -> Proposal | None:
    """Reads what the turn proposed."""
    stored = row.response["data"].get("proposal")
    return Proposal(**stored) if stored else None


def _build_turn(row: TurnRow, *, hidden: bool) -> Turn:
    rewrite = row.standalone if row.standalone != row.question else None
    utterance = Utterance(row.question).add_rewrite(rewrite, RewriteKind.KEPT)
    if hidden:
        return Turn(utterance, "", rows=True)
    proposal = read_proposal(row)
    proposed = proposal.action if proposal else ""
    return Turn(utterance, row.reply, tuple(row.response["data"]["suggestions"]), proposed)
