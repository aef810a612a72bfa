"""What the routes of this feature need of the wiring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from app.http.deps import Wired

if TYPE_CHECKING:
    from app.jobs.service import JobService
    from app.settings import Settings
    from app.tuner.reports import Reports
    from app.tuner.service import Tuner
    from knowledge.calibration.calibrator import LabelledQuestion


class LabelledSets(Protocol):
    """See `EvaluationSets`, which stands above this feature."""

    async def load_questions(self, tenant: str, set_id: str, limit: int) -> list[LabelledQuestion]: ...


class Parts(Protocol):
    """What these routes are served by."""

    jobs: JobService
    reports: Reports
    settings: Settings
    tuner: Tuner

    @property
    def evaluation_sets(self) -> LabelledSets: ...


Wiring = Wired[Parts]
