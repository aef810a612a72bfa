"""Creates backups while a server runs, verifies them, and restores them while no server runs."""

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
from app.backup.sqlite import copy_database, replace_database
from app.backup.types import MANIFEST, BackupFailed, BackupFile, Kind, Manifest, read_manifest
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


async def create_backup(settings: Settings, into: Path, *, vectors: bool = True) -> Path:
    """Creates a backup in a new folder, which appears only once it is complete.

    Args:
        settings: The settings of the server.
        into: The folder of all backups; the new one in it is named by the time.
        vectors: Whether to include the vectors of the local cache. Without them they are computed again after a
            restore, and until then only keyword search works.

    Returns:
        The new folder.

    Raises:
        BackupFailed: No backup was made.
    """
    moment = datetime.now(UTC)
    folder = into / f"{PREFIX}{moment:%Y%m%dT%H%M%SZ}"
    if folder.exists():
        raise BackupFailed(f"{folder} 已经有了：一秒钟前刚做过备份")
    partial = folder.with_name(folder.name + _UNFINISHED)
    partial.mkdir(mode=0o700, parents=True)
    try:
        kind, revision, program = await _back_up_database(settings, partial)
        await asyncio.to_thread(_copy_data_files, settings, partial, vectors=vectors)
        variables = await asyncio.to_thread(_copy_configured_files, settings, partial)
        files = await asyncio.to_thread(_list_files, partial)
        Manifest(moment.isoformat(), __version__, kind, revision, program, files, variables).write_to(partial)
        partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial)
        raise
    return folder


def verify_backup(folder: Path) -> Manifest:
    """Reads a backup again and returns its manifest. Blocking. Raises BackupFailed for a missing or changed file."""
    manifest = read_manifest(folder)
    for file in manifest.files:
        path = folder / file.name
        if not path.is_file() or path.stat().st_size != file.bytes or _hash_file(path) != file.sha256:
            raise BackupFailed(f"{path} 没有，或内容与备份时不同：这份备份不能用")
    return manifest


async def restore_backup(settings: Settings, folder: Path) -> Manifest:
    """Restores a backup into a DATA_DIR without a database, or into a PostgreSQL database without tables.

    No server may run. The existing index is deleted, since it belongs to another database.

    Args:
        settings: The settings of the server to restore to.
        folder: The backup.

    Returns:
        The manifest of the backup.

    Raises:
        BackupFailed: Nothing was restored, and the database is unchanged.
    """
    manifest = await asyncio.to_thread(verify_backup, folder)
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
        await asyncio.to_thread(_restore_files, settings, folder, manifest)
    finally:
        lock.release()
    return manifest


def prune_backups(into: Path, keep: int) -> Sequence[Path]:
    """Deletes the oldest complete backups until `keep` (1 or more) are left; returns the deleted folders. Blocking."""
    whole = sorted(path.parent for path in into.glob(f"{PREFIX}*/{MANIFEST}") if path.parent.suffix != _UNFINISHED)
    gone = whole[:-keep]
    for folder in gone:
        shutil.rmtree(folder)
    return gone


async def _back_up_database(settings: Settings, folder: Path) -> tuple[Kind, str, str]:
    """Copies the database; returns its kind, its last migration, and the version of the program that wrote the copy."""
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
    await asyncio.to_thread(postgres.dump_database, settings.sql_url, folder / DUMP)
    return "postgresql", found.revision, postgres.read_version()


def _copy_data_files(settings: Settings, folder: Path, *, vectors: bool) -> None:
    """Copies the files of DATA_DIR that cannot be derived from the database."""
    marker, kept = settings.data_dir / MARKER, settings.data_dir / EMBEDDINGS
    if marker.is_file():
        shutil.copyfile(marker, folder / MARKER)
    if vectors and settings.embedding_cache == "local" and kept.is_file():
        copy_database(kept, folder / EMBEDDINGS)
    if not settings.attachment_store:
        _copy_attachments(settings.data_dir, folder)


def _copy_attachments(source: Path, target: Path) -> None:
    """Copies the attachments of conversations, each in its tenant's folder; files deleted meanwhile are left out."""
    for path in source.glob(f"{ATTACHMENTS}/*/*"):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            shutil.copyfile(path, copy)


def _copy_configured_files(settings: Settings, folder: Path) -> Mapping[str, str]:
    """Copies the files that settings name, and returns path in the backup -> variable."""
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


def _list_files(folder: Path) -> list[BackupFile]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [BackupFile(path.relative_to(folder).as_posix(), path.stat().st_size, _hash_file(path)) for path in paths]


async def _require_empty(settings: Settings) -> None:
    try:
        found = await inspect_schema(settings.sql_url)
    except DatabaseTrouble as error:
        raise BackupFailed(f"数据库：{error}") from error
    if found.behind is not SchemaAge.EMPTY:
        advice = "换一个空的 DATA_DIR，或先把旧的数据库移走" if not settings.database_url else "换一个空的数据库"
        raise BackupFailed(f"这里已经有数据库（结构 {found.revision}），不覆盖：{advice}")


def _restore_files(settings: Settings, folder: Path, manifest: Manifest) -> None:
    """Puts the files in place, the database last, so that an interrupted restore can be repeated."""
    names = {file.name for file in manifest.files}
    shutil.rmtree(settings.data_dir / INDEX, ignore_errors=True)
    if MARKER in names:
        shutil.copyfile(folder / MARKER, settings.data_dir / MARKER)
    if EMBEDDINGS in names:
        replace_database(folder / EMBEDDINGS, settings.data_dir / EMBEDDINGS)
    _copy_attachments(folder, settings.data_dir)
    if manifest.kind == "postgresql":
        postgres.restore_database(settings.sql_url, folder / DUMP)
    else:
        replace_database(folder / DATABASE, Path(str(parse_url(settings.sql_url).database)))


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
