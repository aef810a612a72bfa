"""MySQL or MariaDB for tests that need one: the server of BUSINESS_MYSQL_URL."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_hex

import pytest
from sqlalchemy import create_engine, make_url, text


@contextmanager
def mysql_database() -> Iterator[str]:
    """The address of an empty database of the test's own, on the server of BUSINESS_MYSQL_URL (MySQL or MariaDB, an
    account that may create databases called yingda_…); skips the test without one.
    """
    given = os.environ.get("BUSINESS_MYSQL_URL")
    if not given:
        pytest.skip("no BUSINESS_MYSQL_URL")
    name = f"yingda_{token_hex(8)}"
    server = create_engine(given, isolation_level="AUTOCOMMIT")
    try:
        with server.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name} CHARACTER SET utf8mb4"))
        try:
            yield make_url(given).set(database=name).render_as_string(hide_password=False)
        finally:
            with server.connect() as connection:
                connection.execute(text(f"DROP DATABASE {name}"))
    finally:
        server.dispose()
