from __future__ import annotations

import asyncio
import json

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, select, text

from app.db.engine import Database
from app.db.migrate import build_config, upgrade_schema
from app.documents.repository import DocumentRepository
from app.documents.types import Filing
from app.history.repository_texts import INDEX
from app.webhooks.repository_deliveries import DeliveryRepository
from app.webhooks.tables import WebhookDelivery
from app.wiring.tables import METADATA


async def test_migrations_build_exactly_the_models(database: Database) -> None:
    def differences(connection: Connection) -> list[object]:
        options = {"include_name": lambda name, *_: not (name or "").startswith(INDEX)}
        return list(compare_metadata(MigrationContext.configure(connection, opts=options), METADATA))

    async with database.read() as connection:
        assert await connection.run_sync(differences) == []


# Their columns. Embeddings are found by a hash of the text alone, which whoever asks has, and no text is in there;
# prompts belong to who runs the server.
OF_NO_TENANT = {
    "embeddings": ["key", "vector", "used_on"],
    "prompt_versions": ["version", "name", "text", "created_at"],
}


async def test_every_table_has_the_tenant_first_in_its_key() -> None:
    for table in METADATA.sorted_tables:
        if table.name in OF_NO_TENANT:
            assert table.columns.keys() == OF_NO_TENANT[table.name]
            continue
        assert next(iter(table.primary_key.columns)).name == "tenant_id", table.name
        for constraint in table.foreign_key_constraints:
            assert constraint.column_keys[0] == "tenant_id", table.name


async def test_processes_that_start_together_migrate_once(url: str) -> None:
    databases = [Database(url) for _ in range(3)]
    await asyncio.gather(*(upgrade_schema(database) for database in databases))
    for database in databases:
        await database.close()


async def test_deliveries_of_before_are_known_by_what_they_are_about(url: str) -> None:
    database = Database(url)
    bodies = {"a": {"session_id": "s"}, "b": {"gap_id": "g"}, "c": {"number": "1"}}
    async with database.write() as connection:
        await connection.run_sync(lambda sync: command.upgrade(build_config(sync), "0005"))
        moment = "'2026-03-01 00:00:00'"
        await connection.execute(
            text(f"INSERT INTO webhooks VALUES ('t', 'h', 'https://example.com', 's', '[]', '', true, {moment})")
        )
        for name, told in bodies.items():
            row = f"'t', '{name}', 'h', '{name}', 'e', :body, 'pending', 0, {moment}, NULL, '', {moment}, {moment}"
            body = json.dumps({"data": told})
            await connection.execute(text(f"INSERT INTO webhook_deliveries VALUES ({row})"), {"body": body})
    await upgrade_schema(database)
    async with database.read() as connection:
        rows = await connection.execute(select(WebhookDelivery.id, WebhookDelivery.about))
        assert {row.id: row.about for row in rows} == {"a": "session:s", "b": "gap:g", "c": ""}
    await database.close()


async def test_deliveries_of_before_are_nobodys_and_are_sent(url: str) -> None:
    database, moment = Database(url), "'2026-03-01 00:00:00'"
    async with database.write() as connection:
        await connection.run_sync(lambda sync: command.upgrade(build_config(sync), "0054"))
        await connection.execute(
            text(f"INSERT INTO webhooks VALUES ('t', 'h', 'https://example.com', 's', '[]', '', true, {moment})")
        )
        columns = (
            "tenant_id, id, webhook_id, event_id, event, body, state, attempts, due_at, error, created_at, updated_at"
        )
        row = f"'t', 'a', 'h', 'a', 'e', '{{}}', 'pending', 1, {moment}, '', {moment}, {moment}"
        await connection.execute(text(f"INSERT INTO webhook_deliveries ({columns}) VALUES ({row})"))
    await upgrade_schema(database)
    assert [(one.id, one.attempts) for one in await DeliveryRepository(database).claim(9, "w")] == [("a", 1)]
    await database.close()


async def test_documents_of_before_keep_their_name_as_path(url: str) -> None:
    database, moment = Database(url), "'2026-03-01 00:00:00'"
    async with database.write() as connection:
        await connection.run_sync(lambda sync: command.upgrade(build_config(sync), "0008"))
        await connection.execute(
            text(
                "INSERT INTO documents (tenant_id, id, name, title, category, tags, media_type, size, content_hash, "
                "version_id, revision, created_at, updated_at) "
                f"VALUES ('t', 'd', '政策.md', '政策', '', '[]', 'text/markdown', 3, 'h', 'v', 1, {moment}, {moment})"
            )
        )
        await connection.execute(
            text("INSERT INTO contents (tenant_id, content_hash, data) VALUES ('t', 'h', :data)"), {"data": b"abc"}
        )
        await connection.execute(
            text(
                "INSERT INTO document_versions (tenant_id, id, document_id, number, content_hash, chunks, created_at) "
                f"VALUES ('t', 'v', 'd', 1, 'h', 1, {moment})"
            )
        )
        await connection.execute(text("INSERT INTO kb_state VALUES ('t', 1, 1, 'x', 0)"))
    await upgrade_schema(database)
    row = await DocumentRepository(database).find_filed("t", Filing("政策.md"))
    assert row is not None
    assert (row.id, row.name, row.path, row.version, row.live, row.indexed) == (
        "d",
        "政策.md",
        "政策.md",
        1,
        True,
        True,
    )
    await database.close()
