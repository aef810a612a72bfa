"""What makes the many starts of the product in these tests quick. What is left out has tests of its own: migrations in
`db/test_migrations.py`, calibration in `test_calibrated_search.py`, processes that read files in
`tests/knowledge/sandbox`, all of them together in `tests/security` and wherever a server is a process.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Hashable
from pathlib import Path

import pytest

from agents.business.offline.queries import DeclaredQueries, load_queries
from agents.business.schema import Schema
from app.db.engine import Database
from app.db.migrate import upgrade_schema
from knowledge.calibration.calibrator import Calibrator
from knowledge.index import Snapshot, has_vectors
from knowledge.ingest import TrustingReader
from knowledge.parsing.limits import ParsingLimits
from knowledge.probability import CalibrationMap
from knowledge.rerankers.base import Reranker

_FIT = Calibrator._fit_scorer
_FITTED: dict[Hashable, CalibrationMap] = {}
_QUERIES: dict[tuple[Path, str], DeclaredQueries] = {}


class ReaderInProcess(TrustingReader):
    """In place of `knowledge.sandbox.pool.Sandbox`, whose processes take half a second each to start."""

    def __init__(self, limits: ParsingLimits, options: object) -> None:
        super().__init__(limits)

    async def close(self) -> None:
        """There is nothing to close."""


@pytest.fixture(autouse=True)
def quick_start(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in this process, a base of the same words, models and options is calibrated once, with a quarter
    of the questions (a fit searches for each, and most tests open the same few documents) and never provisionally, and
    the questions of a business database are checked once. Unless a test is marked with `as_shipped`.
    """
    if request.node.get_closest_marker("as_shipped") is None:
        monkeypatch.setattr("app.wiring.reading.Sandbox", ReaderInProcess)
        monkeypatch.setattr(Calibrator, "_fit_scorer", _fitted_once)
        monkeypatch.setattr(Calibrator, "ensure_calibrations", Calibrator.refresh_quick)
        monkeypatch.setattr("knowledge.calibration.calibrator.QUESTIONS", 100)
        monkeypatch.setattr("agents.business.offline.queries.load_queries", _read_once)


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database of the schema of this code."""
    path = tmp_path_factory.mktemp("migrated") / "yingda.sqlite3"
    asyncio.run(_migrate(path))
    return path


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path: Path, migrated: Path) -> Path:
    """As a DATA_DIR it holds a migrated database already, unless a test is marked with `as_shipped`."""
    if request.node.get_closest_marker("as_shipped") is None:
        shutil.copy(migrated, tmp_path / migrated.name)
    return tmp_path


async def _fitted_once(self: Calibrator, snapshot: Snapshot, scorer: Reranker) -> CalibrationMap:
    chunks = (snapshot.get_chunk(chunk_id) for chunk_id in snapshot.list_ids())
    content = ((chunk.document.name, chunk.ordinal, chunk.heading_path, chunk.text, chunk.question) for chunk in chunks)
    base = (self._build_key(scorer), scorer.kind, has_vectors(snapshot), frozenset(content))
    if base not in _FITTED:
        _FITTED[base] = await _FIT(self, snapshot, scorer)
    return _FITTED[base]


def _read_once(path: Path, schema: Schema) -> DeclaredQueries:
    description = (path, path.read_text("utf-8"))
    if description not in _QUERIES:
        _QUERIES[description] = load_queries(path, schema)
    return _QUERIES[description]


async def _migrate(path: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{path.as_posix()}")
    await upgrade_schema(database)
    await database.close()
