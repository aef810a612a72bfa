"""Does in the background what follows from commits."""

from __future__ import annotations

from app.db.outbox import Outbox
from app.work_loop import WorkLoop

BATCH = 500


class OutboxWorker(WorkLoop):
    """Settles the outbox soon after every commit, and whatever was postponed, or left by a process that was killed."""

    name = "outbox"
    poll_seconds = 5.0
    gather_seconds = 0.5

    def __init__(self, outbox: Outbox) -> None:
        super().__init__()
        self._outbox = outbox

    async def run_round(self) -> int:
        """See `WorkLoop`."""
        return await self._outbox.settle_due(BATCH)
