"""What the routes of this feature need of the wiring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from app.http.deps import Wired
from app.http.parts import HttpParts

if TYPE_CHECKING:
    from agents.registry import Roster
    from app.attachments.service import AttachmentService
    from app.conversations.access import Access
    from app.conversations.repository import ConversationRepository
    from app.desk.human_desk import HumanDesk
    from knowledge.spelling import BaseSpeller


class SolutionIntake(Protocol):
    """Where solutions become drafts of answers, see `GapIntake`."""

    async def add_solution(
        self, tenant: str, solution_id: str, session_id: str, question: str, answer: str, author: str
    ) -> str: ...


class Parts(HttpParts, Protocol):
    """What these routes are served by."""

    access: Access
    attachments: AttachmentService
    conversations: ConversationRepository
    desk: HumanDesk

    @property
    def gap_intake(self) -> SolutionIntake: ...

    @property
    def rows_to_model(self) -> bool: ...

    async def get_roster(self, tenant: str) -> Roster: ...

    async def get_speller(self, tenant: str) -> BaseSpeller: ...


Wiring = Wired[Parts]
