"""API keys: `python scripts/keys.py create --role client --tenant default --name 官网`, `list`, `revoke ID`,
`rotate ID --grace-hours 24`, `expire ID --days 90`.

Works while a server runs, which follows within a second. Only the digest of a key is stored.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.audit.actions import COMMAND_LINE, MAX_TARGET_CHARS, AuditAction, AuditOutcome
from app.audit.repository import AuditRepository
from app.auth.origins import normalize_origin
from app.auth.principal import DEFAULT_TENANT, Role
from app.auth.scopes import KeyScope
from app.db.base import now
from app.db.migrate import open_migrated
from app.keys.repository import KeyRepository, KeyRow, KeyState
from app.keys.rules import (
    GRACE_HOURS,
    MAX_DAYS,
    MAX_GRACE_HOURS,
    check_grace,
    check_name,
    check_origins,
    check_scopes,
)
from app.keys.service import create_key, hash_key
from scripts.commands import explain_errors, parse_tenant, run_with_settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0, 1 when there is no such key, 2 for a configuration that cannot work."""
    options = _parse_arguments(arguments)
    return run_with_settings(lambda settings: _run_command(options, settings.sql_url))


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/keys.py", description="管理接口密钥")
    commands = parser.add_subparsers(dest="command", required=True)
    create = commands.add_parser("create", help="创建密钥；密钥只显示这一次")
    roles = "admin 管理，agent 人工客服，server 企业自己的服务端（信任它给的 user_id），client 顾客端，"
    roles += "metrics 只读 /metrics"
    create.add_argument("--role", required=True, choices=list(Role), help=roles)
    create.add_argument("--tenant", default=DEFAULT_TENANT, type=parse_tenant, help="密钥所属的租户，默认 default")
    create.add_argument("--name", required=True, type=explain_errors(check_name), help="给人看的用途说明，例如 官网")
    create.add_argument(
        "--origin",
        action="append",
        default=[],
        type=explain_errors(normalize_origin),
        metavar="来源",
        help="允许哪个网页跨站使用这个密钥，例如 https://shop.example.com；可以重复，只用于 client",
    )
    scopes = "权限范围，只能用角色之内的这一部分，可以重复；不给则不限"
    create.add_argument("--scope", action="append", default=[], type=KeyScope, choices=list(KeyScope), help=scopes)
    create.add_argument("--days", type=_parse_days, metavar="天", help=f"多少天后到期，最多 {MAX_DAYS}；不给则不到期")
    listing = commands.add_parser("list", help="列出密钥，不含密钥本身")
    listing.add_argument("--tenant", default=None, help="只列这个租户的")
    revoke = commands.add_parser("revoke", help="停用密钥，不能恢复")
    revoke.add_argument("id", help="list 里的编号")
    rotate = commands.add_parser("rotate", help="换一个密钥；原来的在宽限期内仍可用，新的只显示这一次")
    rotate.add_argument("id", help="list 里的编号")
    grace = f"原来的还能用多少小时，0 到 {MAX_GRACE_HOURS:g}，默认 {GRACE_HOURS:g}"
    rotate.add_argument(
        "--grace-hours",
        type=explain_errors(_parse_grace),
        default=timedelta(hours=GRACE_HOURS),
        metavar="小时",
        help=grace,
    )
    expire = commands.add_parser("expire", help="设置到期时间；已到期的改晚之后恢复可用")
    expire.add_argument("id", help="list 里的编号")
    when = expire.add_mutually_exclusive_group(required=True)
    when.add_argument("--days", type=_parse_days, metavar="天", help=f"从现在起多少天，最多 {MAX_DAYS}")
    when.add_argument("--never", action="store_true", help="不到期")
    options = parser.parse_args(arguments)
    if options.command == "create":
        try:
            options.origin = check_origins(Role(options.role), options.origin)
            options.scope = check_scopes(Role(options.role), options.scope)
        except ValueError as error:
            parser.error(f"--origin、--scope：{error}")
    return options


async def _run_command(options: argparse.Namespace, url: str) -> int:
    async with open_migrated(url) as database:
        keys, log = KeyRepository(database), AuditRepository(database)
        if options.command == "list":
            return _show_keys(await keys.list_all(options.tenant))
        action = await _build_action(keys, options)
        await log.add_action(action)  # before it is done: what cannot be logged is not done
        code, made = await _execute_command(keys, options)
        action = replace(action, target=dict(action.target) | made)
        await log.set_outcome(action, AuditOutcome.REFUSED if code else AuditOutcome.DONE)
        return code


async def _build_action(keys: KeyRepository, options: argparse.Namespace) -> AuditAction:
    """The entry for the audit log, with the name that the action has over HTTP."""
    if options.command == "create":
        return AuditAction(options.tenant, COMMAND_LINE, "", "create_key", {}, subject=options.name)
    of = {row.id: row for row in await keys.list_all()}
    row = of.get(options.id)
    name = {"expire": "change_key"}.get(options.command, f"{options.command}_key")
    target = {"key_id": options.id[:MAX_TARGET_CHARS]}
    tenant, subject = (row.tenant, row.name) if row else (DEFAULT_TENANT, "")
    return AuditAction(tenant, COMMAND_LINE, "", name, target, subject=subject)


async def _execute_command(keys: KeyRepository, options: argparse.Namespace) -> tuple[int, dict[str, str]]:
    """Runs a command that changes keys. Returns the exit code, and the id of what was made."""
    match options.command:
        case "create":
            return 0, {"id": await _create_key(keys, options)}
        case "rotate":
            return await _rotate_key(keys, options.id, options.grace_hours), {}
        case "expire":
            return await _expire_key(keys, options.id, _compute_end(options.days)), {}
        case _:
            return await _revoke_key(keys, options.id), {}


async def _create_key(keys: KeyRepository, options: argparse.Namespace) -> str:
    key = create_key()
    ends = _compute_end(options.days)
    given = options.tenant, Role(options.role), options.name, hash_key(key), options.origin, ends, options.scope
    key_id = await keys.create(*given)
    print(
        f"已创建密钥 {key_id}（租户 {options.tenant}，角色 {options.role}）。请妥善保存，它不会再次显示：",
        file=sys.stderr,
    )
    print(key)
    return key_id


def _show_keys(rows: list[KeyRow]) -> int:
    for row in rows:
        state = _describe_state(row)
        used = f"最近使用 {row.last_used_at:%Y-%m-%d %H:%M}" if row.last_used_at else "未使用"
        print(f"{row.id}  {row.tenant}  {row.role}  {row.created_at:%Y-%m-%d %H:%M}  {state}  {row.name}  {used}")
    if not rows:
        print("还没有密钥", file=sys.stderr)
    return 0


async def _revoke_key(keys: KeyRepository, key_id: str) -> int:
    if not await keys.revoke_key(key_id):
        return _report_unknown(key_id)
    print(f"已停用密钥 {key_id}，运行中的服务在一秒内生效")
    if not any(row.get_state(now()) is KeyState.VALID for row in await keys.list_all()):
        print("没有有效的密钥了：没有设置 API_KEY 时，服务会拒绝所有请求，直到再创建一个", file=sys.stderr)
    return 0


async def _rotate_key(keys: KeyRepository, key_id: str, grace: timedelta) -> int:
    key, until = create_key(), now() + grace
    if not await keys.rotate_key(key_id, hash_key(key), until):
        return _report_unknown(key_id)
    ends = f"{until:%Y-%m-%d %H:%M} UTC"
    print(f"已轮换密钥 {key_id}，原来的用到 {ends}。请妥善保存新的，它不会再次显示：", file=sys.stderr)
    print(key)
    return 0


async def _expire_key(keys: KeyRepository, key_id: str, moment: datetime | None) -> int:
    if not await keys.expire_key(key_id, moment):
        return _report_unknown(key_id)
    print(f"密钥 {key_id} {f'到 {moment:%Y-%m-%d %H:%M} UTC 为止' if moment else '不再到期'}")
    return 0


def _report_unknown(key_id: str) -> int:
    print(f"没有编号为 {key_id} 的有效密钥", file=sys.stderr)
    return 1


def _compute_end(days: float | None) -> datetime | None:
    return None if days is None else now() + timedelta(days=days)


def _describe_state(row: KeyRow) -> str:
    match row.get_state(now()):
        case KeyState.REVOKED:
            return f"已于 {row.revoked_at:%Y-%m-%d %H:%M} 停用"
        case KeyState.EXPIRED:
            return f"已于 {row.expires_at:%Y-%m-%d %H:%M} 到期"
        case _:
            return f"有效到 {row.expires_at:%Y-%m-%d %H:%M}" if row.expires_at else "有效"


def _parse_days(text: str) -> float:
    days = float(text)
    if not 0 < days <= MAX_DAYS:
        raise argparse.ArgumentTypeError(f"须大于 0，最多 {MAX_DAYS} 天")
    return days


def _parse_grace(text: str) -> timedelta:
    return check_grace(float(text))


if __name__ == "__main__":
    raise SystemExit(main())
