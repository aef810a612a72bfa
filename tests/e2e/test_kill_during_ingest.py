"""A killed process loses nothing that it acknowledged and leaves no half document."""

from __future__ import annotations

import multiprocessing
import os
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance import part
from tests.e2e.ingest_worker import Begin, End, State, work

KILLS = int(os.environ.get("KILLS", part(8, 60)))
# A change takes about 0.1 to 0.4 s: a random moment of this span falls anywhere into one or the next.
CHANGE_SECONDS = 0.4
# Every fourth worker is killed while it still repairs what the one before left behind.
START_SECONDS = 0.6


@dataclass
class Ledger:
    """What must be found after a restart: per document the markers of the states that it may be in."""

    allowed: dict[str, list[frozenset[str]]] = field(default_factory=dict)
    revision: int = 0
    acknowledged: int = 0
    cut_off: int = 0

    def check(self, state: State) -> None:
        assert state.revision == state.head >= self.revision
        assert state.same_chunks
        for name, found in state.documents.items():
            assert found.declared == found.stored == found.indexed > 0, name
            assert found.searchable, name
        for name in state.documents.keys() | self.allowed.keys():
            markers = state.documents[name].markers if name in state.documents else frozenset()
            assert markers in self.allowed.get(name, [frozenset()]), name
            self.allowed[name] = [markers]
        self.revision = state.revision

    def record(self, begin: Begin, end: End | None) -> None:
        if end is None:
            self.allowed.setdefault(begin.name, [frozenset()]).append(begin.markers)
            self.cut_off += 1
        else:
            self.allowed[begin.name] = [begin.markers]
            self.revision = max(self.revision, end.revision)
            self.acknowledged += 1


def messages(connection: Connection) -> Iterator[Any]:
    """All that a killed worker had sent."""
    try:
        while True:
            yield connection.recv()
    except EOFError:
        return


def live(data_dir: Path, seed: int, ledger: Ledger, *, after: int | None, lifetime: float) -> None:
    """Runs a worker, kills it, checks what it found at its start and records what it acknowledged.

    It is killed `lifetime` seconds after its change number `after`; None: after its start, repaired or not.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.e2e.ingest_worker"])
    receiver, sender = context.Pipe(duplex=False)
    worker = context.Process(target=work, args=(sender, data_dir, seed))
    worker.start()
    sender.close()
    received = [] if after is None else [receiver.recv() for _ in range(1 + 2 * after)]
    time.sleep(lifetime)
    assert worker.is_alive()
    worker.kill()
    worker.join()
    received += messages(receiver)
    if received:
        ledger.check(received.pop(0))
    for begin, end in zip(received[::2], [*received[1::2], None], strict=False):
        ledger.record(begin, end)


@pytest.mark.acceptance
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_nothing_acknowledged_is_lost_and_nothing_half_done_shows(tmp_path: Path) -> None:
    ledger, chance = Ledger(), random.Random()
    for kill in range(KILLS):
        if kill % 4 == 3:
            live(tmp_path, kill, ledger, after=None, lifetime=chance.uniform(0, START_SECONDS))
        else:
            live(tmp_path, kill, ledger, after=kill % 3, lifetime=chance.uniform(0, CHANGE_SECONDS))
    live(tmp_path, KILLS, ledger, after=0, lifetime=0)
    assert ledger.acknowledged >= KILLS // 2
    assert ledger.cut_off >= KILLS // 4
