"""Imported by a server that is started with this folder on its path: records of every commit that writes whether it
waited for the disk, a line each: SQLite's `PRAGMA synchronous`, 2 being yes.
"""

from __future__ import annotations

import os
from pathlib import Path

from sqlalchemy import Connection, Engine, event


@event.listens_for(Engine, "commit")
def _record(connection: Connection) -> None:
    if connection.dialect.name == "sqlite" and connection.get_execution_options().get("writes"):
        synchronous = connection.exec_driver_sql("PRAGMA synchronous").scalar_one()
        with Path(os.environ["COMMITS"]).open("a") as commits:
            commits.write(f"{synchronous}\n")
