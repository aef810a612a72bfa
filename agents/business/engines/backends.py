"""What is particular about each kind of server or file that SQLAlchemy opens for us."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any

_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Backend:
    """dialect: as sqlglot calls it; package: brings the usual driver.

    session(seconds): statements for a new connection, beginning: for every transaction. arguments(driver, seconds): of
    the driver's connect(). attribute: of a connection, takes a timeout in milliseconds. cancel: method of a connection
    that stops its statement from another thread. read_only: what is above forbids writing, whatever the account may do.
    slow, lost, wrong: what the database's message looks like when the statement's time is up; when no other statement
    would do better; when one would, though the driver does not say so.
    """

    dialect: str
    package: str
    read_only: bool = False
    session: Callable[[float], tuple[str, ...]] = lambda seconds: ()
    beginning: tuple[str, ...] = ()
    arguments: Callable[[str, float], Mapping[str, Any]] = lambda driver, seconds: {}
    attribute: str = ""
    cancel: str = ""
    slow: re.Pattern[str] = field(default=_NEVER)
    lost: re.Pattern[str] = field(default=_NEVER)
    wrong: re.Pattern[str] = field(default=_NEVER)


def _mysql_session(seconds: float) -> tuple[str, ...]:
    """MariaDB skips comments of MySQL 5.7 and later, MySQL those of MariaDB: each reads its own timeout."""
    mode = "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION,ONLY_FULL_GROUP_BY"
    return (
        "SET SESSION TRANSACTION READ ONLY",
        f"SET SESSION sql_mode = '{mode}'",  # quotes, backslashes and || as the guard reads them
        f"SET SESSION lock_wait_timeout = {ceil(seconds)}"
        f" /*!50708 , SESSION max_execution_time = {int(seconds * 1000)} */"
        f" /*M!100101 , SESSION max_statement_time = {seconds:g} */",
    )


def _mysql_arguments(driver: str, seconds: float) -> Mapping[str, Any]:
    """A network that is dead keeps a thread no longer than this."""
    if driver not in ("pymysql", "mysqldb"):
        return {}
    return {"connect_timeout": ceil(seconds), "read_timeout": ceil(seconds) + 1, "charset": "utf8mb4"}


_MYSQL = Backend(
    "mysql",
    "pymysql（地址写成 mysql+pymysql://…）",
    read_only=True,
    session=_mysql_session,
    arguments=_mysql_arguments,
    slow=re.compile(r"^\(?(?:1317|1969|3024)\b"),
    lost=re.compile(r"^\(?(?:104[0459]|114[236]|1205|1213)\b"),
    wrong=re.compile(r"^\(?(?:1052|1054|1055|1140|1242|1292|1690)\b"),
)

BACKENDS: Mapping[str, Backend] = {
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
    "duckdb": Backend(
        "duckdb",
        "duckdb-engine",
        read_only=True,
        arguments=lambda driver, seconds: {"read_only": True, "config": {"enable_external_access": False}},
        cancel="interrupt",
        slow=re.compile("INTERRUPT"),
        lost=re.compile("Table with name .* does not exist"),
    ),
    "mssql": Backend(
        "tsql",
        "pyodbc（地址写成 mssql+pyodbc://…）",
        session=lambda seconds: (f"SET LOCK_TIMEOUT {int(seconds * 1000)}", "SET DATEFORMAT ymd"),
        slow=re.compile("HYT00|[Qq]uery timeout"),
        lost=re.compile(r"\b208\b|Invalid object name|permission was denied"),
    ),
    "oracle": Backend(
        "oracle",
        "oracledb（地址写成 oracle+oracledb://…）",
        read_only=True,
        session=lambda seconds: (
            "ALTER SESSION SET NLS_DATE_FORMAT = 'YYYY-MM-DD HH24:MI:SS'",
            "ALTER SESSION SET NLS_TIMESTAMP_FORMAT = 'YYYY-MM-DD HH24:MI:SS.FF'",
        ),
        beginning=("SET TRANSACTION READ ONLY",),
        attribute="call_timeout",
        slow=re.compile("ORA-01013|ORA-03136|DPI-1067|DPY-4024"),
        lost=re.compile("ORA-00942|ORA-01031|ORA-01017"),
    ),
    "snowflake": Backend(
        "snowflake",
        "snowflake-sqlalchemy",
        session=lambda seconds: (f"ALTER SESSION SET STATEMENT_TIMEOUT_IN_SECONDS = {ceil(seconds)}",),
        slow=re.compile("000630|000604"),
        lost=re.compile("002003"),
    ),
    "trino": Backend(
        "trino",
        "'trino[sqlalchemy]'",
        slow=re.compile("EXCEEDED_TIME_LIMIT"),
        lost=re.compile("TABLE_NOT_FOUND|SCHEMA_NOT_FOUND|PERMISSION_DENIED"),
    ),
    **dict.fromkeys(
        ("clickhouse", "clickhousedb"),
        Backend(
            "clickhouse",
            "clickhouse-connect（地址写成 clickhousedb://…）",
            slow=re.compile("TIMEOUT_EXCEEDED"),
            lost=re.compile("UNKNOWN_TABLE|UNKNOWN_DATABASE|ACCESS_DENIED"),
        ),
    ),
}
"""By SQLAlchemy's name of the database."""
