"""What the routes of this feature need of the wiring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from fastapi import Request

from app.http.deps import Wired
from app.http.parts import HttpParts

if TYPE_CHECKING:
    from app.chat.running_answers import RunningAnswers
    from app.chat.service import ChatService
    from app.conversations.access import Access
    from app.desk.human_desk import HumanDesk
    from app.idempotency.service import Retries
    from app.search.filter_requests import FilterRequests


class Parts(HttpParts, Protocol):
    """What these routes are served by."""

    access: Access
    chat: ChatService
    desk: HumanDesk
    filters: FilterRequests
    retries: Retries
    running_answers: RunningAnswers


Wiring = Wired[Parts]


def get_container(request: Request) -> Parts:
    """Returns the wiring of this process."""
    container: Parts = request.app.state.container
    return container
