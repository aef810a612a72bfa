"""Builds the vector indexes anew from the database: `python scripts/reindex.py [--tenant T]`.

Needed after EMBEDDER or its model was changed. The server has to be stopped; documents need not be taken in again.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tqdm import tqdm

from app.db.lock import DataDirLock
from app.errors import AppError
from app.private import keep_private
from app.settings import Settings, load_settings
from app.wiring.reindexing import Reindexed, reindex
from knowledge.errors import KnowledgeError


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 when every index is new, 1 when one could not be built; the old ones are kept then."""
    parser = argparse.ArgumentParser(prog="scripts/reindex.py", description="按数据库重建向量索引")
    parser.add_argument("--tenant", metavar="T", help="只重建这个租户的索引；不给则全部重建")
    options = parser.parse_args(arguments)
    try:
        settings = load_settings()
        keep_private(settings.data_dir)
        lock = DataDirLock(settings.data_dir)
        if not lock.try_acquire():
            print(f"DATA_DIR={settings.data_dir} 正被服务或另一个命令使用：请先停止它，再重建索引", file=sys.stderr)
            return 1
        try:
            rebuilt = asyncio.run(_reindex(settings, options.tenant))
        finally:
            lock.release()
    except (KnowledgeError, AppError) as error:
        print(error, file=sys.stderr)
        return 1
    for item in rebuilt:
        print(f"租户 {item.tenant}：{item.chunks} 个片段，版本 {item.revision}")
    print(f"已用 EMBEDDER={settings.embedder} 重建 {len(rebuilt)} 个索引")
    return 0


async def _reindex(settings: Settings, tenant: str | None) -> list[Reindexed]:
    with tqdm(desc="重建索引", unit="段", file=sys.stderr) as bar:

        def step(done: int, total: int) -> None:
            bar.total = total
            bar.update(done)

        return await reindex(settings, tenant, step)


if __name__ == "__main__":
    raise SystemExit(main())
