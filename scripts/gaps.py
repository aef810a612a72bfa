"""Gaps of the knowledge base: `python scripts/gaps.py list`, `show ID`, `mine`, `measure FILE`.

All work while a server runs; what `mine` asks for, the server does, now or at its next start.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agents.routing.anchors import load_shipped_anchors
from app.auth.principal import DEFAULT_TENANT
from app.db.engine import Database
from app.db.migrate import open_migrated
from app.gaps.clusters import build_clusters, compute_similarities
from app.gaps.repository import GapFilters, GapRepository
from app.gaps.repository_drafts import DraftRepository
from app.gaps.types import WAITING
from app.jobs.repository import RunRepository
from app.settings import Settings
from knowledge.embeddings.base import Embedder
from knowledge.embeddings.registry import get_embedder
from scripts.commands import parse_tenant, run_with_settings

MOST = 50


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0, 1 where there is no such gap, 2 for a configuration that cannot work."""
    options = _parse_arguments(arguments)
    return run_with_settings(lambda settings: _run_command(options, settings))


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/gaps.py", description="知识缺口：列出、查看、挖掘、衡量归类")
    parser.add_argument("--tenant", type=parse_tenant, default=DEFAULT_TENANT)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="待处理的缺口，问得多、在涨的在前")
    show = commands.add_parser("show", help="一个缺口的问题与草稿")
    show.add_argument("id")
    mine = commands.add_parser("mine", help="让服务现在挖掘一次")
    mine.add_argument("--days", type=int, default=30, choices=range(1, 366), metavar="1-365", help="看最近多少天")
    measure = commands.add_parser("measure", help="一份分好话题的问题（YAML：题组 -> 话题 -> 问题），归类得怎样")
    measure.add_argument("file", type=Path)
    return parser.parse_args(arguments)


async def _run_command(options: argparse.Namespace, settings: Settings) -> int:
    if options.command == "measure":  # the only one that needs no database
        sets = yaml.safe_load(options.file.read_text(encoding="utf-8"))
        with closing(get_embedder(settings.embedder)) as embedder:
            for name, topics in sets.items():
                print(f"{name}: {await measure_clusters(embedder, topics)}")
        return 0
    async with open_migrated(settings.sql_url) as database:
        return await _run_in_database(options, database)


async def measure_clusters(embedder: Embedder, topics: Mapping[str, Sequence[str]]) -> str:
    """How questions of known topics are clustered. Purity: the share that is with the topic of most of its cluster."""
    labels = [name for name, questions in topics.items() for _ in questions]
    vectors = await embedder.embed_questions([question for questions in topics.values() for question in questions])
    background = await embedder.embed_questions([anchor.text for anchor in load_shipped_anchors().sentences])
    found = build_clusters(compute_similarities(vectors, background), range(len(labels)))
    right = sum(Counter(labels[place] for place in cluster).most_common(1)[0][1] for cluster in found)
    return f"{len(labels)} 个问题，{len(topics)} 个话题 -> {len(found)} 个缺口，纯度 {right / len(labels):.2f}"


async def _run_in_database(options: argparse.Namespace, database: Database) -> int:
    gaps = GapRepository(database)
    if options.command == "mine":
        run = await RunRepository(database).add(options.tenant, "gap_mining", {"days": options.days})
        print(f"任务 {run.id}：{run.state}")
    elif options.command == "list":
        found, total = await gaps.load_page(options.tenant, GapFilters(WAITING), 0, MOST)
        for gap in found:
            week = f"7 天 {gap.week}（前 7 天 {gap.week_before}）"
            print(f"{gap.id}  {gap.state:<9}  {gap.customers} 人  {week}  {gap.question}")
        print(f"共 {total} 个")
    else:
        one = await gaps.get_gap(options.tenant, options.id)
        if one is None:
            print(f"没有缺口 {options.id}", file=sys.stderr)
            return 1
        print(f"{one.question}（{one.state}）")
        for miss in await gaps.list_misses(options.tenant, one.id, MOST):
            print(f"  {miss.asked_at:%Y-%m-%d %H:%M}  {miss.reason:<14}  {miss.question}")
        if draft := await DraftRepository(database).get_draft(options.tenant, one.id):
            print(f"草稿：{draft.question}\n{draft.answer}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
