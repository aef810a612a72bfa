"""A migrated database that is empty: every test that uses it runs on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import delete, text

from app.db.engine import Database
from app.db.migrate import upgrade_schema
from app.wiring.tables import METADATA
from tests.services import postgres_database


@pytest.fixture(params=["sqlite", "postgresql"])
def template(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Kind of database, and what to copy: nothing, or for whoever asks for `database` a migrated one."""
    return request.param, request.getfixturevalue(request.param) if "database" in request.fixturenames else ""


@pytest.fixture
async def url(template: tuple[str, str], tmp_path: Path) -> AsyncIterator[str]:
    """The address of a database: an empty one, a copy of the file, or the one that is emptied after each test."""
    kind, original = template
    if kind == "postgresql" and original:
        yield original
    elif kind == "postgresql":
        async with postgres_database() as address:
            yield address
    else:
        path = tmp_path / "new" / "test.sqlite3"
        if original:
            path.parent.mkdir()
            shutil.copy(original, path)
        yield address_of(path)


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    database = Database(url)
    yield database
    if database.engine.dialect.name == "postgresql":  # to copy and drop one costs ten times as much
        await _empty(database)
    await database.close()


@pytest.fixture(scope="session")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A migrated file."""
    path = tmp_path_factory.mktemp("migrated") / "test.sqlite3"
    asyncio.run(_migrate(address_of(path)))
    return str(path)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a migrated database."""
    with asyncio.Runner() as runner:
        made = postgres_database()
        address = runner.run(made.__aenter__())
        runner.run(_migrate(address))
        yield address
        runner.run(made.__aexit__(None, None, None))


def address_of(path: Path) -> str:
    return f"sqlite+aiosqlite:///{path.as_posix()}"


async def _empty(database: Database) -> None:
    """All tables in one round trip."""
    statements = " ".join(f"{delete(table)};" for table in reversed(METADATA.sorted_tables))
    async with database.write() as connection:
        await connection.execute(text(f"DO $$ BEGIN {statements} END $$"))


async def _migrate(url: str) -> None:
    database = Database(url)
    await upgrade_schema(database)
    await database.close()
