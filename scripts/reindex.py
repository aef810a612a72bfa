"""Builds the indexes anew from the database: `python scripts/reindex.py [--tenant T] [--embedder E]`.

Needed after EMBEDDER or its model was changed, and to try another embedder. A server that runs does it beside what it
answers from; without one this command does. Documents need not be taken in again.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.db.lock import DataDirLock
from app.errors import AppError
from app.private import keep_private
from app.progress import ProgressBar
from app.settings import Settings, load_settings
from app.wiring.reindexing import Progress, ReindexedBase, ask_server, reindex_bases
from knowledge.embeddings.registry import EMBEDDERS
from knowledge.errors import KnowledgeError


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 when every index is new, 1 when one could not be built; the old ones are kept then."""
    parser = argparse.ArgumentParser(prog="scripts/reindex.py", description="按数据库重建向量索引")
    parser.add_argument("--tenant", metavar="T", help="只重建这个租户的索引；不给则全部重建")
    embedders = ("auto", *EMBEDDERS)
    parser.add_argument("--embedder", choices=embedders, metavar="E", help="改用的向量模型；默认是 EMBEDDER")
    options = parser.parse_args(arguments)
    try:
        settings = load_settings()
        keep_private(settings.data_dir)
        embedder = options.embedder or settings.embedder
        rebuilt = _reindex_bases(settings, options.tenant, embedder)
    except (KnowledgeError, AppError) as error:
        print(error, file=sys.stderr)
        return 1
    for item in rebuilt:
        print(f"租户 {item.tenant}：{item.chunks} 个片段，版本 {item.revision}")
    print(f"已用 {embedder} 重建 {len(rebuilt)} 个索引")
    return 0


def _reindex_bases(settings: Settings, tenant: str | None, embedder: str) -> list[ReindexedBase]:
    lock = DataDirLock(settings.data_dir)
    if not lock.try_acquire():
        print(f"DATA_DIR={settings.data_dir} 正被使用：由服务在后台重建，期间照常回答", file=sys.stderr)
        with _show_progress() as progress:
            return asyncio.run(ask_server(settings, tenant, embedder, progress))
    try:
        with _show_progress() as progress:
            return asyncio.run(reindex_bases(settings, tenant, embedder, progress))
    finally:
        lock.release()


@contextmanager
def _show_progress() -> Iterator[Progress]:
    with ProgressBar(None, "重建索引", "段") as bar:
        yield bar.move_to


if __name__ == "__main__":
    raise SystemExit(main())
