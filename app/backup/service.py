"""Makes backups while a server runs, checks them, and restores them where none does."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from app import __version__
from app.attachments.store import FOLDER as ATTACHMENTS
from app.backup import postgres
from app.backup.sqlite import copy_database, put_database
from app.backup.types import MANIFEST, BackedUp, BackupFailed, Kind, Manifest, read_manifest
from app.db.lock import DataDirLock
from app.db.schema_state import (
    DatabaseTrouble,
    SchemaAge,
    compare_revision,
    inspect_schema,
    parse_url,
    read_sqlite_revision,
)
from app.documents.samples import MARKER
from app.settings import Settings

DATABASE, DUMP, EMBEDDINGS, INDEX = "yingda.sqlite3", "yingda.dump", "embeddings.sqlite3", "index"
FILES = "files"
PREFIX = "yingda-"
_UNFINISHED = ".partial"


async def back_up(settings: Settings, into: Path, *, vectors: bool = True) -> Path:
    """A new folder in `into`, named by the time, which is there only once it is whole.

    vectors: with the vectors of the local cache; without, they have to be computed again after a restore, and until
    then keywords alone answer. Raises BackupFailed.
    """
    moment = datetime.now(UTC)
    folder = into / f"{PREFIX}{moment:%Y%m%dT%H%M%SZ}"
    if folder.exists():
        raise BackupFailed(f"{folder} 已经有了：一秒钟前刚做过备份")
    partial = folder.with_name(folder.name + _UNFINISHED)
    partial.mkdir(mode=0o700, parents=True)
    try:
        kind, revision, program = await _database(settings, partial)
        await asyncio.to_thread(_beside, settings, partial, vectors=vectors)
        variables = await asyncio.to_thread(_configured, settings, partial)
        files = await asyncio.to_thread(_listed, partial)
        Manifest(moment.isoformat(), __version__, kind, revision, program, files, variables).write(partial)
        partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial)
        raise
    return folder


def verify(folder: Path) -> Manifest:
    """Reads all of a backup again. Blocking. Raises BackupFailed for a file that is missing or not what it was."""
    manifest = read_manifest(folder)
    for file in manifest.files:
        path = folder / file.name
        if not path.is_file() or path.stat().st_size != file.bytes or _digest(path) != file.sha256:
            raise BackupFailed(f"{path} 没有，或内容与备份时不同：这份备份不能用")
    return manifest


async def restore(settings: Settings, folder: Path) -> Manifest:
    """Into a DATA_DIR without a database, or into a PostgreSQL database without tables, while no server runs.

    What is derived from another database, the index, goes. Raises BackupFailed; the database is as it was then.
    """
    manifest = await asyncio.to_thread(verify, folder)
    if compare_revision(manifest.revision) is SchemaAge.NEWER:
        raise BackupFailed(f"备份的结构 {manifest.revision} 比这份代码新：请先换上 {manifest.product} 或更新的代码")
    here: Kind = "postgresql" if settings.sql_url.startswith("postgresql") else "sqlite"
    if here != manifest.kind:
        raise BackupFailed(f"备份是 {manifest.kind} 的，DATABASE_URL 是 {here} 的：两者不能互相恢复")
    lock = DataDirLock(settings.data_dir)
    if not lock.try_acquire():
        raise BackupFailed(f"DATA_DIR={settings.data_dir} 正被服务或另一个命令使用：请先停止它")
    try:
        await _require_empty(settings)
        await asyncio.to_thread(_put, settings, folder, manifest)
    finally:
        lock.release()
    return manifest


def prune(into: Path, keep: int) -> Sequence[Path]:
    """Deletes the oldest whole backups of a folder until `keep` (1 or more) are left; gives those. Blocking."""
    whole = sorted(path.parent for path in into.glob(f"{PREFIX}*/{MANIFEST}") if path.parent.suffix != _UNFINISHED)
    gone = whole[:-keep]
    for folder in gone:
        shutil.rmtree(folder)
    return gone


async def _database(settings: Settings, folder: Path) -> tuple[Kind, str, str]:
    """Copies it: its kind, its last migration, and the version of what wrote the copy."""
    try:
        address = parse_url(settings.sql_url)
        if address.get_backend_name() == "sqlite":
            copy = folder / DATABASE
            await asyncio.to_thread(copy_database, Path(str(address.database)), copy)
            return "sqlite", read_sqlite_revision(copy), sqlite3.sqlite_version
        found = await inspect_schema(settings.sql_url)
    except DatabaseTrouble as error:
        raise BackupFailed(f"数据库：{error}") from error
    if found.behind is SchemaAge.EMPTY:
        raise BackupFailed("数据库里还没有表，没有可备份的")
    await asyncio.to_thread(postgres.dump, settings.sql_url, folder / DUMP)
    return "postgresql", found.revision, postgres.version()


def _beside(settings: Settings, folder: Path, *, vectors: bool) -> None:
    """What lies in DATA_DIR beside the database and cannot be had from it."""
    marker, kept = settings.data_dir / MARKER, settings.data_dir / EMBEDDINGS
    if marker.is_file():
        shutil.copyfile(marker, folder / MARKER)
    if vectors and settings.embedding_cache == "local" and kept.is_file():
        copy_database(kept, folder / EMBEDDINGS)
    if not settings.attachment_store:
        _copy_attachments(settings.data_dir, folder)


def _copy_attachments(source: Path, target: Path) -> None:
    """The pictures and files of conversations, a file in its tenant's folder. What is deleted meanwhile is left out."""
    for path in source.glob(f"{ATTACHMENTS}/*/*"):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            shutil.copyfile(path, copy)


def _configured(settings: Settings, folder: Path) -> Mapping[str, str]:
    """Copies the files that settings name: path in the backup -> variable."""
    named = {"BUSINESS_SCHEMA": settings.business_schema, "OFFERS_FILE": settings.offers_file}
    named["CALIBRATION_SET"] = settings.calibration_set
    for tenant, source in settings.business_databases.items():
        named[f"BUSINESS_DATABASES.{tenant}.schema"] = source.described
        named[f"BUSINESS_DATABASES.{tenant}.offers"] = source.offers
    copied = {}
    for variable, path in named.items():
        if path is not None:
            name = f"{FILES}/{variable}{path.suffix}"
            folder.joinpath(FILES).mkdir(exist_ok=True)
            try:
                shutil.copyfile(path, folder / name)
            except OSError as error:
                raise BackupFailed(f"{variable}={path} 读不了：{error.strerror}") from error
            copied[name] = variable
    return copied


def _listed(folder: Path) -> list[BackedUp]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [BackedUp(path.relative_to(folder).as_posix(), path.stat().st_size, _digest(path)) for path in paths]


async def _require_empty(settings: Settings) -> None:
    try:
        found = await inspect_schema(settings.sql_url)
    except DatabaseTrouble as error:
        raise BackupFailed(f"数据库：{error}") from error
    if found.behind is not SchemaAge.EMPTY:
        told = "换一个空的 DATA_DIR，或先把旧的数据库移走" if not settings.database_url else "换一个空的数据库"
        raise BackupFailed(f"这里已经有数据库（结构 {found.revision}），不覆盖：{told}")


def _put(settings: Settings, folder: Path, manifest: Manifest) -> None:
    """The database last: a restore that was cut off can be done again."""
    names = {file.name for file in manifest.files}
    shutil.rmtree(settings.data_dir / INDEX, ignore_errors=True)
    if MARKER in names:
        shutil.copyfile(folder / MARKER, settings.data_dir / MARKER)
    if EMBEDDINGS in names:
        put_database(folder / EMBEDDINGS, settings.data_dir / EMBEDDINGS)
    _copy_attachments(folder, settings.data_dir)
    if manifest.kind == "postgresql":
        postgres.restore(settings.sql_url, folder / DUMP)
    else:
        put_database(folder / DATABASE, Path(str(parse_url(settings.sql_url).database)))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
