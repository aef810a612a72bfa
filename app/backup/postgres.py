"""PostgreSQL by its own programs, pg_dump and pg_restore, which have to be as new as the server."""

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


def dump(url: str, target: Path) -> None:
    """One snapshot of the database, compressed, while others write. Blocking. Raises BackupFailed."""
    _run(DUMP, url, "--format=custom", "--no-owner", "--no-privileges", f"--file={target}")


def restore(url: str, source: Path) -> None:
    """All of it or nothing, into a database without tables. Blocking. Raises BackupFailed."""
    name = str(parse_url(url).database)
    _run(RESTORE, url, "--no-owner", "--no-privileges", "--single-transaction", f"--dbname={name}", str(source))


def version() -> str:
    """Of pg_dump. Raises BackupFailed where it is not there."""
    done = subprocess.run([_program(DUMP), "--version"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _run(program: str, url: str, *options: str) -> None:
    command = [_program(program), "--no-password", *options]
    done = subprocess.run(command, env=_environment(parse_url(url)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise BackupFailed(f"{program} 没有成功：{done.stderr.strip()}")


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise BackupFailed(f"没有 {name}：请安装与服务器同版或更新的 PostgreSQL 客户端（Debian：postgresql-client）")
    return found


def _environment(address: URL) -> dict[str, str]:
    """Where to, in libpq's variables: what stands in a command line, everybody on the machine can read."""
    told = {
        "PATH": os.defpath,
        "PGHOST": address.host or str(address.query.get("host", "")),
        "PGPORT": str(address.port or ""),
        "PGUSER": address.username,
        "PGPASSWORD": address.password,
        "PGDATABASE": address.database,
        "PGSSLMODE": address.query.get("ssl") or address.query.get("sslmode"),
    }
    return {name: str(value) for name, value in told.items() if value}
