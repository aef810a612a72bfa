"""Builds the indexes anew from the database: `python scripts/reindex.py [--tenant T] [--embedder E]`.

Needed after EMBEDDER or its model was changed, and to try another embedder. A server that runs does it beside what it
answers from; without one this command does. Documents need not be taken in again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.errors import AppError
from app.progress import ProgressBar
from app.settings import Settings
from app.wiring.reindexing import ask_server, reindex_bases
from knowledge.embeddings.registry import EMBEDDERS
from knowledge.errors import KnowledgeError
from scripts.commands import lock_data_dir, run_with_settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 when every index is new, 1 when one could not be built; the old ones are kept then."""
    parser = argparse.ArgumentParser(prog="scripts/reindex.py", description="按数据库重建向量索引")
    parser.add_argument("--tenant", metavar="T", help="只重建这个租户的索引；不给则全部重建")
    embedders = ("auto", *EMBEDDERS)
    parser.add_argument("--embedder", choices=embedders, metavar="E", help="改用的向量模型；默认是 EMBEDDER")
    options = parser.parse_args(arguments)
    return run_with_settings(lambda settings: _rebuild_bases(settings, options), (KnowledgeError, AppError), failure=1)


async def _rebuild_bases(settings: Settings, options: argparse.Namespace) -> int:
    embedder = options.embedder or settings.embedder
    with lock_data_dir(settings) as held, ProgressBar(None, "重建索引", "段") as bar:
        if not held:
            print(f"DATA_DIR={settings.data_dir} 正被使用：由服务在后台重建，期间照常回答", file=sys.stderr)
        rebuilt = await (reindex_bases if held else ask_server)(settings, options.tenant, embedder, bar.move_to)
    for item in rebuilt:
        print(f"租户 {item.tenant}：{item.chunks} 个片段，版本 {item.revision}")
    print(f"已用 {embedder} 重建 {len(rebuilt)} 个索引")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
