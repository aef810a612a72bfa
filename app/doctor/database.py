"""The product's own database."""

from __future__ import annotations

from collections.abc import Sequence

from app.db.schema_state import DatabaseTrouble, SchemaAge, SchemaState, inspect_schema
from app.doctor.types import Diagnosis, report_error, report_fine, report_warning
from app.settings import Settings

_DATABASE = "数据库"
_RIGHTS = "GRANT USAGE, CREATE ON SCHEMA public TO 用户，或把库的属主改成这个用户"


async def check_database(settings: Settings) -> Sequence[Diagnosis]:
    """Whether it answers, and whether its schema is that of this code."""
    try:
        found = await inspect_schema(settings.sql_url)
    except DatabaseTrouble as problem:
        fix = "改正 DATABASE_URL，并确认数据库在运行、这台机器连得上、账号有权限"
        if not settings.database_url:
            fix = "从备份恢复，见 docs/backup.md；文件属于别的用户时改正属主"
        return [report_error(_DATABASE, str(problem), fix)]
    return [_check_schema(found, "PostgreSQL" if settings.database_url.startswith("postgresql") else "SQLite")]


def _check_schema(found: SchemaState, kind: str) -> Diagnosis:
    behind = found.behind in (SchemaAge.EMPTY, SchemaAge.OLDER)
    if behind and not found.may_create:
        return report_error(_DATABASE, f"{kind} 里没有所需的表，这个账号也没有建表的权限", _RIGHTS)
    match found.behind:
        case SchemaAge.NEWER:
            told = f"{kind} 的结构（{found.revision}）不是这份代码认识的，代码到 {found.head} 为止：数据库比代码新"
            return report_error(_DATABASE, told, "换上与数据库同版或更新的代码；要退回旧版，用升级前的备份")
        case SchemaAge.OLDER:
            told = f"{kind} 的结构是 {found.revision}，代码要 {found.head}"
            return report_warning(_DATABASE, told, "先备份，再运行 scripts/upgrade.py；不运行它，启动时也会自动升级")
        case SchemaAge.EMPTY if kind == "PostgreSQL":
            return report_warning(
                _DATABASE, "PostgreSQL 连得上，还没有表", "运行 scripts/upgrade.py，或等首次启动时自动建立"
            )
        case SchemaAge.EMPTY:
            return report_fine(_DATABASE, "SQLite 文件还没有，首次启动时建立")
    return report_fine(_DATABASE, f"{kind}，结构 {found.revision}")
