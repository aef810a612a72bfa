"""How much the judgements of the model in the gate are worth: measured once for a model and kept."""

from __future__ import annotations

import asyncio

from agents.reader import PassageReader
from app.retrying import retrying
from knowledge.calibration.calibrator import CalibrationStore
from knowledge.probability import CalibrationMap
from knowledge.reader import READER

RETRY_SECONDS = 30.0


class ReaderScale:
    """`calibration` is None until the model is measured, and where it is not worth asking."""

    def __init__(self, reader: PassageReader | None, store: CalibrationStore) -> None:
        """reader: None where no model judges; store: where its calibration is kept between starts."""
        self.calibration: CalibrationMap | None = None
        self._reader, self._store = reader, store
        self._task: asyncio.Task[None] | None = None
        self._tried = asyncio.Event()

    def start(self, ready: asyncio.Event) -> None:
        """Takes what was measured before, else measures once the service is ready; a model that is out of reach is
        tried again.
        """
        self._task = asyncio.create_task(self._prepare(ready))

    async def wait(self) -> None:
        """Returns once that was done or tried in vain."""
        await self._tried.wait()

    async def replace(self, reader: PassageReader | None, ready: asyncio.Event) -> None:
        """Another model judges from here on: it is not asked before it is measured."""
        await self.close()
        self._reader, self.calibration, self._tried = reader, None, asyncio.Event()
        self.start(ready)

    async def close(self) -> None:
        """Stops measuring."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _prepare(self, ready: asyncio.Event) -> None:
        async for attempt in retrying("passages are not judged by a model yet", RETRY_SECONDS):
            with attempt:
                try:
                    if self._reader is not None:
                        self.calibration = await self._measured(self._reader, ready)
                finally:
                    self._tried.set()

    async def _measured(self, reader: PassageReader, ready: asyncio.Event) -> CalibrationMap | None:
        if saved := await self._store.load(READER, reader.key):
            return saved[1]
        await ready.wait()
        calibration = await reader.measure()
        if calibration is not None:
            await self._store.save(READER, reader.key, 0, calibration)
        return calibration
