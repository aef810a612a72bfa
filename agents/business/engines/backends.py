"""Differences between the servers and files that SQLAlchemy opens for us."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from loguru import logger
from sqlglot.dialects.dialect import Dialects

from knowledge.errors import InvalidConfiguration

_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Backend:
    """dialect: as sqlglot calls it; package: brings the usual driver.

    session(seconds): statements for a new connection. arguments(driver, seconds): of the driver's connect(). cancel:
    method of a connection that stops its statement from another thread. read_only: what is above forbids writing,
    whatever the account may do.
    slow, lost, wrong: what the database's message looks like when the statement's time is up; when no other statement
    would do better; when one would, though the driver does not say so.
    """

    dialect: str
    package: str
    read_only: bool = False
    session: Callable[[float], tuple[str, ...]] = lambda seconds: ()
    arguments: Callable[[str, float], Mapping[str, Any]] = lambda driver, seconds: {}
    cancel: str = ""
    slow: re.Pattern[str] = field(default=_NEVER)
    lost: re.Pattern[str] = field(default=_NEVER)
    wrong: re.Pattern[str] = field(default=_NEVER)


def _build_mysql_session(seconds: float) -> tuple[str, ...]:
    """MariaDB skips comments of MySQL 5.7 and later, MySQL those of MariaDB: each reads its own timeout."""
    mode = "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION,ONLY_FULL_GROUP_BY"
    return (
        "SET SESSION TRANSACTION READ ONLY",
        f"SET SESSION sql_mode = '{mode}'",  # quotes, backslashes and || as the guard reads them
        f"SET SESSION lock_wait_timeout = {ceil(seconds)}"
        f" /*!50708 , SESSION max_execution_time = {int(seconds * 1000)} */"
        f" /*M!100101 , SESSION max_statement_time = {seconds:g} */",
    )


def _build_mysql_arguments(driver: str, seconds: float) -> Mapping[str, Any]:
    """Returns timeouts, so that a dead network holds a thread no longer than this."""
    if driver not in ("pymysql", "mysqldb"):
        return {}
    return {"connect_timeout": ceil(seconds), "read_timeout": ceil(seconds) + 1, "charset": "utf8mb4"}


_MYSQL = Backend(
    "mysql",
    "pymysql（地址写成 mysql+pymysql://…）",
    read_only=True,
    session=_build_mysql_session,
    arguments=_build_mysql_arguments,
    slow=re.compile(r"^\(?(?:1317|1969|3024)\b"),
    lost=re.compile(r"^\(?(?:104[0459]|114[236]|1205|1213)\b"),
    wrong=re.compile(r"^\(?(?:1052|1054|1055|1140|1242|1292|1690)\b"),
)

# By SQLAlchemy's name of the database.
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
}


def find_backend(name: str) -> Backend:
    """Returns the backend of SQLAlchemy's name. Raises InvalidConfiguration where sqlglot does not know its SQL.

    An untried database is opened and asked as SQLAlchemy and sqlglot do it.
    """
    if name in BACKENDS:
        return BACKENDS[name]
    if name not in {dialect.value for dialect in Dialects}:
        raise InvalidConfiguration(f"业务库不支持 {name}")
    logger.warning("没有试过这种业务库（{}），请先用自己的库核对每个成员只看到自己的数据", name)
    return Backend(name, f"{name} 的 SQLAlchemy 驱动")
