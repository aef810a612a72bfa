"""How much the judgements of a model are worth: measured once for a model and kept."""

from __future__ import annotations

import asyncio

from agents.judge import Judge, JudgeQuality
from app.retrying import retry
from app.tasks import stop_tasks
from knowledge.calibration.calibrator import CalibrationStore
from knowledge.probability import CalibrationMap

RETRY_SECONDS = 30.0


class ReaderScale:
    """`calibration` is None until the model is measured, and where it is not worth asking; `worthless`: it was found to
    tell nothing.
    """

    def __init__(self, judge: Judge | None, store: CalibrationStore, after: ReaderScale | None = None) -> None:
        """judge: None where no model judges; store: where its calibration is kept between starts; after: another one of
        the same model, which is measured first.
        """
        self.calibration: CalibrationMap | None = None
        self.worthless = False
        self._judge, self._store, self._after = judge, store, after
        self._task: asyncio.Task[None] | None = None
        self._tried = asyncio.Event()

    @property
    def doubtful(self) -> bool:
        """Whether there is a model that is not measured yet, or was found to tell nothing."""
        return self._judge is not None and (self.worthless or not self._tried.is_set())

    def start(self, ready: asyncio.Event) -> None:
        """Takes what was measured before, else measures once the service is ready; a model that is out of reach is
        tried again.
        """
        self._task = asyncio.create_task(self._prepare(ready))

    async def wait(self) -> None:
        """Returns once that was done or tried in vain."""
        await self._tried.wait()

    async def replace(self, judge: Judge | None, ready: asyncio.Event) -> None:
        """Another model judges from here on: it is not asked before it is measured."""
        await self.close()
        self._judge, self.calibration, self.worthless, self._tried = judge, None, False, asyncio.Event()
        self.start(ready)

    async def close(self) -> None:
        """Stops measuring."""
        await stop_tasks(self._task)

    async def _prepare(self, ready: asyncio.Event) -> None:
        async for attempt in retry("passages are not judged by a model yet", RETRY_SECONDS):
            with attempt:
                try:
                    if self._after is not None:
                        await self._after.wait()
                    if self._judge is not None:
                        quality = await self._measure_judge(self._judge, ready)
                        self.calibration, self.worthless = quality.calibration, quality.worthless
                finally:
                    self._tried.set()

    async def _measure_judge(self, judge: Judge, ready: asyncio.Event) -> JudgeQuality:
        if saved := await self._store.load(judge.kind.scorer, judge.key):
            return JudgeQuality(calibration=saved[1])
        await ready.wait()
        quality = await judge.measure()
        if quality.calibration is not None:
            await self._store.save(judge.kind.scorer, judge.key, 0, quality.calibration)
        return quality
