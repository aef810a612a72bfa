"""Backups of PostgreSQL by its own programs, pg_dump and pg_restore, which must not be older than the server."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from app.backup.types import BackupFailed
from app.db.schema_state import parse_url

if TYPE_CHECKING:
    from sqlalchemy import URL

DUMP, RESTORE = "pg_dump", "pg_restore"


def dump_database(url: str, target: Path) -> None:
    """Writes one compressed snapshot of the database while others write to it. Blocking. Raises BackupFailed."""
    _run_program(DUMP, url, "--format=custom", "--no-owner", "--no-privileges", f"--file={target}")


def restore_database(url: str, source: Path) -> None:
    """Restores a snapshot into a database without tables, all of it or nothing. Blocking. Raises BackupFailed."""
    name = str(parse_url(url).database)
    _run_program(RESTORE, url, "--no-owner", "--no-privileges", "--single-transaction", f"--dbname={name}", str(source))


def read_version() -> str:
    """Returns the version of pg_dump. Raises BackupFailed if it is not installed."""
    done = subprocess.run([_find_program(DUMP), "--version"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _run_program(program: str, url: str, *options: str) -> None:
    command = [_find_program(program), "--no-password", *options]
    done = subprocess.run(command, env=_build_environment(parse_url(url)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise BackupFailed(f"{program} 没有成功：{done.stderr.strip()}")


def _find_program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise BackupFailed(f"没有 {name}：请安装与服务器同版或更新的 PostgreSQL 客户端（Debian：postgresql-client）")
    return found


def _build_environment(address: URL) -> dict[str, str]:
    """Returns the connection as variables of libpq, since every user of the machine can read a command line."""
    variables = {
        "PATH": os.defpath,
        "PGHOST": address.host or str(address.query.get("host", "")),
        "PGPORT": str(address.port or ""),
        "PGUSER": address.username,
        "PGPASSWORD": address.password,
        "PGDATABASE": address.database,
        "PGSSLMODE": address.query.get("ssl") or address.query.get("sslmode"),
    }
    return {name: str(value) for name, value in variables.items() if value}
