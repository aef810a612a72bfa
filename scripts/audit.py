"""What administrators did: `python scripts/audit.py --tenant default --action revoke_key --limit 50`.

Works while a server runs. The latest stand first.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.audit.actions import AuditAction, AuditOutcome
from app.audit.repository import AuditFilter, AuditRepository
from app.auth.principal import DEFAULT_TENANT
from app.db.migrate import open_migrated
from scripts.commands import parse_tenant, run_with_settings

MAX_ROWS = 10_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0, 2 for a configuration that cannot work."""
    options = _parse_arguments(arguments)
    return run_with_settings(lambda settings: _print_actions(settings.sql_url, options))


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/audit.py", description="查看审计日志")
    parser.add_argument("--tenant", default=DEFAULT_TENANT, type=parse_tenant, help="哪个租户，默认 default")
    parser.add_argument("--actor", default="", help="密钥的编号或名称；命令行为 scripts")
    parser.add_argument("--action", default="", help="接口的名称，例如 revoke_key")
    parser.add_argument(
        "--outcome", type=AuditOutcome, choices=list(AuditOutcome), help="done 做了，refused 被拒绝，failed 出错"
    )
    parser.add_argument("--limit", type=int, default=50, choices=range(1, MAX_ROWS + 1), metavar=f"1–{MAX_ROWS}")
    return parser.parse_args(arguments)


async def _print_actions(url: str, options: argparse.Namespace) -> int:
    async with open_migrated(url) as database:
        wanted = AuditFilter(options.actor, [options.action] if options.action else None, outcome=options.outcome)
        rows, total = await AuditRepository(database).load_page(options.tenant, wanted, options.limit, 0)
    for row in rows:
        print(_format_line(row))
    print(f"{len(rows)} / {total}", file=sys.stderr)
    return 0


def _format_line(row: AuditAction) -> str:
    target = json.dumps(dict(row.target), ensure_ascii=False)
    actor = f"{row.actor_id or '-'} {row.actor}".strip()
    return f"{row.at:%Y-%m-%d %H:%M:%S}  {row.tenant}  {actor}  {row.action}  {target}  {row.outcome or '-'}"


if __name__ == "__main__":
    raise SystemExit(main())
