"""Says what is wrong with this configuration, and how to mend it: `python scripts/doctor.py [--json]`.

Changes nothing, and may run beside a server. Run it as the user of the service, in its folder.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.db.schema_state import DatabaseTrouble, SchemaAge, inspect_schema
from app.doctor.service import examine
from app.doctor.types import Diagnosis, Level, report_error
from app.keys.repository import has_valid_key
from app.logging import configure_logging
from app.settings import Settings, load_settings
from knowledge.errors import InvalidConfiguration

SIGNS = {Level.OK: "正常", Level.NOTE: "说明", Level.WARNING: "注意", Level.ERROR: "错误"}
_FIX = "改正 .env 或环境变量，各项的含义见 docs/configuration.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 1 when there is an error, else 0."""
    parser = argparse.ArgumentParser(prog="scripts/doctor.py", description="检查配置：哪里不对，怎么改")
    parser.add_argument("--json", action="store_true", help="一行一个 JSON，给程序读")
    options = parser.parse_args(arguments)
    found = asyncio.run(_run_checks(as_json=options.json))
    errors, warnings = found.count(Level.ERROR), found.count(Level.WARNING)
    if not options.json:
        print(f"共 {len(found)} 项：{errors} 个错误，{warnings} 个注意")
    return 1 if errors else 0


async def _run_checks(*, as_json: bool) -> list[Level]:
    """Prints each finding as it comes, and returns their levels."""
    try:
        settings = load_settings()
    except InvalidConfiguration as problem:
        # the first line says that some settings are wrong, each further one which and why
        wrong = [report_error("配置", line, _FIX) for line in str(problem).splitlines()[1:]]
        for finding in wrong:
            _print_finding(finding, as_json=as_json)
        return [finding.level for finding in wrong]
    configure_logging("ERROR")
    found = []
    async for finding in examine(settings, has_key=await _has_key(settings)):
        _print_finding(finding, as_json=as_json)
        found.append(finding.level)
    return found


async def _has_key(settings: Settings) -> bool:
    """A database that cannot be asked, or of another schema, is told by its own check."""
    if settings.api_key.get_secret_value():
        return True
    try:
        same = (await inspect_schema(settings.sql_url)).behind is SchemaAge.NOTHING
    except DatabaseTrouble:
        return False
    return same and await has_valid_key(settings.sql_url)


def _print_finding(finding: Diagnosis, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(asdict(finding), ensure_ascii=False), flush=True)
        return
    print(f"[{SIGNS[finding.level]}] {finding.subject}：{finding.told}")
    if finding.fix:
        print(f"       怎么办：{finding.fix}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
