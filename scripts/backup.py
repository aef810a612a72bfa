"""Backups: `python scripts/backup.py create [--into DIR] [--keep N]`, `verify DIR`, `restore DIR`.

`create` works while servers run; `restore` asks for an empty place and for no server on DATA_DIR.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.backup.service import create_backup, prune_backups, restore_backup, verify_backup
from app.backup.types import BackupFailed, Manifest
from app.private import keep_private
from app.settings import Settings, load_settings
from knowledge.errors import InvalidConfiguration

INTO = Path("backups")
MAX_KEPT = 10_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0, 1 when it was not done or the backup is no good, 2 for a configuration that cannot work."""
    options = _parse_arguments(arguments)
    try:
        if options.command == "verify":
            return _verify_backup(options.folder)
        settings = load_settings()
        return (
            _create_backup(settings, options)
            if options.command == "create"
            else _restore_backup(settings, options.folder)
        )
    except InvalidConfiguration as error:
        print(error, file=sys.stderr)
        return 2
    except (BackupFailed, OSError) as error:  # a full disk, a folder of somebody else
        print(error, file=sys.stderr)
        return 1


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/backup.py", description="备份、检查与恢复")
    commands = parser.add_subparsers(dest="command", required=True)
    create = commands.add_parser("create", help="做一份备份；服务可以照常运行")
    create.add_argument("--into", type=Path, default=INTO, metavar="DIR", help=f"放在哪个目录下，默认 {INTO}")
    create.add_argument("--keep", type=_parse_count, metavar="N", help="做成之后只留最新的 N 份；不给则都留着")
    create.add_argument("--without-vectors", action="store_true", help="不含算过的向量：小，但恢复后要重算")
    for name, told in (("verify", "核对一份备份的每个文件"), ("restore", "恢复到空的 DATA_DIR 或空的 PostgreSQL 库")):
        commands.add_parser(name, help=told).add_argument("folder", type=Path)
    return parser.parse_args(arguments)


def _create_backup(settings: Settings, options: argparse.Namespace) -> int:
    keep_private(options.into)
    folder = asyncio.run(create_backup(settings, options.into, vectors=not options.without_vectors))
    print(f"已备份到 {folder}：{_describe_manifest(verify_backup(folder))}")
    for gone in prune_backups(options.into, options.keep) if options.keep else ():
        print(f"已删除旧备份 {gone}")
    return 0


def _verify_backup(folder: Path) -> int:
    print(f"完好：{_describe_manifest(verify_backup(folder))}")
    return 0


def _restore_backup(settings: Settings, folder: Path) -> int:
    keep_private(settings.data_dir)
    manifest = asyncio.run(restore_backup(settings, folder))
    print(f"已恢复：{_describe_manifest(manifest)}")
    for name, variable in manifest.settings.items():
        print(f"{variable} 的文件在 {folder / name}，请放回原处")
    print("密钥等变量不在备份里：请核对 .env，再启动服务；索引由它重建")
    return 0


def _describe_manifest(manifest: Manifest) -> str:
    size = sum(file.bytes for file in manifest.files) / 1e6
    return (
        f"{manifest.created_at}，{manifest.kind} 结构 {manifest.revision}，{len(manifest.files)} 个文件 {size:.1f} MB"
    )


def _parse_count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MAX_KEPT:
        raise argparse.ArgumentTypeError(f"须为 1 到 {MAX_KEPT} 的整数")
    return int(text)


if __name__ == "__main__":
    raise SystemExit(main())
