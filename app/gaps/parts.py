"""What the routes of this feature need of the wiring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from app.http.deps import Wired

if TYPE_CHECKING:
    from app.gaps.repository_unanswered import UnansweredRepository
    from app.gaps.review import GapReview
    from app.gaps.workbench import GapWorkbench
    from app.jobs.service import JobService
    from app.limits.service import RateLimits


class Parts(Protocol):
    """What these routes are served by."""

    gap_review: GapReview
    gaps: GapWorkbench
    jobs: JobService
    limits: RateLimits
    unanswered: UnansweredRepository


Wiring = Wired[Parts]
