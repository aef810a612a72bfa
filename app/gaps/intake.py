"""Turns what staff answered into the draft of a gap at once, so that the author sees where it went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.db.base import now
from app.gaps import repository as gaps
from app.gaps import repository_drafts as drafts
from app.gaps import repository_misses as misses
from app.gaps.draft_writer import list_wordings
from app.gaps.types import DraftOrigin, GapDraft, GapEvent, GapState, Miss, MissReason
from knowledge.chunking import MAX_ANSWER_CHARS

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.db.engine import Database

MOST_QUESTIONS = 200
# Drafts that somebody may have thought about, and that are not replaced.
_WRITTEN = frozenset({DraftOrigin.MODEL, DraftOrigin.EDITED})


class GapIntake:
    """Takes in solutions of all tenants."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_solution(
        self, tenant: str, solution_id: str, session_id: str, question: str, answer: str, actor: str
    ) -> str:
        """Stores a solution of the desk as the draft of the gap that its question belongs to. A draft that a person or
        a model wrote stays as it is, and so does a closed gap. Question and answer are without personal data.

        Returns:
            The id of the gap.
        """
        miss = Miss(f"solution:{solution_id}", MissReason.SOLUTION, session_id, None, question, now(), handoff=True)

        def work(connection: Connection) -> str:
            gap_id = misses.find_gap(connection, tenant, question) or gaps.add_gap(connection, tenant, question, 0)
            misses.add_miss(connection, tenant, miss)
            misses.assign_gap(connection, tenant, [miss.id], gap_id)
            _write_draft(connection, tenant, gap_id, answer, actor)
            return gap_id

        return await self._database.transact(work)


def _write_draft(connection: Connection, tenant: str, gap_id: str, answer: str, actor: str) -> None:
    gap, before = gaps.lock_gap(connection, tenant, gap_id), drafts.find_draft(connection, tenant, gap_id)
    if gap is None or gap.state not in (GapState.OPEN, GapState.DRAFTED):
        return
    if before is not None and before.answer and before.origin in _WRITTEN:
        return
    gap_misses = misses.list_of_gaps(connection, tenant, [gap_id], MOST_QUESTIONS)
    question, *variants = list_wordings(gap.question, gap_misses)
    faq = before.faq_id if before else ""
    text = answer[:MAX_ANSWER_CHARS]
    made = GapDraft(question, text, tuple(variants), DraftOrigin.SOLUTION, author=actor, faq_id=faq)
    drafts.save_draft(connection, tenant, gap_id, made)
    event = GapEvent("drafted", actor, "", now())
    gaps.change_gap(connection, tenant, gap_id, {"state": GapState.DRAFTED}, event)
