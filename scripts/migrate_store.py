"""Moves knowledge bases to another vector store: `python scripts/migrate_store.py --to milvus [--url URL]`.

The configured store stays as it is until `--drop`; afterwards the settings that are printed make the other one answer.
A run that was killed is run again: it writes what is missing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.errors import AppError
from app.settings import Settings
from app.wiring.migration import StorePlace, drop_bases, migrate_stores
from knowledge.errors import InvalidConfiguration, KnowledgeError
from knowledge.stores.registry import STORES
from scripts.commands import lock_data_dir, run_with_settings

ADDRESS = {"chroma": "CHROMA_URL", "milvus": "MILVUS_URI"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 when the target holds everything, 1 when not; the configured store is kept then."""
    options = _parse_arguments(arguments)
    return run_with_settings(lambda settings: _move_bases(settings, options), (KnowledgeError, AppError), failure=1)


async def _move_bases(settings: Settings, options: argparse.Namespace) -> int:
    target = StorePlace(options.to, options.url)
    if target == StorePlace(settings.vector_store, settings.vector_server):
        raise InvalidConfiguration("目标就是现在配置的存储，没有要迁移的")
    with lock_data_dir(settings) as held:
        if not held:
            raise InvalidConfiguration(f"DATA_DIR={settings.data_dir} 正被使用：请先停下用它的服务")
        moved = await migrate_stores(settings, target, options.tenant)
        if options.drop:
            await drop_bases(settings, [item.tenant for item in moved])
    for item in moved:
        print(f"租户 {item.tenant}：{item.chunks} 个片段，版本 {item.revision}，已核对（近邻一致 {item.dense:.0%}）")
    print(f"已迁移 {len(moved)} 个知识库。改配置后重启：VECTOR_STORE={target.store}")
    if target.store in ADDRESS:
        print(f"  {ADDRESS[target.store]}={target.server}")
    return 0


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/migrate_store.py", description="把知识库迁移到另一个向量库")
    parser.add_argument("--to", choices=tuple(STORES), required=True, metavar="S", help="迁移到：" + "、".join(STORES))
    parser.add_argument("--url", default="", metavar="URL", help="目标服务器的地址；不给则在 DATA_DIR 里")
    parser.add_argument("--tenant", metavar="T", help="只迁移这个租户；不给则全部")
    parser.add_argument("--drop", action="store_true", help="核对无误之后，删去原来的存储里的")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
