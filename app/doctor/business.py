"""The business databases, by reading no row of each table that is described."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents.business.database import BusinessDatabase
from agents.errors import BusinessUnavailable
from app.configuration.business import BusinessSource
from app.doctor.types import Diagnosis, report_error, report_fine, report_note
from app.settings import Settings
from app.wiring.business import build_options
from knowledge.errors import InvalidConfiguration

_SUBJECT = "业务库"


async def check_business(settings: Settings) -> Sequence[Diagnosis]:
    """Checks the business database of each tenant."""
    if not settings.business_sources:
        fix = "要查订单等业务数据，就设置 BUSINESS_DATABASE_URL"
        return [report_note(_SUBJECT, "没有接，业务数据一律不查", fix)]
    return [await _diagnose_source(tenant, source, settings) for tenant, source in settings.business_sources.items()]


async def _diagnose_source(tenant: str, source: BusinessSource, settings: Settings) -> Diagnosis:
    subject = f"{_SUBJECT}（租户 {tenant}）"
    try:
        database = BusinessDatabase(build_options(source, settings))
    except InvalidConfiguration as problem:
        return report_error(subject, str(problem), "改正业务库的地址，或描述它的 YAML（BUSINESS_SCHEMA）")
    try:
        await database.check_description()
    except BusinessUnavailable as problem:
        return report_error(subject, str(problem), _build_fix(database.missing_file))
    finally:
        await database.close()
    return report_fine(subject, f"{database.dialect}，{len(database.schema.tables)} 张表都读得到")


def _build_fix(missing: Path | None) -> str:
    if missing is not None:
        return f"改正地址；要用示例数据就运行 scripts/seed_business.py --url sqlite:///{missing}"
    return "确认数据库在运行、账号读得到描述里的每张表和每一列；或改正地址与 BUSINESS_SCHEMA"
